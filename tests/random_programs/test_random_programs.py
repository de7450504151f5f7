"""A fixed set of random programs: every schedule and target computes what the program computes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import polyviz as pv
from polyviz.errors import CodegenError, EmulationError, LegalityError, ToolchainError
from tests.random_programs.comparison import difference
from tests.random_programs.generator import (
    BY_HAND,
    DEEP,
    EVERYTHING,
    HOISTED,
    MIXED,
    SHAPED,
    SMALL,
    Profile,
    generate,
)
from tests.random_programs.oracle import INTERPRETER, Outcome, Reference, Variant, is_exact, judge, run
from tests.random_programs.reporting import DEFECTS, script
from tests.random_programs.runner import Runner

if TYPE_CHECKING:
    from tests.random_programs.program import Program

SCHEDULES = ("original", "isl", "pluto")
QUICK = [
    Variant("original", "python"),
    Variant("isl", "python"),
    Variant("spatial", "python"),
    Variant("superposition", "python"),
    Variant("pluto", "c"),
]
NATIVE = [Variant(schedule, "c") for schedule in SCHEDULES]
PATIENCE = 120.0
"""Seconds that a variant may take where other tests keep the machine busy: only a hang is meant."""
NUMBA = [Variant("isl", "numba"), Variant("pluto", "numba")]


def one_of(first: int, *others: int) -> list[Any]:
    """The programs that `make test` runs, and those that `make test-all` runs as well."""
    return [first, *(pytest.param(other, marks=pytest.mark.more) for other in others)]


@pytest.mark.parametrize("first", [15])
def test_programs_compute_the_same(first: int) -> None:
    _judge_all(range(first, first + 5), QUICK, SMALL)


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("first", one_of(0, 10, 20))
def test_more_programs_compute_the_same(first: int) -> None:
    _judge_all(range(first, first + 5), QUICK, SMALL)


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("first", one_of(1000, 1010, 1020, 1030))
def test_programs_compute_the_same_in_c(first: int) -> None:
    _judge_all(range(first, first + 10), NATIVE, SMALL)


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("contract", ["reassociate", "strict"])
def test_programs_of_a_shape_compute_the_same(contract: str) -> None:
    _judge_all(range(9630100, 9630104), [Variant("pluto", "c", contract), Variant("isl", "c", contract)], SHAPED)


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("first", [12520003, 12520056])
def test_deep_programs_compute_the_same(first: int) -> None:
    _judge_all(range(first, first + 4), [Variant("pluto", "c"), Variant("pluto", "c", "strict")], DEEP)


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_programs_with_factors_in_variables_compute_the_same() -> None:
    _judge_all(range(123, 127), [Variant("pluto", "c", "strict"), Variant("pluto", "numba")], HOISTED)


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_programs_that_somebody_has_tuned_compute_the_same() -> None:
    _judge_all(range(1, 5), [Variant("pluto", "c", "strict"), Variant("pluto", "numba")], BY_HAND)


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("first", one_of(1200, 1205))
def test_large_programs_compute_the_same(first: int) -> None:
    _judge_all(range(first, first + 5), [*NATIVE[1:], Variant("pluto", "python")])


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("first", one_of(2000, 2003, 2006))
def test_programs_compute_the_same_with_numba(first: int) -> None:
    _judge_all(range(first, first + 3), NUMBA, SMALL)


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("first", one_of(3000, 3004, 3008))
def test_the_part_means_what_the_program_means(first: int) -> None:
    _judge_all(range(first, first + 4), [Variant("original", INTERPRETER)], SMALL)


def _judge_all(seeds: range, variants: list[Variant], profile: Profile = EVERYTHING) -> None:
    """Judge in a process of its own, so that a crash is a failed test and not the end of all."""
    failures: list[str] = []
    refused = 0
    with Runner(PATIENCE) as runner:
        for seed in seeds:
            program = generate(seed, profile)
            outcomes = runner.judge(program, variants)
            refused += any(outcome.kind == "refused" for outcome in outcomes)
            failures += [_failure(program, outcome) for outcome in outcomes if outcome.kind in DEFECTS]
    assert not failures, "\n\n".join(failures)
    assert refused <= len(seeds) // 4, f"{refused} of {len(seeds)} programs are refused"


def _failure(program: Program, outcome: Outcome) -> str:
    headline = f"seed {program.seed}: {outcome.variant}: {outcome.kind}: {outcome.detail}"
    return f"{headline}\n{script(program, outcome) if outcome.kind == 'wrong' else program.source}"


# The generator


@pytest.mark.slow
def test_a_seed_always_gives_the_same_program() -> None:
    assert generate(11) == generate(11)
    first, second = (generate(11).values(generate(11).cases[1]) for _ in range(2))
    assert all(np.array_equal(one, other, equal_nan=True) for one, other in zip(first, second, strict=True))


@pytest.mark.slow
def test_plain_programs_run_without_an_error() -> None:
    sizes: set[int] = set()
    for seed in range(100):
        program = generate(seed)
        for case in program.cases if program.plain else ():
            run(program.function(), program, case)
            sizes.update(case.sizes.values())
    assert {0, 1, 7, 16, 17} <= sizes


@pytest.mark.slow
def test_numba_and_python_agree_on_plain_programs() -> None:
    for seed in range(30):
        program = generate(seed)
        if not program.plain:
            continue
        compiled = program.compiled()
        for case, expected in zip(program.cases, Reference(program).expected, strict=True):
            assert not difference(expected, run(compiled, program, case)), program.source


@pytest.mark.slow
def test_programs_vary() -> None:
    wanted = [
        "elif", "else:", "prange", "np.zeros", "np.empty", ".shape[", "len(", "return", "min(", "max(", " // ", " % ",
        ", -1, -1)", " and ", " or ", "not ", "[-1]", "I[", "][", "math.", "np.conj", " ^ ", " ** ",
    ]  # fmt: skip
    for seed in range(150):
        text = generate(seed).source
        wanted = [construct for construct in wanted if construct not in text]
        if not wanted:
            break
    assert wanted == []


@pytest.mark.slow
def test_mixed_programs_hold_what_others_hold_rarely() -> None:
    programs = [generate(seed, MIXED) for seed in range(40)]
    types = [{argument.dtype for argument in program.arguments if argument.kind == "array"} for program in programs]
    assert any({"int32", "float32"} <= found for found in types)
    text = "\n".join(program.source for program in programs)
    wanted = ["np.zeros", "min(", "max(", ", -1, -1)", " - 1:\n"]
    assert [construct for construct in wanted if construct not in text] == []


@pytest.mark.slow
def test_programs_of_a_shape_run_at_sizes_beyond_a_tile() -> None:
    programs = [generate(seed, SHAPED) for seed in range(3)]
    assert all(max(program.cases[-1].sizes.values()) > 16 for program in programs)
    for program in programs:
        run(program.compiled(), program, program.cases[-1])  # looks at the bounds of every subscript


# The oracle notices what it is for


class _Broken:
    """A kernel that does nothing."""

    def __call__(self, *arguments: object) -> None:
        return None


@pytest.mark.slow
def test_a_wrong_kernel_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pv, "compile", lambda *arguments, **options: _Broken())
    kinds = [list(judge(generate(seed), NATIVE[:1]))[-1].kind for seed in range(10)]
    assert set(kinds) <= {"wrong", "inconclusive"}
    assert kinds.count("wrong") >= 8


def test_other_bits_are_noticed_where_the_contract_is_strict() -> None:
    expected, actual = {"x": np.array([1.0, np.nan])}, {"x": np.array([1.0 + 1e-15, np.nan])}
    assert not difference(expected, actual)
    assert "1 cells differ" in difference(expected, actual, exact=True)
    assert not difference(expected, expected, exact=True)
    plain = [generate(seed, SMALL) for seed in range(20)]
    assert {is_exact(program, "strict") for program in plain} == {True, False}
    assert not any(is_exact(program, "reassociate") for program in plain)


def test_an_internal_error_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    def compile_(*arguments: object, **options: object) -> None:
        raise KeyError("S0")

    monkeypatch.setattr(pv, "compile", compile_)
    assert [outcome.kind for outcome in judge(generate(0), NATIVE[:1])] == ["equal", "error"]


@pytest.mark.parametrize("fault", [EmulationError, LegalityError, ToolchainError])
def test_a_fault_of_the_product_is_no_refusal(monkeypatch: pytest.MonkeyPatch, fault: type[pv.PolyvizError]) -> None:
    def compile_(*arguments: object, **options: object) -> None:
        raise fault("Something went wrong.")

    monkeypatch.setattr(pv, "compile", compile_)
    outcome = list(judge(generate(0), NATIVE[:1]))[-1]
    assert (outcome.kind, outcome.detail) == ("error", f"{fault.__name__}: Something went wrong.")


def test_what_the_product_refuses_is_no_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    def compile_(*arguments: object, **options: object) -> None:
        raise CodegenError("C cannot say this.")

    monkeypatch.setattr(pv, "compile", compile_)
    assert list(judge(generate(0), NATIVE[:1]))[-1].kind == "refused"
