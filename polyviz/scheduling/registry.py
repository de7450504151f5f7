"""Schedulers by name: ours are imported when first asked for, those of others come by entry point or decorator."""

from __future__ import annotations

import dataclasses
import inspect
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, TypeVar, cast, get_args, get_origin, get_type_hints

import islpy as isl

from polyviz.errors import LegalityError, OptionError, SchedulingError
from polyviz.model.registry import Registry, near
from polyviz.scheduling.guard import TIME_LIMIT
from polyviz.scheduling.problem import Proposal, Scheduler, SchedulingProblem
from polyviz.scheduling.written import written_tree

ENTRY_POINT_GROUP = "polyviz.schedulers"

_BUILT_IN: Mapping[str, str] = {
    "original": "polyviz.scheduling.original:Original",
    "isl": "polyviz.scheduling.isl_scheduler:IslScheduler",
    "feautrier": "polyviz.scheduling.feautrier:Feautrier",
    "pluto": "polyviz.scheduling.pluto:Pluto",
    "adaptive": "polyviz.scheduling.adaptive:Adaptive",
    "spatial": "polyviz.scheduling.spatial:Spatial",
    "superposition": "polyviz.scheduling.superposed.scheduler:SuperpositionScheduler",
}
_REGISTRY = Registry("scheduler", ENTRY_POINT_GROUP, _BUILT_IN, asked_as="schedule")
_TIME_LIMITS: dict[str, float] = {}
"""By name, for those that were registered."""
_BESIDE = ("tile", "sizes")
"""Keywords that stand beside the options of a scheduler wherever these are given."""

Definition = TypeVar("Definition", bound=Callable[..., Any])


def register_scheduler(name: str, *, time_limit: float = TIME_LIMIT) -> Callable[[Definition], Definition]:
    """Make a class or a function known as the scheduler ``name``; a later definition replaces an earlier one.

    It is stopped after ``time_limit`` seconds.

    A class is a frozen dataclass with ``run(problem) -> Proposal``; its fields are the options. A function takes the
    problem, and its options as keyword arguments with defaults; it returns a ``Proposal``, an
    ``isl.Schedule``, or a map from instances into time, as ``isl.UnionMap`` or text.

    >>> from polyviz.scheduling import register_scheduler, schedulers
    >>> @register_scheduler("as-written")
    ... def as_written(problem):
    ...     "Keep what the user wrote."
    ...     return problem.scop.schedule
    >>> schedulers()["as-written"]
    'Keep what the user wrote.'
    >>> unregister_scheduler("as-written")
    """
    if not (isinstance(time_limit, int | float) and 0 < time_limit < math.inf):
        raise OptionError(
            f"The time limit of a scheduler is a positive number of seconds, not {time_limit!r}."
        )
    decorate = _REGISTRY.register(name)
    _TIME_LIMITS[name] = float(time_limit)
    return decorate


def time_limit_of(name: str) -> float | None:
    """The seconds that a scheduler of somebody else may take; None for ours, which bound their searches themselves."""
    return None if name in _BUILT_IN else _TIME_LIMITS.get(name, TIME_LIMIT)


def unregister_scheduler(name: str) -> None:
    """Forget a scheduler that :func:`register_scheduler` made known; unknown names are no error."""
    _REGISTRY.unregister(name)
    _TIME_LIMITS.pop(name, None)


def schedulers() -> dict[str, str]:
    """Every scheduler that can be asked for by name, with a summary of one line.

    >>> sorted(set(schedulers()) & {"original", "isl", "pluto"})
    ['isl', 'original', 'pluto']
    """
    return _REGISTRY.summaries()


def scheduler_names() -> list[str]:
    """The same without the summaries, for which every scheduler would have to be loaded.

    >>> scheduler_names()[:2]
    ['original', 'isl']
    """
    return _REGISTRY.names()


def scheduler_options(name: str) -> dict[str, Any]:
    """The options of the scheduler ``name`` with their defaults; raises ``OptionError`` when it is unknown.

    >>> scheduler_options("original")
    {}
    """
    definition = _REGISTRY.definition(name)
    if inspect.isclass(definition):
        return {field.name: field.default for field in dataclasses.fields(cast("Any", definition))}
    parameters = list(inspect.signature(definition).parameters.values())[1:]
    return {parameter.name: parameter.default for parameter in parameters}


def option_values(name: str) -> dict[str, tuple[Any, ...]]:
    """The values of those options of the scheduler ``name`` that have a few; raises ``OptionError`` when it is unknown.

    >>> option_values("pluto")["fusion"]
    ('none', 'smart', 'max')
    """
    hints = _hints(_REGISTRY.definition(name))
    choices = {option: hints.get(option) for option in scheduler_options(name)}
    found = {option: get_args(kind) for option, kind in choices.items() if get_origin(kind) is Literal}
    return {**found, **{option: (False, True) for option, kind in choices.items() if kind is bool}}


def insist_on_options(name: str, options: Iterable[str], beside: Iterable[str] = _BESIDE) -> None:
    """Raise ``OptionError`` for an option that the scheduler ``name`` does not have, with the nearest one there is.

    ``beside`` are keywords of the caller that may have been meant.

    >>> insist_on_options("pluto", ["tilee"])
    Traceback (most recent call last):
        ...
    polyviz.errors.OptionError: Scheduler `pluto` has no option `tilee` (did you mean `tile`?).
    """
    known = scheduler_options(name)
    for option in options:
        if option not in known:
            raise OptionError(
                f"Scheduler `{name}` has no option `{option}`{near(option, [*known, *beside])}."
            )


def make_scheduler(name: str, options: Mapping[str, Any]) -> Scheduler:
    """The scheduler ``name`` with ``options`` set; raises ``OptionError`` for a name, option or value it does not know.

    >>> make_scheduler("original", {}).name
    'original'
    """
    definition = _REGISTRY.definition(name)
    insist_on_options(name, options)
    for option, value in options.items():
        _check_value(name, definition, option, value)
    if inspect.isclass(definition):
        return cast("Scheduler", definition(**options))
    return FunctionScheduler(definition, dict(options))


@dataclass(frozen=True, slots=True)
class FunctionScheduler:
    """A scheduler written as a plain function."""

    name: ClassVar[str] = "function"
    function: Callable[..., Any]
    options: Mapping[str, Any]

    def run(self, problem: SchedulingProblem) -> Proposal:
        """Call the function; raises ``SchedulingError`` when its result is no schedule of the problem."""
        result = self.function(problem, **self.options)
        if isinstance(result, Proposal):
            return result
        if not isinstance(result, isl.Schedule | isl.UnionMap | str):
            raise SchedulingError(
                f"The scheduler function `{self.function.__name__}` returned a {type(result).__name__}.",
                hint="Return a Proposal, an isl.Schedule, or a map into time as isl.UnionMap or text.",
            )
        try:
            return Proposal(written_tree(problem.scop, result))
        except LegalityError as error:
            raise SchedulingError(
                f"What the scheduler function `{self.function.__name__}` returned is no schedule: {error.message}",
                reason=error.reason,
                hint=error.hint,
            ) from error


def _check_value(scheduler: str, definition: Any, option: str, value: object) -> None:
    expected = _hints(definition).get(option)
    if get_origin(expected) is Literal and value not in get_args(expected):
        choices = ", ".join(map(str, get_args(expected)))
        raise OptionError(f"Option `{option}` of scheduler `{scheduler}` is {value!r}; it can be {choices}.")
    if isinstance(expected, type) and not _fits(value, expected):
        raise OptionError(
            f"Option `{option}` of scheduler `{scheduler}` is {value!r}; it must be {expected.__name__}."
        )


def _hints(definition: Any) -> dict[str, Any]:
    try:
        return get_type_hints(definition)
    except NameError:
        # Annotations of a scheduler from elsewhere may name types that exist only for a type checker.
        return {}


def _fits(value: object, expected: type) -> bool:
    # In Python a bool is an int, in an option it is a mistake.
    if expected in (int, float) and isinstance(value, bool):
        return False
    return isinstance(value, (int, float) if expected is float else expected)
