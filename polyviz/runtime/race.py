"""A fair race: every variant is verified in the worker first, then those that agree are timed against each other."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from polyviz.errors import OutOfBoundsError, PolyvizError, VerificationError
from polyviz.model.measurement import Measurement, Status, VariantRow
from polyviz.model.program import Program
from polyviz.runtime.agreement import bit_difference, compare_values
from polyviz.runtime.statistics import Samples, best, median_interval
from polyviz.runtime.variants import Baseline, Outcome, Variant
from polyviz.runtime.worker import CancelledError, CrashError, NoMemoryError, TimeLimitError, Worker

Progress = Callable[[str, int, int], None]

# A twentieth is what somebody sees who divides two medians of three digits.
_APART = 0.05


@dataclass(frozen=True, slots=True)
class Entrant:
    """A variant that wants to take part; without a ``variant`` it was refused before, for the reason in ``row``.

    ``careful`` is the same order with every element's operations kept as written: it takes the variant's place where
    the loop amplifies rounding so much that reordered sums are no longer the same result. ``rounded`` says, as the end
    of a sentence, why a strict variant may differ in the last bits; empty where it may not. ``twin`` is the
    label of an entrant before it with the same program: its verdict holds for both, and only that one is run.
    """

    row: VariantRow
    variant: Variant | None
    careful: Variant | None = None
    rounded: str = ""
    twin: str = ""


@dataclass(frozen=True, slots=True)
class Race:
    """The values everybody runs on, and the limits."""

    given: Mapping[str, Any]
    parameters: Mapping[str, int]
    written: tuple[str, ...]
    result_names: tuple[str, ...]
    repeats: int
    time_limit: float
    verify_outputs: bool = True

    def run(
        self, worker: Worker, reference: Baseline, entrants: Sequence[Entrant], progress: Progress | None = None
    ) -> tuple[tuple[VariantRow, ...], dict[str, Samples], tuple[str, ...]]:
        """The finished rows in the order of ``entrants``, the samples by label, and notes about the whole race."""
        report = progress or _silent
        total = len(entrants) + 2
        rows, notes = self._verify_all(worker, reference, entrants, report, total)
        racing = {
            row.label: chosen
            for row, entrant in zip(rows, entrants, strict=True)
            for chosen in [_chosen(row, entrant)]
            if chosen is not None and row.status == "ok" and _has_times(chosen) and not entrant.twin
        }
        report("warming up for the timing", total - 1, total)
        samples = self._time(worker, racing, rows, report)
        finished = tuple(_timed(row, samples.get(row.label)) for row in rows)
        return finished, samples, (*notes, *_batch_notes(samples.values()))

    def verify(
        self, worker: Worker, reference: Baseline, entrants: Sequence[Entrant], progress: Progress | None = None
    ) -> tuple[tuple[VariantRow, ...], tuple[str, ...]]:
        """The first half of a race: the rows after one run of every variant on copies, untimed, and notes."""
        rows, notes = self._verify_all(worker, reference, entrants, progress or _silent, len(entrants) + 1)
        return tuple(rows), notes

    def _verify_all(
        self, worker: Worker, reference: Baseline, entrants: Sequence[Entrant], report: Progress, total: int
    ) -> tuple[list[VariantRow], tuple[str, ...]]:
        notes: list[str] = []
        if self.verify_outputs:
            report("running the loop as written", 0, total)
        expected = self.expected(worker, reference, notes) if self.verify_outputs else None
        rows: list[VariantRow] = []
        for number, entrant in enumerate(entrants):
            twin = next((row for row in rows if row.label == entrant.twin), None)
            if twin is not None:
                rows.append(_alike(entrant.row, twin))
                continue
            report(f"verifying {entrant.row.label}", number + 1, total)
            rows.append(self.verified(worker, entrant, expected))
        return _noticed(rows), tuple(notes)

    def expected(self, worker: Worker, reference: Baseline, notes: list[str]) -> dict[str, Any]:
        """The outputs of the original loop: under numba, or, as ``notes`` then say, as plain Python.

        Raises VerificationError when it fails.
        """
        try:
            return self.outputs(self.run_once(worker, reference, "The original loop"))
        except (CancelledError, TimeLimitError, NoMemoryError):
            raise  # plain Python would need no less
        except PolyvizError as error:
            first = error.message
        except Exception as error:  # numba's own errors, or those of the user's loop
            first = _first_line(error)
        try:
            outcome = self.run_once(worker, replace(reference, engine="python"), "The original loop")
        except PolyvizError:
            raise
        except Exception as error:
            raise VerificationError(
                "The original loop itself fails on this data, so nothing can be compared.", reason=_first_line(error)
            ) from error
        notes.append(f"the reference ran as plain Python, because numba refused it ({first})")
        return self.outputs(outcome)

    def run_once(self, worker: Worker, variant: Variant, label: str) -> Outcome:
        """What one run on copies leaves; raises what ``Worker.run`` raises."""
        outcome = worker.run(
            "polyviz.runtime.variants:run_variant",
            variant,
            dict(self.given),
            dict(self.parameters),
            self.written,
            time_limit=self.time_limit,
            label=label,
        )
        assert isinstance(outcome, Outcome)
        return outcome

    def outputs(self, outcome: Outcome) -> dict[str, Any]:
        """Everything that a run has written and given, by name."""
        outputs = dict(outcome.arrays)
        result = outcome.result if isinstance(outcome.result, tuple) else (outcome.result,)
        if self.result_names:
            outputs.update({f"{name} (returned)": value for name, value in zip(self.result_names, result, strict=True)})
        return outputs

    def verified(
        self, worker: Worker, entrant: Entrant, expected: Mapping[str, Any] | None
    ) -> VariantRow:
        """The row of ``entrant`` after one run on copies, compared with what is ``expected``, if anything is."""
        row = self._verify(worker, entrant, expected)
        if row.status != "wrong" or entrant.careful is None:
            return row
        again = self._verify(worker, replace(entrant, variant=entrant.careful), expected)
        if not again.verified:
            return row
        note = "every element keeps its order of operations, since this loop amplifies rounding"
        return replace(again, floating_point="strict", note=_joined(again.note, note))

    def _verify(self, worker: Worker, entrant: Entrant, expected: Mapping[str, Any] | None) -> VariantRow:
        if entrant.variant is None:
            return entrant.row
        try:
            outcome = self.run_once(worker, entrant.variant, entrant.row.label)
        except CancelledError:
            raise
        except Exception as error:
            return _failed(entrant.row, error)
        row = replace(
            entrant.row,
            compile_seconds=outcome.compile_seconds,
            note=_joined(entrant.row.note, *outcome.notes),
        )
        if expected is None:
            return row
        outputs = self.outputs(outcome)
        agreement = compare_values(expected, outputs, self.given.values())
        if not agreement.agrees:
            return replace(row, status="wrong", verified=False, note=_joined(row.note, agreement.sentence))
        return _strictly(replace(row, verified=True), entrant, bit_difference(expected, outputs))

    def _time(
        self, worker: Worker, racing: Mapping[str, Variant], rows: list[VariantRow], report: Progress
    ) -> dict[str, Samples]:
        """Time together; when that fails as a whole, nobody gets a time and the reason is said in every row."""
        if not racing:
            return {}
        try:
            return self.times(worker, racing, self.repeats, lambda state: report("timing rounds", *state))
        except CancelledError:
            raise
        except PolyvizError as error:
            rows[:] = [_failed(row, error) if row.label in racing else row for row in rows]
            return {}

    def times(
        self,
        worker: Worker,
        variants: Mapping[str, Variant],
        repeats: int,
        progress: Callable[[Any], None] | None = None,
    ) -> dict[str, Samples]:
        """``repeats`` interleaved samples of each variant; raises what ``Worker.run`` raises."""
        samples = worker.run(
            "polyviz.runtime.variants:time_variants",
            dict(variants),
            dict(self.given),
            dict(self.parameters),
            self.written,
            repeats,
            time_limit=self.time_limit * (repeats + 2) * len(variants),
            progress=progress,
            label="The timing run",
        )
        return dict(samples)


def with_speedups(
    rows: Sequence[VariantRow], samples: Mapping[str, Samples], baseline: str | None
) -> tuple[VariantRow, ...]:
    """``rows`` with their speedup over the row labelled ``baseline``, from ratios of samples of the same round."""
    if baseline is None or baseline not in samples:
        return tuple(rows)
    reference = samples[baseline].seconds
    result = []
    for row in rows:
        if row.label not in samples:
            result.append(row)
            continue
        ratios = [one / other for one, other in zip(reference, samples[row.label].seconds, strict=True)]
        ratio = Samples(tuple(ratios)).median
        interval = median_interval(ratios)
        known = interval if math.isfinite(interval[1]) else None
        result.append(replace(row, speedup=ratio, speedup_interval=known))
    return tuple(result)


def interval_notes(samples: Mapping[str, Samples]) -> tuple[str, ...]:
    """Which times stand without an interval, and how to get one."""
    without = [label for label, one in samples.items() if not math.isfinite(one.interval[1])]
    if not without:
        return ()
    repeats = max(len(samples[label].seconds) for label in without)
    cause = "was timed once" if repeats == 1 else f"was timed {repeats} times only, with times far apart"
    names = ", ".join(without)
    return (f"no interval can be estimated for what {cause}: {names}; repeats=6 or more give one",)


def speedup_notes(rows: Sequence[VariantRow], baseline: str | None) -> tuple[str, ...]:
    """What a speedup is, where somebody who divides the medians in the table gets clearly another number."""
    medians = {row.label: row.measurement.median for row in rows if row.measurement is not None}
    if baseline not in medians:
        return ()
    apart = [
        row.label
        for row in rows
        if row.speedup is not None
        and row.label in medians
        and _is_apart(medians[baseline] / medians[row.label], row.speedup)
    ]
    if not apart:
        return ()
    return (
        "a speedup is the median of the ratios of runs side by side, which a busy machine slows alike; it differs from "
        f"the ratio of the medians for {', '.join(apart)}",
    )


def _is_apart(one: float, other: float) -> bool:
    return abs(one - other) > _APART * min(one, other)


def fastest(rows: Sequence[VariantRow], samples: Mapping[str, Samples]) -> str | None:
    """The label of the fastest row, or None inside the noise, or when nothing but the loop as written has a time."""
    if all(row.is_baseline for row in rows if row.label in samples):
        return None
    return best({row.label: samples[row.label] for row in rows if row.label in samples})


def _batch_notes(samples: Iterable[Samples]) -> Iterator[str]:
    """That short runs were repeated, and how often."""
    batches = sorted(one.batch for one in samples if one.batch > 1)
    if batches:
        counts = str(batches[0]) if batches[0] == batches[-1] else f"{batches[0]} to {batches[-1]}"
        yield f"short runs are repeated: each sample of them stands for {counts} runs on fresh data"


def _alike(row: VariantRow, twin: VariantRow) -> VariantRow:
    """``row`` with the verdict of its ``twin``."""
    return replace(
        row,
        status=twin.status,
        verified=twin.verified,
        note=twin.note,
        floating_point=twin.floating_point,
        exact=twin.exact,
    )


def _chosen(row: VariantRow, entrant: Entrant) -> Variant | None:
    return entrant.careful if row.floating_point == "strict" and entrant.careful is not None else entrant.variant


def _has_times(variant: Variant) -> bool:
    """Whether a clock says something about ``variant``: what is emulated is verified only."""
    return not (isinstance(variant, Program) and variant.target == "emulated")


def _strictly(row: VariantRow, entrant: Entrant, difference: str) -> VariantRow:
    """``row``, which agrees within rounding, under its contract: a strict one has to agree bit for bit."""
    if row.floating_point != "strict" or not difference:
        return replace(row, exact=not difference)
    if entrant.rounded:
        note = f"compared within rounding, not bit for bit: {entrant.rounded}"
        return replace(row, exact=False, note=_joined(row.note, note))
    note = f"{difference}: close, but the contract strict asks for the same bits"
    return replace(row, status="wrong", verified=False, exact=False, note=_joined(row.note, note))


def _timed(row: VariantRow, samples: Samples | None) -> VariantRow:
    if samples is None:
        return row
    measurement = Measurement(samples.seconds, samples.median, samples.interval, samples.note, samples.kernels)
    return replace(row, measurement=measurement)


_STATUS: tuple[tuple[type[Exception], Status], ...] = (
    (TimeLimitError, "timeout"),
    (CrashError, "crashed"),
)


def _failed(row: VariantRow, error: Exception) -> VariantRow:
    status: Status = next((name for kind, name in _STATUS if isinstance(error, kind)), "failed")
    outside = isinstance(error, IndexError | OutOfBoundsError)
    return replace(row, status=status, verified=None, note=_joined(row.note, _first_line(error)), outside=outside)


def _noticed(rows: list[VariantRow]) -> list[VariantRow]:
    """``rows``, where those of a compiler that tests no subscript are not right if others left an array."""
    found = next((row.note for row in rows if row.outside), None)
    if found is None:
        return rows
    note = f"reads or writes outside of an array, which numba does not notice: {found}"
    return [
        replace(row, status="failed", verified=None, note=note, outside=True)
        if row.is_baseline and row.status == "ok"
        else row
        for row in rows
    ]


def _first_line(error: Exception) -> str:
    """What happened, in one line; numba's errors start with a heading that says nothing."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    if len(lines) > 1 and lines[0].startswith("Failed in nopython mode"):
        lines = lines[1:]
    return lines[0] if lines else type(error).__name__


def _joined(*parts: str) -> str:
    return "; ".join(part for part in parts if part)


def _silent(_stage: str, _done: int, _total: int) -> None:
    return None
