"""The job behind a ``%%polyopt`` cell: extract, analyse, schedule, verify on copies, and only then run in place."""

from __future__ import annotations

import time
import warnings
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from polyviz.analysis import dependences as find_dependences
from polyviz.analysis import parallelism
from polyviz.api import Comparison, compare, tune
from polyviz.api.building import build_kernel
from polyviz.api.comparing import careful_program, rounding
from polyviz.api.compiling import compiled_text
from polyviz.api.extracting import extract
from polyviz.api.remembered import AtHand
from polyviz.codegen.calling import handed_back, written_arrays
from polyviz.errors import OptionError, OutOfBoundsError, OverlapError, OverlapWarning, VerificationError
from polyviz.model.measurement import VariantRow
from polyviz.notebook.choice import choose
from polyviz.notebook.inplace import FinishedError, arguments_of, run_in_place
from polyviz.notebook.result import Part, Waiting
from polyviz.runtime.as_written import PROCESSORS
from polyviz.runtime.binding import Binder
from polyviz.runtime.host_copies import on_host
from polyviz.runtime.outside import located
from polyviz.runtime.race import Entrant, Race
from polyviz.runtime.variants import Baseline
from polyviz.runtime.worker import CancelledError, NoMemoryError, TimeLimitError, Worker, shared_worker

if TYPE_CHECKING:
    from collections.abc import Iterator, MutableMapping

    from polyviz.model.dependences import Dependences, LoopParallelism
    from polyviz.model.scop import Scop
    from polyviz.model.tuning import Tuning
    from polyviz.notebook.cell import Cell
    from polyviz.notebook.options import Options
    from polyviz.notebook.progress import Progress
    from polyviz.runtime.kernel import Kernel

TIME_LIMIT = 120.0
"""Seconds that one run of one variant may take in the worker; a user who waits can interrupt it before."""

_UNTOUCHED = "No array was changed"
_NEEDS_DATA = "A comparison needs arrays to run on, and this cell only defines functions"
_TUNING_NEEDS_DATA = "Tuning needs arrays to run on, and this cell only defines functions"


@dataclass(slots=True)
class Session:
    """One execution of a cell: what it was asked to do, where its variables are, and who runs risky code."""

    options: Options
    namespace: MutableMapping[str, Any]
    progress: Progress
    worker: Worker = field(default_factory=shared_worker)

    def run_functions(self, cell: Cell) -> tuple[Part | Waiting, ...]:
        """Compile the functions of ``cell`` and bind them in the notebook; all of them or, after an error, none."""
        name = cell.functions[0].name
        if self.options.compare:
            raise OptionError(f"{_NEEDS_DATA}: use polyviz.compare({name}, …) in the next cell.")
        if self.options.tune is not None:
            raise OptionError(f"{_TUNING_NEEDS_DATA}: use polyviz.tune({name}, …) in the next cell.")
        parts: list[Part | Waiting] = []
        for number, function in enumerate(cell.functions):
            self.progress.report(f"compiling {function.name}", number, len(cell.functions))
            kernel, scop, found = compiled_text(function.text, self._options, self.options.sizes or None)
            if scop is None or found is None:
                parts.append(Waiting(kernel))
            else:
                parts.append(Part(scop, found, parallelism(scop, found, scop.schedule), kernel))
        self.namespace.update({part.name: part.kernel for part in parts})
        return tuple(parts)

    def run_loops(self, cell: Cell) -> Part:
        """Verify the variants of bare loops on copies, then run one in place.

        Raises VerificationError, with every array untouched, when no variant can be trusted.
        """
        self.progress.report("extracting", 0, 5)
        scop = extract(cell.loops, namespace=self.namespace, sizes=self.options.sizes or None)
        self.progress.report("finding dependences", 1, 5)
        found = find_dependences(scop)
        loops = parallelism(scop, found, scop.schedule)
        if self.options.compare:
            return self._run_best(scop, found, loops)
        try:
            at_hand = AtHand.of(Binder(scop, on_device=True).bind(arguments_of(scop, self.namespace), {}))
        except OverlapError as error:
            return self._as_written(
                Part(
                    scop, found, loops, self._kernel(scop, found, cell.loops, AtHand(), overlap="as-written")
                ),
                error,
            )
        tuning = self._tuned(scop)
        self.progress.report("scheduling", 2, 5)
        # What is remembered comes back by itself.
        better = tuning.options if tuning is not None and not tuning.remembered else {}
        kernel = self._kernel(scop, found, cell.loops, at_hand, **better)
        row = self._verified(kernel) if self.options.verify else None
        kernel = kernel if row is None else kernel.with_floating_point(row.floating_point)
        self.progress.report("running in place", 4, 5)
        return self._finished(Part(scop, found, loops, kernel, row, tuning=tuning))

    def _as_written(self, part: Part, error: OverlapError) -> Part:
        """The loops in their own order on arrays that overlap, which is right without a proof; raises on a device."""
        if part.kernel.target not in PROCESSORS:
            raise error
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", OverlapWarning)  # the result says it
            return self._finished(replace(part, overlap=error))

    def _tuned(self, scop: Scop) -> Tuning | None:
        """The search for better options, where one was asked for; what it found is remembered, and so used next."""
        options = self.options
        if options.tune is None:
            return None
        [schedule, *_] = options.schedules.values()
        if not isinstance(schedule, str):
            raise OptionError("--tune needs a scheduler's name, since it tries the scheduler's options too.")
        with _patience():
            tuning = tune(
                scop,
                *arguments_of(scop, self.namespace),
                seconds=options.tune,
                schedule=schedule,
                target=options.targets[0],
                namespace=self.namespace,
                time_limit=TIME_LIMIT,
                progress=self.progress.report,
                worker=self.worker,
                **options.building,
            )
        if tuning.interrupted:
            raise CancelledError(
                f"Interrupted while tuning, after {tuning.elapsed:.1f} s: {_learned(tuning)}"
            )
        return tuning

    def _kernel(
        self, scop: Scop, found: Dependences, source: object, at_hand: AtHand, **better: Any
    ) -> Kernel:
        return build_kernel(scop, found, source, at_hand=at_hand, **{**self._options, **better})

    @property
    def _options(self) -> dict[str, Any]:
        """The keywords of ``build_kernel`` that the line asks for."""
        [schedule, *_] = self.options.schedules.values()
        target, namespace = self.options.targets[0], self.namespace
        return {"schedule": schedule, "target": target, "namespace": namespace, **self.options.building}

    def _verified(self, kernel: Kernel) -> VariantRow:
        """The row of ``kernel`` after a run on copies; raises unless every output agrees."""
        scop = kernel.scop
        bound = kernel.bind(tuple(map(on_host, arguments_of(scop, self.namespace))), {})
        if kernel.has_substitute:
            kernel.prepare(bound)
        race = Race(bound.given, bound.parameters, written_arrays(scop), handed_back(scop), 1, TIME_LIMIT)
        contract = kernel.floating_point
        variant = VariantRow(kernel.schedule.scheduler, kernel.target, "ok", None, floating_point=contract)
        careful = careful_program(kernel, bound)
        entrant = Entrant(variant, kernel.program_for(bound), careful, rounding(scop, bound))
        reference = Baseline(kernel.original, "numba")
        report = self.progress.report
        with _patience():
            rows, notes = race.verify(
                self.worker, reference, [entrant], lambda stage, *_: report(stage, 3, 5)
            )
        row = replace(rows[0], note="; ".join(filter(None, (rows[0].note, *notes))))
        if row.outside:
            raise located(OutOfBoundsError(row.note, hint=_UNTOUCHED), scop, kernel.original, bound.given)
        if not row.verified:
            raise VerificationError(
                f"{row.label} {_FAILURES.get(row.status, 'failed')}, so it was not run on your arrays. {_UNTOUCHED}.",
                reason=row.note,
                hint=_HINTS.get(row.status, _REFUSED) if row.status != "wrong" else _wrong_hint(row),
            )
        return row

    def _run_best(self, scop: Scop, found: Dependences, loops: tuple[LoopParallelism, ...]) -> Part:
        """Compare all variants on copies, then run the fastest verified one in place."""
        with _patience():
            comparison = self._compared(scop)
        choice = choose(comparison.rows, comparison.kernels)
        if choice.label is None:
            why = comparison.data.notes[0] if any(row.outside for row in comparison.rows) else ""
            raise NoVariantError(comparison, why)
        row = next(row for row in comparison.rows if row.label == choice.label)
        self.progress.report(f"running {choice.label} in place", 0, 1)
        return self._finished(
            Part(scop, found, loops, comparison.kernels[choice.label], row, comparison, choice)
        )

    def _compared(self, scop: Scop) -> Comparison:
        options = self.options
        found = compare(
            scop,
            *arguments_of(scop, self.namespace),
            schedules=options.schedules,
            targets=options.targets,
            repeats=options.repeats,
            verify=options.verify,
            namespace=self.namespace,
            time_limit=TIME_LIMIT,
            progress=self.progress.report,
            worker=self.worker,
            **options.building,
        )
        # Charts and tables of several cells are told apart by the name that the user gave.
        return found if options.name is None else replace(found, data=replace(found.data, name=options.name))

    def _finished(self, part: Part) -> Part:
        """``part`` after its kernel ran in place."""
        arguments = arguments_of(part.scop, self.namespace)
        bound = part.kernel.bind(arguments, {}, overlapping=True)
        started = time.perf_counter()
        run_in_place(part.kernel, self.namespace)
        elapsed = time.perf_counter() - started
        return replace(part, seconds=elapsed, sizes=bound.parameters, layouts=part.kernel.layouts)

    def interrupted(self, error: KeyboardInterrupt) -> CancelledError:
        """What to tell a user who pressed stop."""
        if isinstance(error, FinishedError):
            return CancelledError("Interrupted in place: the loops have finished, the result is complete.")
        stage, elapsed = self.progress.stage, self.progress.elapsed
        return CancelledError(f"Interrupted while {stage}, after {elapsed:.1f} s. {_UNTOUCHED}.")


@contextmanager
def _patience() -> Iterator[None]:
    """Say what can be done when the loop as written takes too long, or too much memory, to be compared with."""
    try:
        yield
    except (TimeLimitError, NoMemoryError) as error:
        hint = "Try smaller arrays first, or leave the check out with --no-verify."
        raise VerificationError(f"{error.message} {_UNTOUCHED}.", hint=hint) from None


def _learned(tuning: Tuning) -> str:
    if tuning.remembered and tuning.options:
        return f"{tuning.best.name if tuning.best else ''} is remembered, as the best so far. {_UNTOUCHED}."
    further = "; a later search goes on with the others" if tuning.remembered else ""
    return f"nothing better than the defaults was found so far{further}. {_UNTOUCHED}."


class NoVariantError(VerificationError):
    """Not one variant could be verified; ``comparison`` holds a row with the reason for each."""

    def __init__(self, comparison: Comparison, reason: str = "") -> None:
        what = "No variant could be verified, so none was run on your arrays."
        super().__init__(f"{what} {_UNTOUCHED}.", reason=reason)
        self.comparison = comparison


_FAILURES = {
    "wrong": "computes something else than the loop as written",
    "crashed": "crashed on copies of your arrays",
    "timeout": "took too long on copies of your arrays",
}
_REFUSED = "The order of the loops has no part in that: see to the reason, or try another target (-t)."
_HINTS = {
    "crashed": "The order of the loops was proved legal, so try another target (-t).",
    "timeout": "Try smaller arrays first, or another schedule (-s) or target (-t).",
}
"""What to do about a variant that came to no result, by its status."""


def _wrong_hint(row: VariantRow) -> str:
    """Who is to blame for another result: the target where the order is the one that was written."""
    if row.schedule == "original":
        return "It runs in the order that you wrote, so the target is to blame: try another one (-t)."
    return f"Try -s original -t {row.target}: if that agrees, the schedule is to blame, and else the target."
