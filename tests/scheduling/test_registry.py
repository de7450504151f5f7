"""The registry: names, options, schedulers written in a cell."""

from __future__ import annotations

import math
import signal
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import islpy as isl
import pytest

from polyviz.errors import LegalityError, OptionError, SchedulingError
from polyviz.frontend import extract
from polyviz.model.registry import announced
from polyviz.scheduling import Proposal, SchedulingProblem, register_scheduler, schedule, schedulers
from polyviz.scheduling.registry import ENTRY_POINT_GROUP, make_scheduler, unregister_scheduler
from tests.scheduling.kernels import jacobi_1d, matmul

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def cell() -> Iterator[str]:
    """A name for a scheduler of this test's own."""
    yield "mine"
    unregister_scheduler("mine")


def reversed_order(problem: SchedulingProblem) -> isl.Schedule:
    """Run the whole part backwards."""
    return isl.Schedule.from_domain(problem.domain).insert_partial_schedule(
        isl.MultiUnionPwAff.from_union_map(
            isl.UnionMap("[T, n] -> { S[t, i] -> [-t, 0, -i]; R[t, i] -> [-t, -1, -i] }")
        )
    )


def test_names_come_with_summaries_of_one_line() -> None:
    summaries = schedulers()
    assert list(summaries)[:4] == ["original", "isl", "feautrier", "pluto"]
    assert all(summary and "\n" not in summary for summary in summaries.values())


def test_an_unknown_name_is_one_line_with_near_matches() -> None:
    with pytest.raises(OptionError) as error:
        schedule(matmul(), "plutto")
    known = ", ".join(schedulers())
    assert str(error.value) == f"Unknown schedule `plutto` (did you mean `pluto`?); there are {known}."


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"fussion": "max"}, "Scheduler `pluto` has no option `fussion` (did you mean `fusion`?)."),
        ({"fusion": "most"}, "Option `fusion` of scheduler `pluto` is 'most'; it can be none, smart, max."),
        ({"parallel_first": 1}, "Option `parallel_first` of scheduler `pluto` is 1; it must be bool."),
        ({"tilee": 3}, "Scheduler `pluto` has no option `tilee` (did you mean `tile`?)."),
    ],
)
def test_wrong_options_are_one_line(options: dict[str, object], message: str) -> None:
    with pytest.raises(OptionError) as error:
        schedule(matmul(), "pluto", **options)
    assert str(error.value) == message


def test_a_bool_is_no_number() -> None:
    with pytest.raises(OptionError, match="it must be float"):
        make_scheduler("isl", {"time_limit": True})


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("isl", {"time_limit": 0}, "is 0; it must be a positive number of seconds."),
        ("isl", {"time_limit": math.nan}, "is nan; it must be a positive number of seconds."),
        (
            "spatial",
            {"pressure_limit": -1},
            "`pressure_limit` of scheduler `spatial` is a whole number from 0 on, not -1.",
        ),
        ("spatial", {"line": 0}, "`line` of scheduler `spatial` is a whole number from 1 on, not 0."),
        ("superposition", {"threads": (True,)}, "at most 3 positive integers."),
        ("pluto", {"tile": True}, "A tile size is a whole number from 1 to 2147483647, not True."),
        ("pluto", {"tile": 10**12}, "A tile size is a whole number from 1 to 2147483647, not 1000000000000."),
    ],
)
def test_values_without_a_meaning_are_one_line(name: str, options: dict[str, object], message: str) -> None:
    with pytest.raises(OptionError) as error:
        schedule(matmul(), name, **options)
    assert str(error.value).endswith(message)
    assert "\n" not in str(error.value)


def test_a_class_in_a_cell(cell: str) -> None:
    @register_scheduler(cell)
    @dataclass(frozen=True)
    class Mine:
        """Outer loop first."""

        name: ClassVar[str] = "mine"
        flavour: Literal["plain", "salty"] = "plain"

        def run(self, problem: SchedulingProblem) -> Proposal:
            return Proposal(problem.scop.schedule)

    assert schedulers()[cell] == "Outer loop first."
    assert schedule(matmul(), cell, flavour="salty").scheduler == cell
    with pytest.raises(OptionError, match="has no option `depth`"):
        schedule(matmul(), cell, depth=2)


def test_a_function_in_a_cell_with_options(cell: str) -> None:
    seen = []

    @register_scheduler(cell)
    def mine(problem: SchedulingProblem, *, width: int = 3) -> isl.Schedule:
        """Keep everything."""
        seen.append(width)
        return problem.scop.schedule

    schedule(matmul(), cell)
    schedule(matmul(), cell, width=5)
    assert seen == [3, 5]


def test_an_illegal_proposal_is_refused_and_named(cell: str) -> None:
    register_scheduler(cell)(reversed_order)
    with pytest.raises(LegalityError) as error:
        schedule(jacobi_1d(), cell)
    assert "The scheduler `mine` proposed an order that would change the result." in str(error.value)
    assert "it must run first" in str(error.value)


def test_a_proposal_that_forgets_statements_is_refused(cell: str) -> None:
    @register_scheduler(cell)
    def mine(problem: SchedulingProblem) -> isl.Schedule:
        """Only one statement."""
        return isl.Schedule.from_domain(isl.UnionSet("[n] -> { S[i, j] : 0 <= i, j < n }"))

    with pytest.raises(LegalityError):
        schedule(matmul(), cell)


def test_a_failing_scheduler_is_named(cell: str) -> None:
    @register_scheduler(cell)
    def mine(problem: SchedulingProblem) -> isl.Schedule:
        """Divide by zero."""
        return 1 // 0

    with pytest.raises(SchedulingError, match="The scheduler `mine` failed: ZeroDivisionError"):
        schedule(matmul(), cell)


def test_a_scheduler_that_ends_the_program_is_a_failure(cell: str) -> None:
    register_scheduler(cell)(lambda problem: sys.exit(3))
    with pytest.raises(SchedulingError, match=r"The scheduler `mine` failed: SystemExit: 3\."):
        schedule(matmul(), cell)


def hang(problem: SchedulingProblem) -> isl.Schedule:
    """Wait for ever, whatever happens."""
    while True:
        try:
            time.sleep(0.05)
        except Exception:
            continue


def test_a_scheduler_that_hangs_is_stopped(cell: str) -> None:
    register_scheduler(cell, time_limit=0.2)(hang)
    handler = signal.getsignal(signal.SIGALRM)
    with pytest.raises(SchedulingError, match=r"The scheduler `mine` was stopped after 0\.2 s\.") as error:
        schedule(matmul(), cell)
    assert "time_limit" in error.value.hint
    assert signal.getsignal(signal.SIGALRM) is handler


def test_a_scheduler_that_hangs_in_another_thread_is_stopped(cell: str) -> None:
    register_scheduler(cell, time_limit=0.2)(hang)
    with ThreadPoolExecutor(1) as pool, pytest.raises(SchedulingError, match="was stopped"):
        pool.submit(schedule, matmul(), cell).result(timeout=600)


@pytest.mark.parametrize("limit", [0, -1.0, math.inf, math.nan, "long"])
def test_a_time_limit_is_a_number_of_seconds(limit: Any) -> None:
    with pytest.raises(OptionError, match="a positive number of seconds"):
        register_scheduler("mine", time_limit=limit)


def test_a_wrong_result_is_named(cell: str) -> None:
    register_scheduler(cell)(lambda problem: 42)
    with pytest.raises(SchedulingError, match="returned a int"):
        schedule(matmul(), cell)


def test_a_map_into_time_is_a_result(cell: str) -> None:
    register_scheduler(cell)(lambda problem: "{ S[i, j] -> [j, i] }")
    with pytest.raises(SchedulingError, match="`<lambda>` returned is no schedule"):
        schedule(matmul(), cell)

    part = extract("def f(A):\n    for i in range(9):\n        A[i] = 0.0")
    register_scheduler(cell)(lambda problem: "{ S0[i] -> [-i] }")
    assert str(schedule(part, cell).map) == "{ S0[i] -> [-i] : 0 <= i <= 8 }"


def test_a_map_that_reverses_a_dependence_is_refused_with_the_name(cell: str) -> None:
    part = extract("def f(A):\n    for i in range(1, 9):\n        A[i] = A[i - 1]")
    register_scheduler(cell)(lambda problem: "{ S0[i] -> [-i] }")
    with pytest.raises(
        LegalityError, match=f"The scheduler `{cell}` proposed an order that would change"
    ) as error:
        schedule(part, cell)
    assert "S0[1] writes A[1], which S0[2] reads" in error.value.reason


def test_entry_points_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    class Entry:
        name = "third-party"
        value = "polyviz.scheduling.original:Original"

    asked = []

    def entry_points(*, group: str) -> list[type[Entry]]:
        asked.append(group)
        return [Entry]

    monkeypatch.setattr("polyviz.model.registry.entry_points", entry_points)
    announced.cache_clear()
    try:
        assert schedule(matmul(), "third-party").bands
        assert asked == [ENTRY_POINT_GROUP] == ["polyviz.schedulers"]
    finally:
        monkeypatch.undo()
        announced.cache_clear()
