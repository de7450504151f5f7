"""From source to a kernel: extract, analyse, schedule, map, generate."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import TYPE_CHECKING, Any, cast, overload

import islpy as isl

from polyviz.analysis import dependences as find_dependences
from polyviz.analysis import (
    transposable,
    with_extremes,
    with_loops_rolled_up,
    with_private_arrays,
    with_quotients_counted,
    with_small_arrays_as_variables,
    with_strips_joined,
    with_transposed_arrays,
    with_values_in_place,
)
from polyviz.api.by_call import OpenKernel, Readings, RereadKernel, is_open
from polyviz.api.extracting import part_of
from polyviz.api.options import OWN_NAMES, BuildOptions, Tile, read_options
from polyviz.api.remembered import AtHand, recalled
from polyviz.api.targets import AUTOMATIC, resolve_target, second_choice
from polyviz.editing import Edit
from polyviz.errors import ExtractionError, OptionError
from polyviz.frontend import may_be_none
from polyviz.mapping import DEVICE_TARGETS, make_plan
from polyviz.mapping.cpu import SOURCE_ORDER
from polyviz.model.device import LARGEST_BLOCK
from polyviz.model.exclusion import exclusive
from polyviz.model.schedule import Decision, Schedule
from polyviz.model.superposition import Superposition
from polyviz.model.techniques import techniques_for
from polyviz.runtime.kernel import Kernel
from polyviz.runtime.machine import this_machine
from polyviz.runtime.original import original_of, plain_function
from polyviz.runtime.specialising import OtherPlans, Turned
from polyviz.scheduling import adopt
from polyviz.scheduling import schedule as find_schedule
from polyviz.scheduling.registry import insist_on_options, scheduler_options

if TYPE_CHECKING:
    from polyviz.model.dependences import Dependences
    from polyviz.model.plan import Plan
    from polyviz.model.program import FloatingPoint, Overlap
    from polyviz.model.scop import Scop

ScheduleChoice = str | Schedule | Superposition | Edit | isl.Schedule | isl.UnionMap


def compile(
    source: object,
    *,
    schedule: ScheduleChoice = "pluto",
    target: str = "auto",
    sizes: Mapping[str, int] | None = None,
    tile: Tile = None,
    threads: int | None = None,
    contract: FloatingPoint = "reassociate",
    overlap: Overlap = "refuse",
    namespace: Mapping[str, Any] | None = None,
    **options: Any,
) -> Kernel:
    """A kernel that does what ``source`` does, in another order.

    ``source`` is a function, text, an extracted part or a kernel. ``schedule`` is a scheduler's name (its options go
    into ``options``) or a schedule of one's own; ``tile`` gives tile sizes (one number: the same for
    every loop), False switches tiling off; ``threads`` bounds the number of threads (None: one per core).
    ``contract`` is that of floating point: ``strict`` keeps the operations of each element as they are written, bit for
    bit; ``reassociate`` lets sums and products be worked out in another order and products be fused with sums.
    Arguments that share memory are refused, or with ``overlap="as-written"`` run on by the loop in its own order, with
    a warning.
    ``options`` also switch techniques off by name (``register_tile=False``); :func:`polyviz.techniques` lists them.
    ``register_tile=(6, 4)`` asks for tiles of 6 rows of 4 vector registers.
    Where the text leaves open how many dimensions an array has, or asks whether an argument is None, calls tell, as for
    numba; what is refused whatever they are is refused here. A block size or stride among the arguments is compiled
    for the first values that calls give it, where loops are affine only for constants.
    ``device`` is a mapping with those of kernels on a device, such as ``{"stage": False}`` (``DeviceOptions``).

    Raises ExtractionError, LegalityError, OptionError, ToolchainError.

    >>> def scale(A, factor):
    ...     for i in range(A.shape[0]):
    ...         A[i] = factor * A[i]
    >>> import numpy as np
    >>> values = np.arange(4.0)
    >>> compile(scale, schedule="original", target="python")(values, 2.0)
    >>> values
    array([0., 2., 4., 6.])
    """
    contract = options.pop("floating_point", contract)  # the name that it had first
    given = {"tile": tile, "threads": threads, "contract": contract, "overlap": overlap, **options}
    read_options(given)
    extracted = partial(_extracted, source, sizes, namespace)

    def built(scop: Scop, made: type[Kernel] = Kernel) -> Kernel:
        found = find_dependences(scop)
        how = {"schedule": schedule, "target": target, "namespace": namespace, "made": made, **given}
        return build_kernel(scop, found, source, **how)

    signature = None if isinstance(source, Kernel) else signature_of(source)
    asked = may_be_none(source) if signature is not None else frozenset[str]()
    named = is_scheduler(schedule)
    readings = Readings(lambda ranks: built(extracted(ranks)), signature, asked, by_values=named)
    try:
        scop = extracted({})
    except ExtractionError as refusal:
        if is_open(refusal, signature, extracted, asked):
            return cast("Kernel", OpenKernel(source, refusal, readings))
        raise
    kernel = built(scop, RereadKernel)
    if isinstance(kernel, RereadKernel) and signature is not None:
        kernel.readings = readings
    return kernel


def _extracted(
    source: object, sizes: Mapping[str, int] | None, namespace: Mapping[str, Any] | None, ranks: Mapping[str, int]
) -> Scop:
    return part_of(source, sizes=sizes, namespace=namespace, ranks=ranks)


@exclusive
def build_kernel(
    scop: Scop,
    dependences: Dependences,
    source: object,
    *,
    schedule: ScheduleChoice,
    target: str,
    namespace: Mapping[str, Any] | None = None,
    at_hand: AtHand | None = None,
    made: type[Kernel] = Kernel,
    **options: Any,
) -> Kernel:
    """The kernel for a part that is already analysed; ``options`` are those of ``compile``.

    ``at_hand`` is what is known of the run that comes next, for schedulers that choose by sizes. Under the target
    ``auto`` numba takes over where the C compiler turns out to refuse the program.
    """
    at_hand, resolved = at_hand or AtHand(), resolve_target(target)
    wanted = read_options(options)
    found = recalled(scop, schedule if is_scheduler(schedule) else None, resolved, wanted, at_hand)
    wanted = found.options
    switches_of_plan = dict(wanted.switches)
    for keyword, change in changes(wanted.contract).items():
        if switches_of_plan.pop(keyword, True) and _may_change(schedule, resolved):
            part = change(scop, dependences)
            scop, dependences = part, dependences if part is scop else find_dependences(part)
    if resolved in DEVICE_TARGETS:
        named = isinstance(schedule, str) and is_scheduler(schedule)
        wanted = wanted.of_a_block(scheduler_options(str(schedule)) if named else ())
    told = _scheduler_options(schedule, resolved, wanted.scheduler)
    if not switches_of_plan.pop("group", True) and is_scheduler(schedule):
        told = {**told, "group": False}
    chosen = choose_schedule(scop, dependences, schedule, told, at_hand.sizes)
    planner = _Planner(scop, dependences, chosen, wanted, target, found.decisions, switches_of_plan)

    @exclusive
    def turned(names: frozenset[str], place: str) -> Turned:
        part = with_transposed_arrays(scop, names)
        again = find_dependences(part)
        order = choose_schedule(part, again, schedule, told, at_hand.sizes) if is_scheduler(schedule) else chosen
        other = replace(planner, scop=part, dependences=again, chosen=order)
        return Turned(part, again, other.plan(place), OtherPlans(None, cache(other.without_register_tiles)))

    otherwise = partial(planner.plan, AUTOMATIC[1]) if (target, resolved) == ("auto", AUTOMATIC[0]) else None
    return made(
        scop,
        dependences,
        planner.plan(resolved),
        original_of(scop, source, namespace),
        floating_point=wanted.contract,
        overlap=wanted.overlap,
        signature=signature_of(source),
        others=OtherPlans(otherwise, cache(planner.without_register_tiles), turned, transposable(scop)),
    )


@dataclass(frozen=True, slots=True)
class _Planner:
    """Maps the order ``chosen`` to a target with the ``options`` of ``compile`` and the ``switches`` of techniques.

    ``asked`` is the target that was asked for, ``decisions`` what was decided before.
    """

    scop: Scop
    dependences: Dependences
    chosen: Schedule
    options: BuildOptions
    asked: str
    decisions: tuple[Decision, ...]
    switches: Mapping[str, Any]

    @exclusive
    def plan(self, target: str, **others: Any) -> Plan:
        """The plan for ``target``, with ``others`` among the switches."""
        plan = make_plan(
            self.scop,
            self.dependences,
            self.chosen,
            target,
            tile=self.options.sizes,
            processor=this_machine().processor,
            threads=self.options.threads,
            device=self.options.device,
            contract=self.options.contract,
            **{**self.switches, **others},
        )
        beforehand = (*self.decisions, *second_choice(self.asked, target), *_unused(self.options, target))
        return replace(plan, decisions=(*beforehand, *plan.decisions))

    def without_register_tiles(self, target: str) -> Plan:
        """The plan that leaves every loop to the compiler's vectors."""
        return self.plan(target, register_tile=False)


def changes(contract: FloatingPoint) -> dict[str, Callable[[Scop, Dependences], Scop]]:
    """What is done to the statements of a part before their order is looked for, by the technique's name."""
    return {
        "extremes": with_extremes,
        "reroll": with_loops_rolled_up,
        "substitute": with_values_in_place,
        "join_strips": partial(with_strips_joined, reassociate=contract == "reassociate"),
        "quotients": with_quotients_counted,
        "small_arrays": with_small_arrays_as_variables,
        "private_arrays": with_private_arrays,
    }


def is_scheduler(choice: ScheduleChoice) -> bool:
    """Whether ``choice`` names a scheduler, which looks for an order itself.

    >>> is_scheduler("pluto"), is_scheduler("{ S0[i] -> [-i] }")
    (True, False)
    """
    return isinstance(choice, str) and not _is_isl_text(choice)


def _may_change(schedule: ScheduleChoice, target: str) -> bool:
    """Whether the order is still to be found, for a processor: a schedule of one's own names the part's statements."""
    return is_scheduler(schedule) and schedule != SOURCE_ORDER and target not in DEVICE_TARGETS


def _unused(options: BuildOptions, target: str) -> Iterator[Decision]:
    """What is asked for and means nothing for ``target``; raises OptionError for what can only be meant for a block."""
    if target in DEVICE_TARGETS and options.threads is not None:
        if options.threads > LARGEST_BLOCK:
            raise OptionError(
                f"A block of {options.threads} threads is too large: a block holds at most {LARGEST_BLOCK}.",
                hint="Give the threads of a block per axis, such as threads=(32, 8); a single number bounds the "
                "threads of a processor.",
            )
        text = (
            f"threads={options.threads} bounds the threads of a processor and changes nothing here; those of a block "
            "are given per axis: threads=(32, 8)."
        )
        yield Decision("threads", text)


def _scheduler_options(
    schedule: ScheduleChoice, target: str, options: Mapping[str, Any]
) -> Mapping[str, Any]:
    """``options``; a scheduler that knows devices from processors is told what the schedule is for."""
    if not isinstance(schedule, str) or _is_isl_text(schedule):
        return options
    own = dict.fromkeys((*OWN_NAMES, *techniques_for(device=target in DEVICE_TARGETS)))
    insist_on_options(schedule, options, [*own, "target", "sizes"])
    if target not in DEVICE_TARGETS:
        return options
    return {"target": "gpu", **options} if "target" in scheduler_options(schedule) else options


def signature_of(source: object) -> inspect.Signature | None:
    """The signature of a function or kernel, with its annotations and true defaults."""
    if isinstance(source, Kernel):
        return source.__signature__
    function = plain_function(source)
    return None if function is None else inspect.signature(function)


def choose_schedule(
    scop: Scop,
    dependences: Dependences,
    choice: ScheduleChoice,
    options: Mapping[str, Any],
    at_hand: Mapping[str, int] | None = None,
) -> Schedule:
    """The schedule meant by ``choice``; one of the user's own is checked like any other.

    ``at_hand`` holds the values of parameters in the run that comes next.
    """
    if isinstance(choice, str) and not _is_isl_text(choice):
        return find_schedule(scop, choice, dependences=dependences, **{"sizes": at_hand, **options})
    if options:
        raise OptionError(
            f"A schedule of your own takes no scheduler options, but {', '.join(options)} was given."
        )
    if isinstance(choice, Edit):
        choice = choice.schedule
    if not isinstance(choice, Schedule | Superposition | isl.Schedule | isl.UnionMap | str):
        raise OptionError(
            f"A schedule is a name, a Schedule, an edit, an isl object or isl text, not {choice!r}."
        )
    return adopt(scop, choice, dependences=dependences)


def named_schedules(
    schedules: Sequence[ScheduleChoice] | Mapping[str, ScheduleChoice],
) -> dict[str, ScheduleChoice]:
    """Every choice under a name of its own; a scheduler that is named twice counts once.

    >>> list(named_schedules(["isl", "{ S0[i] -> [i] }", "isl", "{ S0[i] -> [2i] }"]))
    ['isl', 'user', 'user 2']
    """
    if isinstance(schedules, Mapping):
        return dict(schedules)
    named: dict[str, ScheduleChoice] = {}
    for choice in (schedules,) if isinstance(schedules, str) else schedules:
        name = _schedule_name(choice)
        if name in named and isinstance(choice, str) and not _is_isl_text(choice):
            continue
        number = 2
        while name in named:
            name, number = f"{_schedule_name(choice)} {number}", number + 1
        named[name] = choice
    return named


def _schedule_name(choice: ScheduleChoice) -> str:
    if isinstance(choice, str) and not _is_isl_text(choice):
        return choice
    if isinstance(choice, Edit):
        choice = choice.schedule
    return choice.scheduler if isinstance(choice, Schedule) else "user"


def _is_isl_text(text: str) -> bool:
    return "{" in text


@overload
def optimize(function: Callable[..., Any], /) -> Kernel: ...
@overload
def optimize(
    *, schedule: ScheduleChoice = "pluto", target: str = "auto", **options: Any
) -> Callable[[Callable[..., Any]], Kernel]: ...


def optimize(
    function: Callable[..., Any] | None = None,
    /,
    *,
    schedule: ScheduleChoice = "pluto",
    target: str = "auto",
    **options: Any,
) -> Kernel | Callable[[Callable[..., Any]], Kernel]:
    """``compile`` as a decorator, bare or with its options.

    >>> @optimize(schedule="original", target="python")
    ... def double(A):
    ...     for i in range(len(A)):
    ...         A[i] = 2 * A[i]
    >>> double.target
    'python'
    """

    def decorate(decorated: Callable[..., Any]) -> Kernel:
        return compile(decorated, schedule=schedule, target=target, **options)

    return decorate if function is None else decorate(function)
