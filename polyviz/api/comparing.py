"""Several schedules on several targets against the loop as written, verified and timed in one race."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from polyviz.analysis import dependences as find_dependences
from polyviz.analysis.bounds import check_bounds
from polyviz.analysis.rounding import rounded_by_libraries
from polyviz.api.building import ScheduleChoice, build_kernel, is_scheduler, signature_of
from polyviz.api.compiling import named_schedules
from polyviz.api.options import OWN_NAMES, Tile, read_options
from polyviz.api.remembered import AtHand
from polyviz.api.rooflines import roofline_of
from polyviz.api.targets import resolve_target, second_choice
from polyviz.api.told import part_of_call
from polyviz.codegen.calling import handed_back, written_arrays
from polyviz.errors import OptionError, OutOfBoundsError, PolyvizError, ToolchainError
from polyviz.model.display import Displayable
from polyviz.model.measurement import ComparisonData, Status, VariantRow
from polyviz.model.program import CONTRACTS, Program
from polyviz.model.registry import near
from polyviz.model.techniques import switched_off, techniques
from polyviz.model.words import listed_notes
from polyviz.runtime.host_copies import bind_on_host
from polyviz.runtime.layouts import layout_notes
from polyviz.runtime.machine import this_machine
from polyviz.runtime.original import original_of
from polyviz.runtime.outside import located
from polyviz.runtime.race import (
    Entrant,
    Progress,
    Race,
    fastest,
    interval_notes,
    speedup_notes,
    with_speedups,
)
from polyviz.runtime.specialising import turned_on
from polyviz.runtime.stages import reporting
from polyviz.runtime.variants import Baseline, Engine, Variant
from polyviz.runtime.worker import Worker, shared_worker

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import plotly.graph_objects

    from polyviz.model.dependences import Dependences
    from polyviz.model.program import FloatingPoint
    from polyviz.model.scop import Scop
    from polyviz.runtime.bound import Bound
    from polyviz.runtime.kernel import Kernel
    from polyviz.runtime.original import Original

ENGINES: tuple[Engine, ...] = ("python", "numba", "numba-parallel")
DEFAULT_SCHEDULES = ("original", "isl", "pluto")


@dataclass(frozen=True, slots=True, repr=False)
class Comparison(Displayable):
    """The outcome of a race: ``data`` for the views, ``kernels`` by label for those who want to go on with one."""

    data: ComparisonData
    kernels: Mapping[str, Kernel]

    @property
    def rows(self) -> tuple[VariantRow, ...]:
        """One row per variant and baseline, in the order asked for."""
        return self.data.rows

    @property
    def best(self) -> str | None:
        """The label of the fastest verified variant; None when the fastest cannot be told apart."""
        return self.data.best

    def figure(self) -> plotly.graph_objects.Figure:
        """The medians with their intervals as a plotly bar chart."""
        from polyviz.views.charts import figure

        return figure(self.data)


@dataclass(frozen=True, slots=True)
class Contender:
    """What a race builds a kernel from: ``name`` begins its label, ``options`` are those of ``compile``."""

    name: str
    schedule: ScheduleChoice
    target: str
    options: Mapping[str, Any]
    missing: ToolchainError | None = None


@dataclass(frozen=True, slots=True)
class RaceOptions:
    """How a race is run: see ``compare``.

    ``distinct``: a program that is the first one once more is not run again. ``called`` is who runs it, for progress.
    """

    baselines: Sequence[str] = ("numba",)
    repeats: int = 7
    sizes: Mapping[str, int] | None = None
    verify: bool = True
    namespace: Mapping[str, Any] | None = None
    time_limit: float = 60.0
    progress: Progress | None = None
    worker: Worker | None = None
    distinct: bool = False
    called: str = "pv.compare"


def compare(
    source: object,
    *arguments: Any,
    schedules: Sequence[ScheduleChoice] | Mapping[str, ScheduleChoice] = DEFAULT_SCHEDULES,
    targets: Sequence[str] | None = None,
    baselines: Sequence[str] = ("numba",),
    repeats: int = 7,
    sizes: Mapping[str, int] | None = None,
    tile: Tile = None,
    threads: int | None = None,
    contract: FloatingPoint = "reassociate",
    verify: bool = True,
    namespace: Mapping[str, Any] | None = None,
    time_limit: float = 60.0,
    progress: Progress | None = None,
    worker: Worker | None = None,
    **options: Any,
) -> Comparison:
    """Race ``schedules`` x ``targets`` and the ``baselines`` on ``arguments``, which stay as they are.

    Arrays of CuPy are copied to the host first. ``schedules`` may map the names that the table shows to schedules. A
    variant that is refused, fails, crashes, hangs (``time_limit`` seconds per run), computes something else, or has no
    target here (``unavailable``) is a row with its reason, never a time. ``baselines`` are engines for the loop as
    written: ``python``, ``numba``, ``numba-parallel``; the first one is what speedups refer to. ``tile``, ``threads``,
    ``contract`` and the techniques in ``options`` are those of ``compile``, for every variant; under the contract
    ``strict`` a variant has to agree bit for bit.

    Raises OptionError, and ExtractionError or ArgumentError when nothing can run at all.
    """
    given = {
        "tile": tile,
        "threads": threads,
        "contract": options.pop("floating_point", contract),  # the name that it had first
        **options,
    }
    _refuse_others(read_options(given).scheduler)
    wanted = several(targets or ("auto",))
    automatic = resolve_target("auto") if "auto" in wanted else None
    contenders = [
        Contender(name, choice, "auto" if target == automatic else target, given, missing)
        for name, choice in named_schedules(schedules).items()
        for target, missing in resolved_targets(wanted).items()
    ]
    how = RaceOptions(baselines, repeats, sizes, verify, namespace, time_limit, progress, worker)
    found = run_race(source, arguments, contenders, how)
    data = found.data
    instead = [f"target {one.text}" for one in second_choice("auto", automatic or "")]
    return replace(found, data=replace(data, notes=(*data.notes, *instead, *_without(given))))


def _without(given: Mapping[str, Any]) -> Iterator[str]:
    """Which techniques no variant has."""
    off = switched_off(techniques())
    names = [name for name, value in given.items() if value is not None and off.get(name) == value]
    if names:
        yield f"without {', '.join(names)}, as asked: pv.ablation races the loops with and without each of them"


def _refuse_others(options: Mapping[str, Any]) -> None:
    """Refuse options of schedulers: several of them race, and each has its own."""
    for name in options:
        meant = near(name, [*techniques(), *OWN_NAMES, "schedules", "targets", "repeats"])
        hint = meant or ": options of a scheduler belong into pv.schedule, whose result can race"
        raise OptionError(f"compare has no option `{name}`{hint}.")


def run_race(
    source: object, arguments: tuple[Any, ...], contenders: Sequence[Contender], how: RaceOptions
) -> Comparison:
    """Verify and time ``contenders`` and the baselines; raises what ``compare`` raises."""
    _check_limits(how.repeats, how.time_limit)
    with reporting(how.called, how.progress) as report:
        return _raced(source, arguments, contenders, replace(how, progress=report))


def _raced(
    source: object, arguments: tuple[Any, ...], contenders: Sequence[Contender], how: RaceOptions
) -> Comparison:
    signature, named = signature_of(source), all(is_scheduler(one.schedule) for one in contenders)
    scop = part_of_call(source, signature, arguments, sizes=how.sizes, namespace=how.namespace, by_values=named)
    dependences = find_dependences(scop)
    engines = [_engine(name) for name in dict.fromkeys(several(how.baselines))]
    bound, moved = bind_on_host(scop, signature, arguments)
    check_bounds(scop, dict(bound.parameters), bound.shapes)
    field = _Field(scop, dependences, source, how.namespace, AtHand.of(bound), rounding(scop, bound))
    entries = [field.enter(contender) for contender in contenders]
    original = original_of(scop, source, how.namespace)
    variants = [entry.entrant(bound, field.rounded) for entry in entries]
    entrants = [_baseline_entrant(Baseline(original, engine)) for engine in engines]
    entrants += _with_twins(variants) if how.distinct else variants
    kernels = {entry.label: entry.kernel for entry in entries if entry.kernel is not None}
    race = Race(
        bound.given,
        bound.parameters,
        written_arrays(scop),
        handed_back(scop),
        how.repeats,
        how.time_limit,
        how.verify,
    )
    reference = Baseline(original, "numba")
    rows, samples, notes = race.run(how.worker or shared_worker(), reference, entrants, how.progress)
    baseline = rows[0].label if engines else None
    with_ratios = with_speedups(rows, samples, baseline)
    data = ComparisonData(
        name=scop.name,
        rows=with_ratios,
        baseline=baseline,
        best=fastest(rows, samples),
        machine="; ".join(this_machine().describe().splitlines()),
        sizes=dict(bound.parameters),
        notes=(
            *_outside_notes(rows, scop, original, bound),
            *scop.notes,
            *moved,
            *layout_notes(bound.given, turned_on((entry.target for entry in entries), scop)),
            *notes,
            *speedup_notes(with_ratios, baseline),
            *interval_notes(samples),
            *_contract_notes(rows, verified=how.verify),
        ),
        roofline=roofline_of(scop, bound),
    )
    contracts = {row.label: row.floating_point for row in rows}
    verified = {label: kernel.with_floating_point(contracts[label]) for label, kernel in kernels.items()}
    return Comparison(data, verified)


def _outside_notes(rows: Sequence[VariantRow], scop: Scop, original: Original, bound: Bound) -> Iterator[str]:
    """Which iteration leaves an array, if one does."""
    found = next((row.note for row in rows if row.outside and not row.is_baseline), None)
    if found is not None:
        yield f"nothing to compare: {located(OutOfBoundsError(found), scop, original, bound.given).message}"


def _contract_notes(rows: Sequence[VariantRow], *, verified: bool) -> Iterator[str]:
    """Which contracts hold, and how outputs were compared."""
    for contract in dict.fromkeys(row.floating_point for row in rows if not row.is_baseline):
        yield f"contract {contract}: {CONTRACTS[contract]}"
    if not verified:
        yield "nothing was verified, as asked"


def rounding(scop: Scop, bound: Bound) -> str:
    """Why outputs under the strict contract may differ in their last bits here; empty where they may not."""
    functions = rounded_by_libraries(scop)
    if functions:
        return f"the last bit of {', '.join(functions)} is that of the mathematical library"
    if any(kind.dtype.startswith("complex") for kind in bound.types.values()):
        return "compilers multiply and divide complex numbers in different ways"
    return ""


@dataclass(frozen=True, slots=True)
class _Entry:
    """One variant on its way into the race; ``intended`` is its target unless a substitute takes over."""

    schedule: str
    intended: str
    kernel: Kernel | None
    error: PolyvizError | None = None

    @property
    def target(self) -> str:
        return self.intended if self.kernel is None else self.kernel.target

    @property
    def label(self) -> str:
        return f"{self.schedule}/{self.target}"

    def entrant(self, bound: Bound, rounded: str) -> Entrant:
        if self.kernel is None:
            return self._left_out(self.error)
        try:
            if self.kernel.has_substitute:
                self.kernel.prepare(bound)
            program = self.kernel.program_for(bound)
        except PolyvizError as error:
            return self._left_out(error)
        note = listed_notes(program.notes)
        contract = self.kernel.floating_point
        row = VariantRow(
            self.schedule, self.target, "ok", None, note=note, source=program.text, floating_point=contract
        )
        return Entrant(row, program, careful_program(self.kernel, bound), rounded)

    def _left_out(self, error: PolyvizError | None) -> Entrant:
        assert error is not None
        status: Status = "unavailable" if isinstance(error, ToolchainError) else "refused"
        note = " ".join(filter(None, (error.message, error.reason if status == "unavailable" else "")))
        return Entrant(VariantRow(self.schedule, self.target, status, None, note=note), None)


def careful_program(kernel: Kernel, bound: Bound) -> Program | None:
    """The kernel's program under the strict contract, None where it has no other."""
    if kernel.floating_point == "strict" or kernel.target == "python":
        return None
    return kernel.with_floating_point("strict").program_for(bound)


@dataclass(frozen=True, slots=True)
class _Field:
    """What all variants share."""

    scop: Scop
    dependences: Dependences
    source: object
    namespace: Mapping[str, Any] | None
    at_hand: AtHand
    rounded: str

    def enter(self, contender: Contender) -> _Entry:
        name, target = contender.name, contender.target
        if contender.missing is not None:
            return _Entry(name, target, None, contender.missing)
        target = resolve_target(target)
        try:
            return _Entry(name, target, self.kernel(contender))
        except OptionError:
            raise  # a name that does not exist is the caller's mistake, not a property of the loop
        except PolyvizError as error:
            return _Entry(name, target, None, error)

    def kernel(self, contender: Contender) -> Kernel:
        return build_kernel(
            self.scop,
            self.dependences,
            self.source,
            schedule=contender.schedule,
            target=contender.target,
            namespace=self.namespace,
            at_hand=self.at_hand,
            **contender.options,
        )


def _check_limits(repeats: object, time_limit: float) -> None:
    if not isinstance(repeats, int) or repeats < 1:
        raise OptionError(f"The number of repeats is a whole number of at least 1, not {repeats!r}.")
    if not time_limit > 0:
        raise OptionError(f"The time limit is a positive number of seconds, not {time_limit!r}.")


def several(names: Sequence[Any]) -> Sequence[Any]:
    """One name as a sequence of one."""
    return (names,) if isinstance(names, str) else names


def resolved_targets(targets: Sequence[str]) -> dict[str, ToolchainError | None]:
    """Every target by its own name, with what is missing where it cannot run here."""
    resolved: dict[str, ToolchainError | None] = {}
    for target in targets:
        try:
            resolved[resolve_target(target)] = None
        except ToolchainError as error:
            resolved[target] = error
    return resolved


def _engine(name: str) -> Engine:
    for engine in ENGINES:
        if engine == name:
            return engine
    raise OptionError(f"Unknown baseline {name!r}; known: {', '.join(ENGINES)}.")


def _with_twins(entrants: Sequence[Entrant]) -> Iterator[Entrant]:
    """``entrants``, where those with the program of the first one say so; on a device each is counted by itself."""
    first, *others = entrants
    yield first
    for entrant in others:
        yield replace(entrant, twin=first.row.label) if _are_one(first.variant, entrant.variant) else entrant


def _are_one(first: Variant | None, other: Variant | None) -> bool:
    if not (isinstance(first, Program) and isinstance(other, Program)):
        return False
    return first.device is None and other.runs_as(first)


def _baseline_entrant(baseline: Baseline) -> Entrant:
    row = VariantRow(
        "as written", baseline.engine, "ok", None, source=baseline.original.text, is_baseline=True
    )
    return Entrant(row, baseline)
