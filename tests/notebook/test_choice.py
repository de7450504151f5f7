"""Which variant runs in place, and what the user is told about it."""

from __future__ import annotations

from polyviz.model.measurement import Measurement, VariantRow
from polyviz.notebook.choice import Choice, choose


def row(schedule: str, time: float, *, target: str = "c", is_baseline: bool = False) -> VariantRow:
    samples = tuple(time * (1 + 0.01 * number) for number in (0, 1, -1, 2, -2, 1))
    return VariantRow(
        schedule, target, "ok", True, Measurement(samples, time, (time, time)), is_baseline=is_baseline
    )


def chosen(*rows: VariantRow) -> Choice:
    return choose(rows, {row.label for row in rows if not row.is_baseline})


def test_the_fastest_is_taken() -> None:
    assert chosen(row("original", 3e-3), row("isl", 1e-3), row("pluto", 2e-3)) == Choice(
        "isl/c", "the fastest of 3 variants"
    )


def test_the_first_of_those_that_cannot_be_told_apart() -> None:
    choice = chosen(row("original", 3e-3), row("isl", 1e-3), row("pluto", 1e-3))
    assert choice == Choice(
        "isl/c", "the first of 2 that are fastest, whose times the clock cannot tell apart"
    )
    choice = chosen(row("isl", 1e-3), row("pluto", 1e-3))
    assert choice == Choice("isl/c", "the first of 2 variants, whose times the clock cannot tell apart")


def test_a_faster_loop_as_written_is_named() -> None:
    choice = chosen(row("as written", 4.3e-7, target="numba", is_baseline=True), row("pluto", 8.51e-6))
    assert choice == Choice(
        "pluto/c",
        "the only variant that could be timed",
        "the loop as written is faster at these sizes: 430 ns under numba, against 8.51 µs for pluto/c",
    )


def test_nothing_timed_and_nothing_left() -> None:
    untimed = VariantRow("isl", "c", "ok", True)
    assert chosen(untimed) == Choice("isl/c", "the first listed, as nothing was timed")
    assert chosen(VariantRow("isl", "c", "refused", None)) == Choice(None)
