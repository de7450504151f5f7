"""What becomes of a variant that is wrong, crashes, hangs or is refused; and who may be called the fastest."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import polyviz as pv
from polyviz.codegen.calling import result_names, written_arrays
from polyviz.model.measurement import Measurement, VariantRow
from polyviz.runtime import variants
from polyviz.runtime.original import Original
from polyviz.runtime.race import Entrant, Race, fastest, interval_notes, speedup_notes, with_speedups
from polyviz.runtime.statistics import Samples
from polyviz.runtime.variants import Baseline, Outcome, run_variant, time_variants
from polyviz.runtime.worker import CancelledError, NoMemoryError
from tests.running import function_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from polyviz.model.program import Program
    from polyviz.runtime.worker import Worker

ADD = """
def add(A, B):
    s = 0.0
    for i in range(len(A)):
        A[i] = B[i] + 1.0
    for i in range(len(A)):
        s += A[i]
    return s
"""


def program(target: str = "c", **changes: Any) -> Program:
    """The right program, with its text edited by ``changes``: old text to new text."""
    kernel = pv.compile(function_of(ADD), schedule="original", target=target)
    text = kernel.program.text
    for old, new in changes.get("edits", {}).items():
        assert old in text
        text = text.replace(old, new)
    return replace(kernel.program, text=text)


def entrant(name: str, variant: Any) -> Entrant:
    return Entrant(VariantRow(name, "c", "ok", None), variant)


def original() -> Baseline:
    return Baseline(pv.compile(function_of(ADD), target="python").original, "numba")


def race(**changes: Any) -> Race:
    scop = pv.extract(function_of(ADD))
    given = {"A": np.zeros(5), "B": np.arange(5.0)}
    parameters = {parameter.name: 5 for parameter in scop.parameters}
    settings: dict[str, Any] = {"repeats": 2, "time_limit": 30.0, **changes}
    return Race(given, parameters, written_arrays(scop), result_names(scop), **settings)


PLANTED: dict[str, Callable[[], Any]] = {
    "right": program,
    "wrong array": lambda: program(edits={"+ 1.0": "+ 2.0"}),
    "wrong result": lambda: program("python", edits={"return s": "return s + 1"}),
    "crash": lambda: program(edits={"double s =": "*(volatile int *)8 = 1; double s ="}),
    "does not compile": lambda: program(edits={"double s =": "nonsense s ="}),
    "raises": lambda: program("python", edits={"return s": "return 1 / 0"}),
    "out of bounds": lambda: program("python", edits={"return s": "return A[99]"}),
}


@pytest.mark.slow
def test_a_twin_takes_the_verdict_of_the_first_and_is_not_run(worker: Worker) -> None:
    for variant, status in ((program("python"), "ok"), (PLANTED["raises"](), "failed")):
        twin = replace(entrant("twin", PLANTED["crash"]()), twin="first/c")
        rows, samples, _ = race().run(worker, original(), [entrant("first", variant), twin])
        assert [row.status for row in rows] == [status, status]
        assert [row.verified for row in rows] == ([True, True] if status == "ok" else [None, None])
        assert rows[1].median is None
        assert "twin/c" not in samples


@pytest.mark.slow
def test_planted_faults_are_rows_and_the_right_one_is_timed(
    worker: Worker, golden: Callable[..., None]
) -> None:
    entrants = [entrant(name, make()) for name, make in PLANTED.items()]
    entrants.append(Entrant(VariantRow("refused", "c", "refused", None, note="no such thing"), None))
    rows, samples, notes = race().run(worker, original(), entrants)
    # On a busy machine a run may be too long to be repeated.
    assert {note.split(":")[0] for note in notes} <= {"short runs are repeated"}
    assert set(samples) == {"right/c"}
    assert [row.label for row in rows if row.measurement is not None] == ["right/c"]
    lines = [f"{row.schedule}: {row.status}, verified {row.verified}; {row.note.splitlines()[0]}" for row in rows[1:]
             if row.note]  # fmt: skip
    golden(re.sub(r"after [\d.]+ s", "after a while", re.sub(r"\((gcc|clang|zig)\)", "(COMPILER)", "\n".join(lines))))
    assert (rows[0].status, rows[0].verified) == ("ok", True)
    assert rows[0].compile_seconds is not None


@pytest.mark.slow
def test_a_variant_that_hangs_is_a_row(worker: Worker) -> None:
    endless = program(edits={"double s =": "for (volatile int on = 1; on;) {} double s ="})
    reference = Baseline(original().original, "python")  # numba alone takes seconds to start
    entrants = [entrant("endless", endless), entrant("right", program())]
    rows, _, _ = race(time_limit=10.0).run(worker, reference, entrants)
    assert [(row.status, row.verified) for row in rows] == [("timeout", None), ("ok", True)]


@pytest.mark.slow
def test_the_values_of_the_caller_stay_as_they_are(worker: Worker) -> None:
    given = race()
    given.run(worker, original(), [entrant("right", program())])
    np.testing.assert_array_equal(given.given["A"], np.zeros(5))


def test_without_verification_nothing_is_called_verified(worker: Worker) -> None:
    wrong = program(edits={"+ 1.0": "+ 2.0"})
    rows, samples, _ = race(verify_outputs=False).run(worker, original(), [entrant("wrong", wrong)])
    assert (rows[0].status, rows[0].verified) == ("ok", None)
    assert set(samples) == {"wrong/c"}


@pytest.mark.slow
def test_verification_alone_times_nothing(worker: Worker) -> None:
    rows, notes = race().verify(worker, original(), [entrant("right", program())])
    assert rows[0].verified
    assert rows[0].measurement is None
    assert notes == ()


@pytest.mark.slow
def test_the_reference_falls_back_to_python_where_numba_refuses(worker: Worker) -> None:
    text = original().original.text.replace("s = 0.0", "s = 0.0; marker = object()")
    reference = Baseline(replace(original().original, text=text), "numba")
    rows, _, notes = race().run(worker, reference, [entrant("right", program())])
    assert rows[0].verified
    assert len(notes) == 2
    assert notes[0].startswith("the reference ran as plain Python, because numba refused it (")


def test_an_original_without_memory_is_not_run_again_as_plain_python(
    worker: Worker, monkeypatch: pytest.MonkeyPatch
) -> None:
    engines = []

    def killed(_race: Race, _worker: Worker, variant: Baseline, _label: str) -> Outcome:
        engines.append(variant.engine)
        raise NoMemoryError("It was killed.")

    monkeypatch.setattr(Race, "run_once", killed)
    with pytest.raises(NoMemoryError, match=r"^It was killed\.$"):
        race().verify(worker, original(), [])
    assert engines == ["numba"]


def test_an_original_that_fails_is_said(worker: Worker) -> None:
    text = original().original.text.replace("return s", "return s[0]")
    reference = Baseline(replace(original().original, text=text), "python")
    with pytest.raises(pv.VerificationError, match="The original loop itself fails on this data"):
        race().run(worker, reference, [entrant("right", program())])


@pytest.mark.slow
def test_strict_order_stands_in_where_rounding_is_amplified(worker: Worker) -> None:
    wrong = program(edits={"+ 1.0": "+ 1.0001"})
    careful = Entrant(VariantRow("order", "c", "ok", None), wrong, program())
    rows, samples, _ = race().run(worker, original(), [careful])
    assert (rows[0].status, rows[0].verified, rows[0].floating_point) == ("ok", True, "strict")
    assert "order of operations" in rows[0].note
    assert set(samples) == {"order/c"}


@pytest.mark.slow
def test_progress_is_reported_in_order(worker: Worker) -> None:
    seen: list[tuple[str, int, int]] = []
    race().run(worker, original(), [entrant("right", program())], lambda *state: seen.append(state))
    assert seen[0] == ("running the loop as written", 0, 3)
    assert seen[1] == ("verifying right/c", 1, 3)
    assert seen[-1][0] == "timing rounds"


@pytest.mark.slow
def test_cancelling_ends_the_race(worker: Worker) -> None:
    def cancel(stage: str, _done: int, _total: int) -> None:
        if stage.startswith("verifying"):
            raise CancelledError("stopped")

    with pytest.raises(CancelledError):
        race().run(worker, original(), [entrant("right", program())], cancel)


def test_outcomes_hold_what_changed_and_what_came_back() -> None:
    given = race().given
    outcome = run_variant(program(), given, race().parameters, ("A",))
    assert isinstance(outcome, Outcome)
    np.testing.assert_array_equal(outcome.arrays["A"], [1, 2, 3, 4, 5])
    assert outcome.result == 15.0
    assert outcome.compile_seconds is not None
    assert outcome.compile_seconds >= 0  # 0 where the library was kept
    np.testing.assert_array_equal(given["A"], np.zeros(5))


@pytest.mark.slow
def test_every_sample_starts_from_fresh_values() -> None:
    text = "def grow(A):\n    for i in range(len(A)):\n        A[i] = A[i] * A[i] + 1.0\n"
    kernel = pv.compile(function_of(text), target="python", schedule="original")
    given = {"A": np.full(3, 2.0)}
    parameters = {parameter.name: 3 for parameter in kernel.scop.parameters}
    # Squared again and again, the values would overflow, and warnings are errors.
    samples = time_variants({"grow": kernel.program}, given, parameters, ("A",), 30)
    assert len(samples["grow"].seconds) == 30


def test_copies_keep_the_layout_of_the_user() -> None:
    text = "def flag(A):\n    for i in range(len(A)):\n        A[i, 0] = A[i, 0] + 1\n"
    kernel = pv.compile(function_of(text), target="python")
    parameters = {parameter.name: 3 for parameter in kernel.scop.parameters}
    outcome = run_variant(kernel.program, {"A": np.zeros((3, 4), order="F")}, parameters, ("A",))
    assert outcome.arrays["A"].flags.f_contiguous


def row(label: str, **changes: Any) -> VariantRow:
    schedule, target = label.split("/")
    return VariantRow(schedule, target, "ok", True, **changes)


def test_speedups_are_ratios_of_the_same_rounds() -> None:
    samples = {"base/x": Samples((2.0, 4.0, 8.0, 2.0, 4.0, 8.0)), "fast/x": Samples((1.0, 2.0, 4.0, 1.0, 2.0, 4.0))}
    rows = with_speedups([row("base/x"), row("fast/x"), row("absent/x")], samples, "base/x")
    assert [found.speedup for found in rows] == [1.0, 2.0, None]
    assert rows[1].speedup_interval == (2.0, 2.0)
    assert all(found.speedup is None for found in with_speedups([row("fast/x")], samples, None))
    assert all(found.speedup is None for found in with_speedups([row("fast/x")], samples, "failed/x"))


def test_a_speedup_that_is_no_ratio_of_medians_is_explained() -> None:
    steady = [timed("base/x", 4.0, speedup=1.0), timed("fast/x", 2.0, speedup=2.05)]
    assert speedup_notes(steady, "base/x") == speedup_notes(steady, None) == ()
    (note,) = speedup_notes([*steady, timed("odd/x", 1.0, speedup=3.0), row("absent/x")], "base/x")
    assert "median of the ratios" in note
    assert note.endswith("for odd/x")


def timed(label: str, median: float, **changes: Any) -> VariantRow:
    return row(label, measurement=Measurement((median,), median, (median, median)), **changes)


def test_nobody_is_fastest_inside_the_noise() -> None:
    near = {"a/x": Samples((1.0, 1.2, 1.1, 1.3, 1.0, 1.2)), "b/x": Samples((1.1, 1.1, 1.2, 1.1, 1.2, 1.1))}
    assert fastest([row("a/x"), row("b/x")], near) is None
    far = {**near, "c/x": Samples((0.1,) * 6)}
    assert fastest([row("a/x"), row("b/x"), row("c/x")], far) == "c/x"
    assert fastest([row("a/x")], {}) is None


SLOPPY = {"+ 1.0": "+ 1.0000000000001"}


@pytest.mark.parametrize(
    ("contract", "rounded", "status", "verified", "exact"),
    [
        ("reassociate", "", "ok", True, False),
        ("strict", "", "wrong", False, False),
        ("strict", "the last bit of sin is a matter of taste", "ok", True, False),
    ],
)
def test_the_strict_contract_asks_for_the_same_bits(
    worker: Worker, contract: Any, rounded: str, status: str, verified: bool, exact: bool
) -> None:
    sloppy = entrant("sloppy", program("python", edits=SLOPPY))
    sloppy = replace(sloppy, row=replace(sloppy.row, floating_point=contract), rounded=rounded)
    reference = Baseline(original().original, "python")
    ((row,), _) = race().verify(worker, reference, [sloppy])
    assert (row.status, row.verified, row.exact) == (status, verified, exact)
    if status == "wrong":
        assert row.note.endswith("close, but the contract strict asks for the same bits")
    assert (rounded in row.note) or not rounded


def test_the_same_bits_are_seen(worker: Worker) -> None:
    reference = Baseline(original().original, "python")
    ((row,), _) = race().verify(worker, reference, [entrant("right", program("python"))])
    assert (row.verified, row.exact) == (True, True)


def test_times_far_apart_are_shown_without_an_interval_and_the_comparison_says_so() -> None:
    samples = {"a/c": Samples((0.001, 0.02)), "b/c": Samples((1.0, 1.001))}
    rows = [VariantRow(name, "c", "ok", True, Measurement((), 1.0, samples[f"{name}/c"].interval)) for name in "ab"]
    assert rows[0].interval is None
    assert rows[1].interval is not None
    assert with_speedups(rows, samples, "b/c")[0].speedup_interval is None
    assert interval_notes(samples) == (
        "no interval can be estimated for what was timed 2 times only, with times far apart: a/c; "
        "repeats=6 or more give one",
    )


def test_the_original_is_compiled_once_for_the_same_types(monkeypatch: pytest.MonkeyPatch) -> None:
    made = []
    given = {"A": np.zeros(5), "B": np.arange(5.0)}
    monkeypatch.setattr(variants, "_numba_functions", {})
    monkeypatch.setattr(Original, "numba", lambda _self, **_options: made.append(_Compiled()) or made[-1])
    for _ in range(2):
        outcome = run_variant(original(), given, {}, ["A"])
        np.testing.assert_array_equal(outcome.arrays["A"], given["B"] + 1.0)
    changed = replace(original().original, text=original().original.text.replace("1.0", "2.0"))
    run_variant(Baseline(changed, "numba"), given, {}, ["A"])
    assert len(made) == 2


class _Compiled:
    """What stands in for a function under numba."""

    def __call__(self, A: Any, B: Any) -> float:
        A[:] = B + 1.0
        return 0.0

    def compile(self, types: tuple[str, ...]) -> None:
        assert types == ("ndarray", "ndarray")

    def typeof_pyval(self, value: object) -> str:
        return type(value).__name__
