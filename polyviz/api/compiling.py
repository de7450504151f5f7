"""From source to a kernel: extract, analyse, schedule, map, generate."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, cast, overload

from polyviz.analysis import dependences as find_dependences
from polyviz.api.building import ScheduleChoice, build_kernel, is_isl_text, is_scheduler, signature_of
from polyviz.api.by_call import OpenKernel, Readings, RereadKernel, is_open
from polyviz.api.extracting import part_of
from polyviz.api.options import Tile, read_options
from polyviz.api.text_signature import signature_of_text
from polyviz.editing import Edit
from polyviz.errors import ExtractionError
from polyviz.frontend import may_be_none
from polyviz.model.schedule import Schedule
from polyviz.runtime.kernel import Kernel

if TYPE_CHECKING:
    from polyviz.model.dependences import Dependences
    from polyviz.model.program import FloatingPoint, Overlap
    from polyviz.model.scop import Scop


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
    how = {"schedule": schedule, "target": target, "namespace": namespace, **given}
    return compiled(source, partial(_extracted, source, sizes, namespace), how)


def compiled(
    source: object,
    extracted: Callable[[Mapping[str, int]], Scop],
    how: Mapping[str, Any],
    dependences: Callable[[Scop], Dependences] | None = None,
) -> Kernel:
    """The kernel for ``source``, or what waits for the first call of one; ``how`` are the keywords of ``build_kernel``.

    ``extracted`` reads the source for arrays of the dimensions that it is told. Raises what ``compile`` raises.
    """

    def built(scop: Scop, made: type[Kernel] = Kernel) -> Kernel:
        found = find_dependences(scop, reuse=False) if dependences is None else dependences(scop)
        return build_kernel(scop, found, source, made=made, **how)

    signature = None if isinstance(source, Kernel) else signature_of(source)
    signature = signature_of_text(source) if isinstance(source, str) else signature
    asked = may_be_none(source) if signature is not None else frozenset[str]()
    named = is_scheduler(how["schedule"])
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


def compiled_text(
    text: str, how: Mapping[str, Any], sizes: Mapping[str, int] | None = None
) -> tuple[Kernel, Scop | None, Dependences | None]:
    """The kernel of a function that is given as text, and how it was read; None where its first call decides that."""
    known: list[tuple[Scop, Dependences]] = []

    def extracted(ranks: Mapping[str, int]) -> Scop:
        return _extracted(text, sizes, how["namespace"], ranks)

    def dependences(scop: Scop) -> Dependences:
        known.append((scop, find_dependences(scop)))
        return known[-1][1]

    kernel = compiled(text, extracted, how, dependences)
    return (kernel, *known[0]) if known else (kernel, None, None)


def _extracted(
    source: object, sizes: Mapping[str, int] | None, namespace: Mapping[str, Any] | None, ranks: Mapping[str, int]
) -> Scop:
    return part_of(source, sizes=sizes, namespace=namespace, ranks=ranks)


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
        if name in named and isinstance(choice, str) and not is_isl_text(choice):
            continue
        number = 2
        while name in named:
            name, number = f"{_schedule_name(choice)} {number}", number + 1
        named[name] = choice
    return named


def _schedule_name(choice: ScheduleChoice) -> str:
    if isinstance(choice, str) and not is_isl_text(choice):
        return choice
    if isinstance(choice, Edit):
        choice = choice.schedule
    return choice.scheduler if isinstance(choice, Schedule) else "user"


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
