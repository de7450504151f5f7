"""Legality: verdicts against an enumeration, the smallest counterexample, refusals with their exact text."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

import islpy as isl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import polyviz as pv
from polyviz.analysis import check, dependences
from polyviz.analysis.legality import is_legal
from polyviz.errors import LegalityError
from tests.analysis.programs import Program, enumerated, memory_pairs, programs, run
from tests.builders import loop, scop, statement

if TYPE_CHECKING:
    from polyviz.model.dependences import Violation


def matmul():
    return scop(
        "n",
        loop("i", loop("j", "S0", loop("k", "S1"))),
        S0=statement("0 <= i, j < n", writes="C[i, j]"),
        S1=statement("0 <= i, j, k < n", reads="C[i, j] A[i, k] B[k, j]", writes="C[i, j]"),
    )


def stencil():
    return scop(
        "n, t",
        loop("s", loop("i", "S0")),
        S0=statement("0 <= s < t and 1 <= i < n - 1", reads="A[i - 1] A[i] A[i + 1]", writes="A[i]"),
    )


def test_who_asks_only_whether_an_order_is_legal_waits_for_no_counterexample(monkeypatch: pytest.MonkeyPatch) -> None:
    def unwanted(*arguments: object) -> None:
        raise AssertionError("a counterexample was looked for")

    monkeypatch.setattr("polyviz.analysis.legality.smallest_pair", unwanted)
    part = stencil()
    found = dependences(part)
    assert is_legal(part, part.schedule, known=found)
    assert not is_legal(part, "{ S0[s, i] -> [-s, i] }", known=found)


def test_the_original_order_is_legal_in_every_form():
    part = matmul()
    assert check(part, part.schedule)
    assert check(part, part.schedule.get_map())
    assert check(part, str(part.schedule))
    assert check(part, "{ S0[i, j] -> [i, j]; S1[i, j, k] -> [i, j, 1, k] }")


def test_distribution_and_interchange_of_matmul_are_legal():
    legality = check(matmul(), "{ S0[i, j] -> [0, j, i]; S1[i, j, k] -> [1, k, i, j] }")
    assert legality
    assert str(legality) == "legal: every dependence is respected"


def test_skewing_the_stencil_allows_interchange():
    assert not check(stencil(), "{ S0[s, i] -> [i, s] }")
    assert not check(stencil(), "{ S0[s, i] -> [s + i] }")
    assert check(stencil(), "{ S0[s, i] -> [2s + i, s] }")


def test_a_parameter_may_appear_in_the_text():
    assert check(matmul(), "{ S0[i, j] -> [-n, i, j]; S1[i, j, k] -> [0, i, j, k] }")


def test_reversed_loop_names_the_smallest_pair():
    (flow, anti, output) = check(
        matmul(), "{ S0[i, j] -> [0, i, j]; S1[i, j, k] -> [1, i, j, -k] }"
    ).violations
    assert (flow.kind, anti.kind, output.kind) == ("flow", "anti", "output")
    assert (flow.source_instance, flow.sink_instance, flow.parameters) == ((0, 0, 0), (0, 0, 1), {"n": 2})
    assert flow.explanation == (
        "S1[0, 0, 0] writes C[0, 0], which S1[0, 0, 1] reads: "
        "it must run first, but the schedule runs it at (1, i, j, -k) = (1, 0, 0, 0), after (1, 0, 0, -1) [n = 2]"
    )


def test_equal_times_are_a_violation():
    violation = check(matmul(), "{ S0[i, j] -> [0, i, j]; S1[i, j, k] -> [1, i, j] }").violations[0]
    assert "the schedule runs both at the same time, (1, i, j) = (1, 0, 0)" in violation.explanation


def test_the_context_rules_out_small_sizes():
    part = scop(
        "n", loop("i", "S0"), context="n >= 5", S0=statement("0 <= i < n", reads="A[i - 1]", writes="A[i]")
    )
    (violation,) = check(part, "{ S0[i] -> [-i] }").violations
    assert (violation.parameters, violation.source_instance) == ({"n": 5}, (0,))


def test_may_accesses_say_so():
    part = scop(
        "n",
        loop("i", "S0"),
        S0=statement("0 <= i < n", reads="A[i]", writes="?A[*]"),
    )
    (flow, *_) = check(part, "{ S0[i] -> [-i] }").violations
    assert flow.explanation.startswith("S0[0] may write A[1], which S0[1] reads: it must run first")


def test_known_dependences_are_taken_as_they_are():
    part = matmul()
    schedule = "{ S0[i, j] -> [1, i, j, 0]; S1[i, j, k] -> [0, i, j, k] }"
    value, memory = (
        check(part, schedule, known=dependences(part, kind=kind)) for kind in ("value", "memory")
    )
    assert {violation.parameters["n"] for violation in (*value.violations, *memory.violations)} == {1}


REFUSED = {
    "partial": "{ S0[i, j] -> [0, i, j]; S1[i, j, k] -> [1, i, j, k] : k < n - 1 }",
    "statement left out": "{ S0[i, j] -> [0, i, j] }",
    "two times": "{ S0[i, j] -> [0, i, j]; S1[i, j, k] -> [1, t, i, j, k] : 0 <= t < 2 }",
    "unknown statement": "{ S0[i, j] -> [0, i, j]; S5[i] -> [1, i] }",
    "nameless": "{ [i] -> [i] }",
    "arity": "{ S0[i] -> [0, i]; S1[i, j, k] -> [1, i, j, k] }",
    "parameter": "[m] -> { S0[i, j] -> [0, i, j]; S1[i, j, k] -> [m, i, j, k] }",
    "never closed": "{ S0[i, j] -> [0, i, j; S1[i, j, k] -> [1, i, j, k] ",
    "closed twice": "{ S0[i, j]] -> [0, i, j] }",
    "unknown name": "{ S0[i, j] -> [0, i, j + w]; S1[i, j, k] -> [1, i, j, k] }",
    "no arrow": "{ S0[i, j] [0, i] }",
    "word": "tile",
    "empty": "",
    "not affine": "{ S0[i, j] -> [0, i * j]; S1[i, j, k] -> [1, i, j, k] }",
    "nonsense": "{ S0[i, j] -> [0, i +]; S1[i, j, k] -> [1, i, j, k] }",
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case, golden):
    with pytest.raises(LegalityError) as caught:
        check(matmul(), REFUSED[case])
    golden(f"{REFUSED[case]}\n\n{caught.value}")


def test_another_type_is_refused():
    with pytest.raises(LegalityError, match="not a value of type int"):
        check(matmul(), 5)


@st.composite
def schedules(draw: st.DrawFn, program: Program) -> dict[str, list[str]]:
    """A random affine time tuple per statement; most are illegal, many partly tie."""
    rows: dict[str, list[str]] = {}
    for name, iterators in iterators_of(program).items():
        rows[name] = [
            "+".join(f"{draw(st.sampled_from([1, 1, 0, -1, 2]))}*{part}" for part in [*iterators, "1"])
            for _ in range(draw(st.integers(1, 3)))
        ]
    return rows


def iterators_of(program: Program) -> dict[str, tuple[str, ...]]:
    return {part.name: part.iterators for part in program.scop().statements}


def text_of(rows: dict[str, list[str]], program: Program) -> str:
    parts = (
        f"{name}[{', '.join(iterators)}] -> [{', '.join(rows[name])}]"
        for name, iterators in iterators_of(program).items()
    )
    return f"{{ {'; '.join(parts)} }}"


def time_of(
    rows: dict[str, list[str]], program: Program, instance: tuple[str, tuple[int, ...]]
) -> tuple[int, ...]:
    name, values = instance
    known = dict(zip(iterators_of(program)[name], values, strict=True))
    time = [eval(row, {}, known) for row in rows[name]]
    return (*time, *([0] * (3 - len(time))))


@pytest.mark.slow
@given(st.data())
@settings(max_examples=60)
def test_verdicts_are_those_of_the_enumeration(data: st.DataObject):
    program = data.draw(programs(arrays=("A", "B")))
    rows = data.draw(schedules(program))
    part = program.scop()
    legality = check(part, text_of(rows, program))
    reversed_sizes = [n for n in (1, 2, 3) if reversed_pairs(program, rows, n)]
    if legality:
        assert reversed_sizes == []
        return
    smallest = min(violation.parameters["n"] for violation in legality.violations)
    assert smallest == min(reversed_sizes) if reversed_sizes else smallest > 3
    for violation in legality.violations:
        assert_smallest(violation, part, rows, program)


def reversed_pairs(program: Program, rows: dict[str, list[str]], n: int) -> list[object]:
    return [
        pair
        for (kind, _), pairs in memory_pairs(run(program, n)).items()
        if kind != "input"
        for pair in pairs
        if time_of(rows, program, pair[0]) >= time_of(rows, program, pair[1])
    ]


def assert_smallest(violation: Violation, part, rows, program) -> None:
    (relation,) = [
        found.relation
        for found in dependences(part).validity_relations
        if (found.kind, found.array, found.source, found.sink)
        == (violation.kind, violation.array, violation.source, violation.sink)
    ]
    for n in range(1, violation.parameters["n"] + 1):
        broken = [
            (source[1], sink[1])
            for source, sink in enumerated(relation, n)
            if time_of(rows, program, source) >= time_of(rows, program, sink)
        ]
        expected = (
            [(violation.source_instance, violation.sink_instance)] if n == violation.parameters["n"] else []
        )
        assert sorted(broken)[:1] == expected


def test_every_permutation_of_matmul_is_judged_like_the_enumeration():
    part = matmul()
    for order in product("ijk", repeat=3):
        if len(set(order)) == 3:
            rows = ", ".join(order)
            assert check(part, f"{{ S0[i, j] -> [0, i, j]; S1[i, j, k] -> [1, {rows}] }}")


def test_a_tree_with_tiles_is_legal():
    part = matmul()
    band = part.schedule.get_root().child(0)
    sizes = isl.MultiVal.from_val_list(band.band_get_space(), isl.ValList.from_val(isl.Val(4)))
    assert check(part, band.band_tile(sizes).get_schedule())


def test_what_has_a_schedule_is_checked_as_its_schedule() -> None:
    text = "def f(A, n):\n    for i in range(1, n):\n        A[i] = A[i - 1]"
    scop = pv.extract(text)
    assert pv.check(scop, pv.edit(scop))
    assert pv.check(scop, pv.compile(text, target="python"))
    other = pv.edit(text.replace("A[i - 1]", "1.0")).apply("reversal", "i")
    assert not pv.check(scop, other)


def test_a_verdict_is_kept_for_the_times_that_it_is_about() -> None:
    loops = ("    for i in range(1, n):\n        A[i] = A[i - 1]", "    for i in range(n):\n        B[i] = A[i]")
    scop = pv.extract("\n".join(("def f(A, B, n):", *loops)))
    found = dependences(scop)
    forward, backward = "S0[i] -> [0, i]", "S0[i] -> [0, -i]"
    apart, before = "S1[i] -> [1, i]", "S1[i] -> [-1, i]"
    for _ in range(2):
        for first, is_kept in ((forward, True), (backward, False)):
            for second, comes_after in ((apart, True), (before, False)):
                legality = check(scop, f"{{ {first}; {second} }}", known=found)
                assert bool(legality) is (is_kept and comes_after)
                broken = {name for name, kept in (("S0", is_kept), ("S1", comes_after)) if not kept}
                assert {one.sink for one in legality.violations} == broken
