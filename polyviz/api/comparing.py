"""Several schedules on several targets against the loop as written, verified and timed in one race."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from polyviz.analysis import dependences as find_dependences
from polyviz.analysis.bounds import check_bounds
from polyviz.api.compiling import (
    ScheduleChoice,
    Tile,
    build_kernel,
    check_options,
    named_schedules,
    signature_of,
)
from polyviz.api.extracting import part_of
from polyviz.api.targets import resolve_target
from polyviz.codegen.calling import result_names, written_arrays
from polyviz.errors import OptionError, PolyvizError, ToolchainError
from polyviz.model.display import Displayable
from polyviz.model.measurement import ComparisonData, Status, VariantRow
from polyviz.runtime.binding import Binder
from polyviz.runtime.machine import this_machine
from polyviz.runtime.original import original_of
from polyviz.runtime.race import Entrant, Progress, Race, fastest, with_speedups
from polyviz.runtime.variants import Baseline, Engine
from polyviz.runtime.worker import Worker, shared_worker

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import plotly.graph_objects

    from polyviz.model.dependences import Dependences
    from polyviz.model.program import FloatingPoint, Program
    from polyviz.model.scop import Scop
    from polyviz.runtime.binding import Bound
    from polyviz.runtime.kernel import Kernel

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


def compare(
    source: object,
    *arguments: Any,
    schedules: Sequence[ScheduleChoice] | Mapping[str, ScheduleChoice] = DEFAULT_SCHEDULES,
    targets: Sequence[str] | None = None,
    baselines: Sequence[str] = ("numba",),
    repeats: int = 7,
    sizes: Mapping[str, int] | None = None,
    tile: Tile = None,
    register_tile: bool = True,
    pack: bool = True,
    interleave: bool = True,
    floating_point: FloatingPoint = "reassociate",
    verify: bool = True,
    namespace: Mapping[str, Any] | None = None,
    time_limit: float = 60.0,
    progress: Progress | None = None,
    worker: Worker | None = None,
) -> Comparison:
    """Race ``schedules`` x ``targets`` and the ``baselines`` on ``arguments``, which stay as they are.

    ``schedules`` may map the names that the table shows to schedules. A variant that is refused, fails, crashes, hangs
    (``time_limit`` seconds per run), computes something else, or has no target here (``unavailable``) is a row with
    its reason, never a time. ``baselines`` are engines for the loop as written: ``python``, ``numba``,
    ``numba-parallel``; the first one is what speedups refer to. ``tile``, ``register_tile``, ``pack``,
    ``interleave`` and ``floating_point`` are those of ``compile``, for every variant.

    Raises OptionError, and ExtractionError or ArgumentError when nothing can run at all.
    """
    check_options(floating_point, tile, register_tile=register_tile, pack=pack, interleave=interleave)
    _check_limits(repeats, time_limit)
    scop = part_of(source, sizes=sizes, namespace=namespace)
    dependences = find_dependences(scop)
    engines = [_engine(name) for name in dict.fromkeys(_several(baselines))]
    bound = Binder(scop, signature_of(source)).bind(arguments, {})
    check_bounds(scop, dict(bound.parameters), bound.shapes)
    switches = (register_tile, pack, interleave)
    field = _Field(scop, dependences, source, tile, *switches, floating_point, namespace, bound.parameters)
    resolved = _resolved(_several(targets or ("auto",)))
    entries = [
        field.enter(name, choice, target, missing)
        for name, choice in named_schedules(schedules).items()
        for target, missing in resolved.items()
    ]
    kernels = {entry.label: entry.kernel for entry in entries if entry.kernel is not None}
    original = original_of(scop, source, namespace)
    entrants = [_baseline_entrant(Baseline(original, engine)) for engine in engines]
    entrants += [entry.entrant(bound) for entry in entries]
    race = Race(
        bound.given, bound.parameters, written_arrays(scop), result_names(scop), repeats, time_limit, verify
    )
    reference = Baseline(original, "numba")
    rows, samples, notes = race.run(worker or shared_worker(), reference, entrants, progress)
    baseline = rows[0].label if engines else None
    data = ComparisonData(
        name=scop.name,
        rows=with_speedups(rows, samples, baseline),
        baseline=baseline,
        best=fastest(rows, samples),
        machine="; ".join(this_machine().describe().splitlines()),
        sizes=dict(bound.parameters),
        notes=(*scop.notes, *notes) if verify else (*scop.notes, *notes, "nothing was verified, as asked"),
    )
    contracts = {row.label: row.floating_point for row in rows}
    verified = {label: kernel.with_floating_point(contracts[label]) for label, kernel in kernels.items()}
    return Comparison(data, verified)


@dataclass(frozen=True, slots=True)
class _Entry:
    """One variant on its way into the race."""

    schedule: str
    target: str
    kernel: Kernel | None
    error: PolyvizError | None = None

    @property
    def label(self) -> str:
        return f"{self.schedule}/{self.target}"

    def entrant(self, bound: Any) -> Entrant:
        row = VariantRow(self.schedule, self.target, "ok", None)
        if self.kernel is None:
            return self._left_out(self.error)
        try:
            program = self.kernel.program_for(bound)
        except PolyvizError as error:
            return self._left_out(error)
        note = "; ".join(program.notes)
        contract = self.kernel.floating_point
        row = VariantRow(
            self.schedule, self.target, "ok", None, note=note, source=program.text, floating_point=contract
        )
        return Entrant(row, program, careful_program(self.kernel, bound))

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
    tile: Tile
    register_tile: bool
    pack: bool
    interleave: bool
    floating_point: FloatingPoint
    namespace: Mapping[str, Any] | None
    sizes: Mapping[str, int]

    def enter(self, name: str, choice: ScheduleChoice, target: str, missing: ToolchainError | None) -> _Entry:
        if missing is not None:
            return _Entry(name, target, None, missing)
        try:
            return _Entry(name, target, self.kernel(choice, target))
        except OptionError:
            raise  # a name that does not exist is the caller's mistake, not a property of the loop
        except PolyvizError as error:
            return _Entry(name, target, None, error)

    def kernel(self, choice: ScheduleChoice, target: str) -> Kernel:
        return build_kernel(
            self.scop,
            self.dependences,
            self.source,
            schedule=choice,
            target=target,
            tile=self.tile,
            register_tile=self.register_tile,
            pack=self.pack,
            interleave=self.interleave,
            floating_point=self.floating_point,
            namespace=self.namespace,
            at_hand=self.sizes,
        )


def _check_limits(repeats: object, time_limit: float) -> None:
    if not isinstance(repeats, int) or repeats < 1:
        raise OptionError(f"The number of repeats is a whole number of at least 1, not {repeats!r}.")
    if not time_limit > 0:
        raise OptionError(f"The time limit is a positive number of seconds, not {time_limit!r}.")


def _several(names: Sequence[Any]) -> Sequence[Any]:
    return (names,) if isinstance(names, str) else names


def _resolved(targets: Sequence[str]) -> dict[str, ToolchainError | None]:
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


def _baseline_entrant(baseline: Baseline) -> Entrant:
    row = VariantRow(
        "as written", baseline.engine, "ok", None, source=baseline.original.text, is_baseline=True
    )
    return Entrant(row, baseline)
