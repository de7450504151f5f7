"""From an analysed part to a kernel: statements made easier to order, an order, its mapping, and other plans."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import TYPE_CHECKING, Any

import islpy as isl

from polyviz.analysis import dependences as find_dependences
from polyviz.analysis import (
    transposable,
    with_arrays_in_rows,
    with_extremes,
    with_known_sizes,
    with_loops_rolled_up,
    with_private_arrays,
    with_quotients_counted,
    with_small_arrays_as_variables,
    with_strips_joined,
    with_transposed_arrays,
    with_values_in_place,
)
from polyviz.api.options import OWN_NAMES, BuildOptions, Tile, read_options
from polyviz.api.remembered import AtHand, recalled
from polyviz.api.targets import AUTOMATIC, resolve_target, second_choice
from polyviz.editing import Edit
from polyviz.errors import OptionError
from polyviz.mapping import DEVICE_TARGETS, make_plan
from polyviz.mapping.cpu import SOURCE_ORDER
from polyviz.model.device import LARGEST_BLOCK
from polyviz.model.exclusion import exclusive
from polyviz.model.schedule import Decision, Schedule
from polyviz.model.superposition import Superposition
from polyviz.model.techniques import techniques_for
from polyviz.model.words import plural
from polyviz.runtime.few_steps import few_steps
from polyviz.runtime.kernel import Kernel
from polyviz.runtime.machine import this_machine
from polyviz.runtime.original import original_of, plain_function
from polyviz.runtime.specialising import OtherPlans, Turned
from polyviz.scheduling import adopt
from polyviz.scheduling import schedule as find_schedule
from polyviz.scheduling.registry import insist_on_options, scheduler_options
from polyviz.views.drawing import values_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from polyviz.model.dependences import Dependences
    from polyviz.model.plan import Plan
    from polyviz.model.program import FloatingPoint
    from polyviz.model.scop import Scop, Statement

MOST_STATEMENTS = 24
"""Statements of a part up to which its analysis is done again for the sizes of calls."""

ScheduleChoice = str | Schedule | Superposition | Edit | isl.Schedule | isl.UnionMap


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
    found = recalled(scop, schedule if is_scheduler(schedule) else None, resolved, read_options(options), at_hand)
    wanted = found.options
    if resolved in DEVICE_TARGETS:
        named = isinstance(schedule, str) and is_scheduler(schedule)
        wanted = wanted.of_a_block(scheduler_options(str(schedule)) if named else ())
    builder = _Builder(source, schedule, target, resolved, namespace, at_hand, wanted, found.decisions)
    return builder.kernel(scop, dependences, made)


@dataclass(frozen=True, slots=True)
class _Builder:
    """Builds kernels of ``source``; ``target`` is the one that was asked for, ``resolved`` the one it means here.

    ``decisions`` is what was decided before. ``is_known``: it is for the sizes of a call.
    """

    source: object
    schedule: ScheduleChoice
    target: str
    resolved: str
    namespace: Mapping[str, Any] | None
    at_hand: AtHand
    options: BuildOptions
    decisions: tuple[Decision, ...]
    is_known: bool = False

    def kernel(self, scop: Scop, dependences: Dependences, made: type[Kernel] = Kernel) -> Kernel:
        """The kernel for ``scop``, whose statements are made easier to order first."""
        switches_of_plan, given = dict(self.options.switches), scop
        for keyword, change in changes(self.options.contract).items():
            if switches_of_plan.pop(keyword, True) and self._may_change:
                part = change(scop, dependences)
                dependences = dependences if part is scop else find_dependences(part, reuse=False)
                scop = part
        dependences = find_dependences(scop)
        _check_tiles(self.options.tile, (*given.statements, *scop.statements))
        told = _scheduler_options(self.schedule, self.resolved, self.options.scheduler)
        if not switches_of_plan.pop("group", True) and is_scheduler(self.schedule):
            told = {**told, "group": False}
        chosen = choose_schedule(scop, dependences, self.schedule, told, self.at_hand.sizes)
        planner = _Planner(scop, dependences, chosen, self.options, self.target, self.decisions, switches_of_plan)
        return self._kernel(planner, told, given, made)

    def _kernel(
        self, planner: _Planner, told: Mapping[str, Any], given: Scop | None, made: type[Kernel] = Kernel
    ) -> Kernel:
        """The kernel that ``planner`` plans; ``given`` is the part before its statements were made easier, or None
        where calls are not asked for what would suit them better."""
        scop = planner.scop

        @exclusive
        def turned(names: frozenset[str], place: str) -> Turned:
            part = with_transposed_arrays(scop, names)
            again = find_dependences(part)
            named = is_scheduler(self.schedule)
            order = (
                choose_schedule(part, again, self.schedule, told, self.at_hand.sizes) if named else planner.chosen
            )
            other = replace(planner, scop=part, dependences=again, chosen=order)
            return Turned(part, again, other.plan(place), OtherPlans(None, cache(other.without_register_tiles)))

        plain = cache(planner.without_register_tiles)
        is_automatic = (self.target, self.resolved) == ("auto", AUTOMATIC[0])
        otherwise = partial(planner.plan, AUTOMATIC[1]) if is_automatic else None
        others = OtherPlans(otherwise, plain, turned, transposable(scop))
        plan = planner.plan(self.resolved)
        if given is not None:
            in_rows = not self.is_known and any(array.rows for array in scop.arrays)
            others = replace(
                others,
                for_sizes=partial(self._for_sizes, given) if self._asks_for_sizes(given) else None,
                in_one_dimension=partial(self._in_one_dimension, given) if in_rows else None,
                few_steps=None if self.options.sizes else few_steps(plan, partial(self._in_low_rows, planner, told)),
            )
        return made(
            scop,
            planner.dependences,
            plan,
            original_of(scop, self.source, self.namespace),
            floating_point=self.options.contract,
            overlap=self.options.overlap,
            signature=signature_of(self.source),
            others=others,
        )

    @exclusive
    def _in_low_rows(self, planner: _Planner, told: Mapping[str, Any], height: int) -> Kernel:
        """The kernel for calls with few steps over time: rows of tiles take no more than ``height`` of them."""
        text = (
            f"made for calls with few steps over time: a row of tiles takes {height} of them, so that every thread "
            "finds one; calls with more steps run the program with higher rows"
        )
        low = replace(
            planner,
            decisions=(*planner.decisions, Decision("few-steps", text)),
            switches={**planner.switches, "height": height},
        )
        return self._kernel(low, told, None)

    @property
    def _may_change(self) -> bool:
        """Whether the order is still to be found, for a processor: one of the user's names the part's statements."""
        named = is_scheduler(self.schedule) and self.schedule != SOURCE_ORDER
        return named and self.resolved not in DEVICE_TARGETS

    def _asks_for_sizes(self, scop: Scop) -> bool:
        """Whether calls are asked for short sizes, for which there may be kernels of their own."""
        wanted = self.options.switches.get("known_sizes", True) and not self.is_known
        return wanted and self._may_change and len(scop.statements) <= MOST_STATEMENTS

    @exclusive
    def _in_one_dimension(self, scop: Scop) -> Kernel:
        """The kernel for calls with arrays that hold no whole number of rows."""
        switches = {**self.options.switches, "delinearise": False}
        other = replace(self, options=replace(self.options, switches=switches), is_known=True)
        return other.kernel(scop, find_dependences(scop, reuse=False))

    @exclusive
    def _for_sizes(self, scop: Scop, sizes: Mapping[str, int]) -> Kernel:
        """The kernel for calls with just these ``sizes``."""
        if self.options.switches.get("delinearise", True):
            scop = with_arrays_in_rows(scop)  # before its sizes are numbers, in which nobody sees the length of a row
        known = with_known_sizes(scop, sizes)
        text = (
            f"made for calls with {values_text(sizes)}, which are numbers in the loops; calls with other short sizes "
            "get programs of their own, or run the one for any sizes"
        )
        told = (*self.decisions, Decision("known-sizes", text))
        return replace(self, decisions=told, is_known=True).kernel(known, find_dependences(known, reuse=False))


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
        "delinearise": with_arrays_in_rows,
        "known_sizes": lambda scop, _dependences: with_known_sizes(scop),
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
    return isinstance(choice, str) and not is_isl_text(choice)


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
    if not isinstance(schedule, str) or is_isl_text(schedule):
        return options
    own = dict.fromkeys((*OWN_NAMES, *techniques_for(device=target in DEVICE_TARGETS)))
    insist_on_options(schedule, options, [*own, "schedule", "target", "sizes"])
    if target not in DEVICE_TARGETS:
        return options
    return {"target": "gpu", **options} if "target" in scheduler_options(schedule) else options


def signature_of(source: object) -> inspect.Signature | None:
    """The signature of a function or kernel, with its annotations and true defaults."""
    if isinstance(source, Kernel):
        return source.__signature__
    function = plain_function(source)
    return None if function is None else inspect.signature(function)


def _check_tiles(tile: Tile, statements: Sequence[Statement]) -> None:
    """Refuse more sizes than there are loops: somebody counted others, and the last ones would mean nothing."""
    deepest = max((len(statement.iterators) for statement in statements), default=0)
    if isinstance(tile, Sequence) and len(tile) > max(deepest, 1):
        raise OptionError(
            f"tile has {plural(len(tile), 'size')}, and no statement is inside more than {plural(deepest, 'loop')}: "
            "give one per loop, outermost first, or one for all."
        )


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
    if isinstance(choice, str) and not is_isl_text(choice):
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


def is_isl_text(text: str) -> bool:
    """Whether ``text`` is in isl's notation, and names no scheduler."""
    return "{" in text
