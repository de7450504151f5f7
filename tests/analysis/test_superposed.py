"""The check of superposed schedules: Lemma 1 and the three races, each with a pair, and against brute force."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings, strategies

from polyviz.analysis.superposed import check_scatterings, check_superposition
from polyviz.frontend import extract
from polyviz.gallery import kernel
from polyviz.model.superposition import Dimension
from polyviz.scheduling.superposed.made import superpose
from tests.analysis.programs import Program, memory_pairs, programs, run
from tests.analysis.superposed_machine import broken

if TYPE_CHECKING:
    from polyviz.model.scop import Scop
    from polyviz.model.superposition import Superposition

TWO_PHASES = {"S0": "(0, t, 0, i_y, j_x, 0)", "S1": "(0, t, 1, i_y, j_x, 0)"}
ONE_PHASE = {"S0": "(0, t, i_y, j_x, 0)", "S1": "(0, t, i_y, j_x, 1)"}


def made(name: str, first: str, second: str, regular: dict[str, str] | None = None) -> Superposition:
    outer = {"S0": f"(0, floor(({first})/32)_x)", "S1": f"(0, floor(({second})/32)_x)"}
    return superpose(extract(kernel(name).function), outer, regular or TWO_PHASES)


PLAYGROUND = [
    ("i", "i", True, True),
    ("t", "t", True, False),
    ("i + t", "i + t", True, False),
    ("j", "j", False, False),
    ("i + j", "i + j", False, False),
    ("2t + j", "2t + j", False, False),
    ("2t + j", "2t + j + 1", True, False),
]


@pytest.mark.parametrize(("first", "second", "permutable", "free"), PLAYGROUND)
def test_outer_rows_of_the_row_stencil(first: str, second: str, permutable: bool, free: bool) -> None:
    """Only i is free of synchronisation; t, i + t and the skewed pair are permutable; the rest is refused."""
    legality = made("jacobi-2d-alt", first, second).legality
    assert bool(legality.condition("outer")) == permutable
    assert bool(legality.condition("blocks")) == free
    assert legality.condition("regular")
    assert bool(legality) == free


def test_the_five_point_stencil_refuses_rows_as_blocks() -> None:
    legality = made("jacobi-2d", "i", "i").legality
    assert str(legality.condition("outer")) == (
        "outer: fails, S1[0, 2, 1] writes A[2, 1], which S0[1, 1, 1] reads [tsteps = 2, n = 4]: "
        "backwards along outer loop 0"
    )
    assert not legality.condition("superposed")
    assert legality.condition("regular")


def test_threads_race_without_a_barrier() -> None:
    legality = made("jacobi-2d-alt", "i", "i", ONE_PHASE).legality
    assert str(legality.condition("threads")) == (
        "threads: fails, S0[0, 1, 1] reads A[1, 2], which S1[0, 1, 2] writes [tsteps = 1, n = 4]: "
        "in different threads without a barrier between"
    )
    assert legality.condition("blocks")


def doitgen(phases: tuple[int, int, int], threads: str = "r_z, q_y, p_x") -> Superposition:
    part = extract(kernel("doitgen-expanded").function)
    outer = dict.fromkeys(("S0", "S1", "S2"), "(0, floor(r/4)_y, floor(q/4)_x)")
    inner = {"S0": "0", "S1": "1, s", "S2": "2, p"}
    regular = {
        name: f"({phase}, {threads}, {inner[name]})" for name, phase in zip(outer, phases, strict=True)
    }
    return superpose(part, outer, regular)


def test_the_last_statement_of_doitgen_needs_a_phase_of_its_own() -> None:
    assert doitgen((0, 0, 1)).legality
    legality = doitgen((0, 0, 0)).legality
    assert not legality.condition("threads")
    assert legality.condition("threads").witness.array == "A"


def test_one_thread_per_row_of_doitgen_needs_no_barrier() -> None:
    assert doitgen((0, 0, 0), "r_y, q_x, 0").legality.condition("threads")


def test_kernels_come_in_the_order_of_the_dependences() -> None:
    part = extract(kernel("mvt").function)
    gemver = extract(kernel("gemver").function)
    assert superpose(part, {"S0": "(1)", "S1": "(0)"}, {"S0": "(0, i, j)", "S1": "(1, i, j)"}).legality
    outer = {"S0": "(3)", "S1": "(1)", "S2": "(2)", "S3": "(4)"}
    regular = {"S0": "(0, i, j)", "S1": "(1, i, j)", "S2": "(2, i)", "S3": "(3, i, j)"}
    legality = superpose(gemver, outer, regular).legality
    assert "the kernel of the second is launched first" in str(legality.condition("kernels"))


def test_a_statement_may_not_depend_on_single_steps_of_a_shared_sum() -> None:
    part = extract(
        "def f(A, C, n, m):\n    t = 0.0\n    for i in range(n):\n        for j in range(m):\n"
        "            t += A[i] * C[j]\n            A[i] = 0.5 * A[i]\n    return t"
    )
    phases, alone = (Dimension("scalar", str(number)) for number in (1, 0))

    def inside(place: str, *, reduction: bool) -> tuple[Dimension, ...]:
        space = Dimension("loop", "i", axis="x", reduction=reduction)
        return phases, space, Dimension("loop", "j"), Dimension("scalar", place)

    regular = {
        "S0": (alone, alone),
        "S1": inside("0", reduction=True),
        "S2": inside("1", reduction=False),
    }
    verdict = check_scatterings(part, dict.fromkeys(regular, (alone,)), regular)
    (failed,) = [condition for condition in verdict.conditions if not condition]
    assert failed.name == "threads"
    assert failed.witness is not None
    assert "in the phase that still accumulates" in failed.witness.explanation


def test_a_known_analysis_is_not_needed() -> None:
    value = made("jacobi-2d-alt", "i", "i")
    assert check_superposition(extract(kernel("jacobi-2d-alt").function), value) == value.legality


@strategies.composite
def superposed(draw: strategies.DrawFn) -> tuple[Program, Scop, Superposition]:
    """A random program under random block and thread rows; most of them are illegal."""
    program = draw(programs(arrays=("A", "B"), may=False))
    part = program.scop()
    outer, regular = {}, {}
    for number, found in enumerate(part.statements):
        rows = [*found.iterators, "n - i0", "i0 + 1"]
        block = draw(strategies.sampled_from(rows))
        outer[found.name] = f"({draw(strategies.integers(0, 1))}, floor(({block})/2)_x)"
        inner = ", ".join(found.iterators)
        thread = draw(strategies.sampled_from(rows))
        phase = draw(strategies.integers(0, 1))
        regular[found.name] = f"({phase}, ({thread})_x, {inner}, {number})"
    return program, part, superpose(part, outer, regular)


@pytest.mark.slow
@settings(max_examples=60)
@given(superposed())
def test_every_condition_agrees_with_brute_force(drawn: tuple[Program, Scop, Superposition]) -> None:
    """What fails for small sizes is refused, and every pair that a refusal names is a real one."""
    program, _, value = drawn
    for size in (2, 3, 4):
        pairs = dependent(program, size)
        for name, failing in broken(value, pairs, size).items():
            assert not failing or not value.legality.condition(name), f"{name} {program} {value.notation()}"
    for condition in value.legality.conditions:
        if condition.witness is not None:
            size = condition.witness.parameters["n"]
            pair = (
                (condition.witness.source, condition.witness.source_instance),
                (condition.witness.sink, condition.witness.sink_instance),
            )
            assert pair in dependent(program, size), f"{condition} {program}"
            assert pair in broken(value, {pair}, size)[condition.name], f"{condition} {value.notation()}"


def dependent(program: Program, size: int) -> set:
    by_kind = memory_pairs(run(program, size))
    return {pair for (kind, _), pairs in by_kind.items() if kind != "input" for pair in pairs}
