"""From source to a kernel: extract, analyse, schedule, map, generate."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, overload

import islpy as isl

from polyviz.analysis import dependences as find_dependences
from polyviz.api.extracting import part_of
from polyviz.api.targets import resolve_target
from polyviz.editing import Edit
from polyviz.errors import OptionError
from polyviz.mapping import DEVICE_TARGETS, make_plan
from polyviz.model.exclusion import exclusive
from polyviz.model.schedule import Schedule
from polyviz.model.superposition import Superposition
from polyviz.runtime.kernel import Kernel
from polyviz.runtime.machine import this_machine
from polyviz.runtime.original import original_of, plain_function
from polyviz.scheduling import adopt
from polyviz.scheduling import schedule as find_schedule
from polyviz.scheduling.registry import scheduler_options

if TYPE_CHECKING:
    from polyviz.model.dependences import Dependences
    from polyviz.model.program import FloatingPoint
    from polyviz.model.scop import Scop

ScheduleChoice = str | Schedule | Superposition | Edit | isl.Schedule | isl.UnionMap
Tile = Sequence[int] | int | Literal[False] | None
"""Sizes per loop (the last one for deeper loops too), or one for all; False for no tiles; None: the target's choice."""
LARGEST_TILE = 2**31 - 1


def compile(
    source: object,
    *,
    schedule: ScheduleChoice = "pluto",
    target: str = "auto",
    sizes: Mapping[str, int] | None = None,
    tile: Tile = None,
    register_tile: bool = True,
    pack: bool = True,
    interleave: bool = True,
    floating_point: FloatingPoint = "reassociate",
    namespace: Mapping[str, Any] | None = None,
    **options: Any,
) -> Kernel:
    """A kernel that does what ``source`` does, in another order.

    ``source`` is a function, text, an extracted part or a kernel. ``schedule`` is a scheduler's name (its options go
    into ``options``) or a schedule of one's own; ``tile`` gives tile sizes (one number: the same for
    every loop), False switches tiling off. ``register_tile=False`` keeps sums of products out of vector registers,
    ``pack=False`` their operands where they are, ``interleave=False`` chains of dependent iterations one
    after the other.
    ``floating_point`` is ``strict`` (each element's operations keep their order) or ``reassociate``.

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
    check_options(floating_point, tile, register_tile=register_tile, pack=pack, interleave=interleave)
    scop = part_of(source, sizes=sizes, namespace=namespace)
    return build_kernel(
        scop,
        find_dependences(scop),
        source,
        schedule=schedule,
        target=resolve_target(target),
        tile=tile,
        register_tile=register_tile,
        pack=pack,
        interleave=interleave,
        floating_point=floating_point,
        namespace=namespace,
        options=options,
    )


@exclusive
def build_kernel(
    scop: Scop,
    dependences: Dependences,
    source: object,
    *,
    schedule: ScheduleChoice,
    target: str,
    tile: Tile = None,
    register_tile: bool = True,
    pack: bool = True,
    interleave: bool = True,
    floating_point: FloatingPoint = "reassociate",
    namespace: Mapping[str, Any] | None = None,
    options: Mapping[str, Any] | None = None,
    at_hand: Mapping[str, int] | None = None,
) -> Kernel:
    """The kernel for a part that is already analysed; ``target`` is resolved.

    ``at_hand`` holds the values of parameters in the run that comes next, for schedulers that choose by them.
    """
    told = _scheduler_options(schedule, target, options or {})
    chosen = choose_schedule(scop, dependences, schedule, told, at_hand)
    plan = make_plan(
        scop,
        dependences,
        chosen,
        target,
        tile=_sizes(tile),
        processor=this_machine().processor,
        register_tile=register_tile,
        pack=pack,
        interleave=interleave,
    )
    original = original_of(scop, source, namespace)
    return Kernel(
        scop, dependences, plan, original, floating_point=floating_point, signature=signature_of(source)
    )


def _scheduler_options(
    schedule: ScheduleChoice, target: str, options: Mapping[str, Any]
) -> Mapping[str, Any]:
    """``options``; a scheduler that knows devices from processors is told what the schedule is for."""
    if target not in DEVICE_TARGETS or not isinstance(schedule, str) or _is_isl_text(schedule):
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


def check_options(floating_point: object, tile: object, **switches: object) -> None:
    """Refuse values that the options do not have; ``switches`` are on or off. Raises OptionError."""
    if floating_point not in ("strict", "reassociate"):
        raise OptionError(f"Unknown floating_point {floating_point!r}; known: strict, reassociate.")
    _check_tile(tile)
    for name, value in switches.items():
        if not isinstance(value, bool):
            raise OptionError(f"{name} is True or False, not {value!r}.")


def _sizes(tile: Tile) -> Sequence[int] | Literal[False] | None:
    """One size as a sequence of one."""
    if tile is None or isinstance(tile, Sequence):
        return tile
    return (tile,) if tile else False


def _check_tile(tile: object) -> None:
    """Refuse anything but None, False, a size and a sequence of sizes."""
    if tile is None or tile is False:
        return
    sizes = tuple(tile) if isinstance(tile, Sequence) and not isinstance(tile, str) else (tile,)
    if not sizes or not all(type(size) is int and 0 < size <= LARGEST_TILE for size in sizes):
        raise OptionError(
            f"Tile sizes are whole numbers such as 32 or (8, 32), or False for no tiles, not {tile!r}."
        )


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
