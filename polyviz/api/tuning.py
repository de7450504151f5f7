"""Searching for better sizes and switches on the caller's own data, and remembering them."""

from __future__ import annotations

import datetime
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from polyviz.analysis import dependences as find_dependences
from polyviz.analysis.bounds import check_bounds
from polyviz.api.building import build_kernel, signature_of
from polyviz.api.options import read_options
from polyviz.api.remembered import AtHand, memory_key
from polyviz.api.targets import resolve_target
from polyviz.api.told import part_of_call
from polyviz.codegen.calling import handed_back, written_arrays
from polyviz.errors import OptionError
from polyviz.mapping import DEVICE_TARGETS
from polyviz.model.techniques import switches
from polyviz.model.tuning import Trial, Tuning
from polyviz.model.words import plural
from polyviz.runtime.binding import Binder
from polyviz.runtime.layouts import layout_notes
from polyviz.runtime.machine import thread_count
from polyviz.runtime.original import original_of
from polyviz.runtime.race import Race
from polyviz.runtime.specialising import turned_on
from polyviz.runtime.stages import reporting
from polyviz.runtime.variants import Baseline
from polyviz.runtime.worker import Worker, shared_worker
from polyviz.scheduling.registry import option_values, scheduler_options
from polyviz.tuning.candidates import Candidate, Dimension, Space
from polyviz.tuning.live import Live
from polyviz.tuning.memory import Entry, Memory, element_type
from polyviz.tuning.search import INTERRUPTED, Search
from polyviz.tuning.strategies import make_strategy

if TYPE_CHECKING:
    from collections.abc import Mapping

    from polyviz.model.dependences import Dependences
    from polyviz.model.plan import Plan
    from polyviz.model.program import FloatingPoint, Program
    from polyviz.model.scop import Scop
    from polyviz.runtime.bound import Bound
    from polyviz.runtime.kernel import Kernel
    from polyviz.runtime.race import Progress

DEFAULT_SECONDS = 20.0
_REMEMBERED = 1000
"""How many candidates that are no better a file holds at most: the latest."""


def tune(
    source: object,
    *arguments: Any,
    seconds: float = DEFAULT_SECONDS,
    schedule: str = "pluto",
    target: str = "auto",
    strategy: str = "climb",
    contract: FloatingPoint = "reassociate",
    remember: bool = True,
    sizes: Mapping[str, int] | None = None,
    namespace: Mapping[str, Any] | None = None,
    time_limit: float = 60.0,
    progress: Progress | None = None,
    worker: Worker | None = None,
    **options: Any,
) -> Tuning:
    """Look for faster options around the model's defaults, for ``seconds``, on copies of ``arguments``.

    Tried are tile sizes, the techniques of :func:`polyviz.techniques`, the number of threads and the options of the
    scheduler, one candidate after the other by a ``strategy`` (``climb`` or ``sample``). A candidate counts only when
    every output agreed with the loop as written and the clock tells it from the best before. ``options`` are held
    fixed. What is found is remembered on disk for this machine, these loops and sizes of this order of magnitude, and
    used by later compilations; with ``remember=False``, or with ``options``, it is only reported. An interrupt ends the
    search and keeps what was learned; a later search goes on from there, with what nobody tried yet.

    Raises OptionError, VerificationError when not even the defaults agree, and what ``compare`` raises.
    """
    fixed = {**options, "contract": contract, "tuned": False}
    read_options(fixed)
    resolved = _checked(seconds, schedule, resolve_target(target))
    way = make_strategy(strategy)
    signature = signature_of(source)
    scop = part_of_call(source, signature, arguments, sizes=sizes, namespace=namespace)
    bound = Binder(scop, signature).bind(arguments, {})
    check_bounds(scop, dict(bound.parameters), bound.shapes)
    builder = _Builder(scop, find_dependences(scop), source, schedule, resolved, fixed, namespace, bound)
    race = Race(bound.given, bound.parameters, written_arrays(scop), handed_back(scop), 1, time_limit)
    original = Baseline(original_of(scop, source, namespace), "numba")
    live = Live(race, worker or shared_worker(), original, builder.program)
    record = _Record(builder, remember=remember and not options, seconds=seconds)
    space = record.ordered(_space(builder, options))
    with reporting("pv.tune", progress) as report:
        search = Search(
            space=space,
            strategy=way,
            executor=live,
            seconds=seconds,
            progress=report,
            learned=lambda _: record.keep(search.trials),
            first=record.earlier(space),
        )
        ended = search.run()
    if len(search.trials) > 1:  # what was remembered has raced again by then
        record.keep(search.trials)
    return Tuning(
        name=scop.name,
        schedule=schedule,
        target=resolved,
        sizes=dict(bound.parameters),
        strategy=strategy,
        trials=tuple(search.trials),
        ended=ended,
        elapsed=search.elapsed,
        interrupted=ended == INTERRUPTED,
        remembered=record.place,
        notes=(*scop.notes, *layout_notes(bound.given, turned_on([resolved], scop)), *live.notes, *record.notes),
    )


def _checked(seconds: object, schedule: object, target: str) -> str:
    """``target``, when there is something to tune with these; raises OptionError."""
    if not isinstance(seconds, int | float) or isinstance(seconds, bool) or not 0 < seconds < float("inf"):
        raise OptionError(f"The time for tuning is a positive number of seconds, not {seconds!r}.")
    if not isinstance(schedule, str) or "{" in schedule:
        raise OptionError("Tuning needs a scheduler's name, since it tries the scheduler's options too.")
    scheduler_options(schedule)
    if target in DEVICE_TARGETS:
        raise OptionError(f"Tuning is for processors, and the target {target!r} is a device.")
    return target


@dataclass(frozen=True, slots=True)
class _Builder:
    """Makes kernels of candidates."""

    scop: Scop
    dependences: Dependences
    source: object
    schedule: str
    target: str
    fixed: Mapping[str, Any]
    namespace: Mapping[str, Any] | None
    bound: Bound

    def kernel(self, candidate: Candidate) -> Kernel:
        return build_kernel(
            self.scop,
            self.dependences,
            self.source,
            schedule=self.schedule,
            target=self.target,
            namespace=self.namespace,
            at_hand=AtHand.of(self.bound),
            **{**self.fixed, **candidate.keywords},
        )

    def program(self, candidate: Candidate) -> Program:
        return self.kernel(candidate).program_for(self.bound)


def _space(builder: _Builder, given: Mapping[str, Any]) -> Space:
    """What can be tried beside the options that are ``given``."""
    cores = thread_count().count
    counts = sorted({1, max(1, cores // 2)} - {cores})
    dimensions = [*_of_scheduler(builder.schedule), Dimension("threads", (None, *counts), None)]
    plan = builder.kernel(Candidate()).plan
    dimensions += [Dimension(name, (True, False, *_shapes(name, plan)), True) for name in switches()]
    free = tuple(one for one in dimensions if one.name not in given)
    return Space(free, _tile_of(plan), tiles="tile" not in given)


def _shapes(name: str, plan: Plan) -> tuple[tuple[int, int], ...]:
    """Other shapes of register tiles, where the plan has some."""
    if name != "register_tile" or not plan.register_tiles:
        return ()
    return plan.register_tiles[0].processor.tile_shapes()


def _of_scheduler(name: str) -> list[Dimension]:
    """Those options of the scheduler that have a few values; what it is for is settled by the target of the kernel."""
    values = {option: choices for option, choices in option_values(name).items() if option != "target"}
    return [
        Dimension(option, values[option], default)
        for option, default in scheduler_options(name).items()
        if option in values
    ]


def _tile_of(plan: Plan) -> tuple[int, ...]:
    """The sizes of the deepest tiled band."""
    details = [decision.details or {} for decision in plan.decisions if decision.step == "tile"]
    found = [sizes for one in details if isinstance(sizes := one.get("sizes"), tuple)]
    return max(found, key=len, default=())


@dataclass(slots=True)
class _Record:
    """What is kept on disk of a search."""

    builder: _Builder
    remember: bool
    seconds: float
    place: str = ""
    notes: list[str] = field(default_factory=list)
    memory: Memory = field(default_factory=Memory)
    found: Entry | None = None

    def ordered(self, space: Space) -> Space:
        """``space`` where what earlier searches tried in vain comes last."""
        if not self.remember:
            return space
        bound = self.builder.bound
        recalled = self.memory.recall(self._key(), bound.parameters, element_type(bound.types))
        if recalled.note:
            self.notes.append(recalled.note)
        self.found = recalled.entry
        known = frozenset(Candidate.of(options) for options in self.found.others) if self.found else frozenset()
        if known:
            count = plural(len(known), "candidate")
            self.notes.append(f"{count} that earlier searches found no better came last, if at all")
        return replace(space, known=known)

    def earlier(self, space: Space) -> tuple[Candidate, ...]:
        """What was found before, to be tried first, where it is in ``space``."""
        if self.found is None or not self.found.options:
            return ()
        candidate = Candidate.of(self.found.options)
        if not space.holds(candidate):
            self.notes.append(f"what tuning remembered fits another version and is ignored: {candidate}")
            return ()
        return (candidate,)

    def keep(self, trials: list[Trial]) -> None:
        """Write down the best of ``trials``."""
        accepted = [trial for trial in trials if trial.status == "accepted"]
        if not self.remember or not accepted:
            return
        best, bound = accepted[-1], self.builder.bound
        entry = Entry(
            options=dict(best.options),
            sizes=dict(bound.parameters),
            element=element_type(bound.types),
            speedup=best.speedup or 1.0,
            tried=len(trials),
            day=datetime.date.today().isoformat(),
            others=self._others(trials, best),
        )
        key = self._key()
        try:
            self.memory.keep(key, entry)
        except OSError as error:
            self.notes = [
                f"nothing is remembered, since the cache cannot be written: {error.strerror or error}"
            ]
            return
        self.place = str(self.memory.path(key))

    def _others(self, trials: list[Trial], best: Trial) -> tuple[Mapping[str, Any], ...]:
        """What was tried, in the search and before it, and is not the best."""
        before = self.found.others if self.found else ()
        every = dict.fromkeys(Candidate.of(options) for options in (*before, *(trial.options for trial in trials)))
        inferior = [one.keywords for one in every if one.options and one != Candidate.of(best.options)]
        return tuple(inferior[-_REMEMBERED:])

    def _key(self) -> Any:
        builder = self.builder
        return memory_key(builder.scop, builder.schedule, builder.target, str(builder.fixed["contract"]))
