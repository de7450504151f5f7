"""Moves by name: ours are imported when first asked for, those of others come by entry point or decorator."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, TypeVar

from polyviz.errors import OptionError
from polyviz.model.registry import Registry, near
from polyviz.transform.move import Move

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from polyviz.transform.tree import Path

ENTRY_POINT_GROUP = "polyviz.moves"

_BUILT_IN: Mapping[str, str] = {
    "interchange": "polyviz.transform.interchange:Interchange",
    "reversal": "polyviz.transform.reversal:Reversal",
    "shift": "polyviz.transform.shift:Shift",
    "skew": "polyviz.transform.skew:Skew",
    "scale": "polyviz.transform.scale:Scale",
    "tile": "polyviz.transform.tile:Tile",
    "strip-mine": "polyviz.transform.strip_mine:StripMine",
    "coalesce": "polyviz.transform.coalesce:Coalesce",
    "fuse": "polyviz.transform.fuse:Fuse",
    "distribute": "polyviz.transform.distribute:Distribute",
    "reorder": "polyviz.transform.reorder:Reorder",
    "sink": "polyviz.transform.sink:Sink",
    "split": "polyviz.transform.split:Split",
    "peel": "polyviz.transform.peel:Peel",
    "unroll": "polyviz.transform.unroll:Unroll",
    "unroll-and-jam": "polyviz.transform.unroll_and_jam:UnrollAndJam",
    "wavefront": "polyviz.transform.wavefront:Wavefront",
    "parallel": "polyviz.transform.parallel:Parallel",
    "vector": "polyviz.transform.vector:Vector",
    "rows": "polyviz.transform.set_rows:SetRows",
}
_REGISTRY = Registry("move", ENTRY_POINT_GROUP, _BUILT_IN)

MoveType = TypeVar("MoveType", bound=type[Move])


def register_move(name: str) -> Callable[[MoveType], MoveType]:
    """Make a class known as the move ``name``; a later definition replaces an earlier one.

    The class is a frozen dataclass that derives from :class:`polyviz.transform.move.Move`.

    >>> from dataclasses import dataclass
    >>> from polyviz.model.schedule import Decision
    >>> @register_move("nothing")
    ... @dataclass(frozen=True)
    ... class Nothing(Move):
    ...     "Leave everything as it is."
    ...     name = "nothing"
    ...     @classmethod
    ...     def available(cls, tree):
    ...         return ()
    ...     def apply(self, tree):
    ...         return tree, Decision("nothing", "Nothing happened.")
    >>> moves()["nothing"]
    'Leave everything as it is.'
    >>> unregister_move("nothing")
    """
    return _REGISTRY.register(name)


def unregister_move(name: str) -> None:
    """Forget a move that :func:`register_move` made known; unknown names are no error."""
    _REGISTRY.unregister(name)


def moves() -> dict[str, str]:
    """Every move that can be asked for by name, with a summary of one line.

    >>> "unroll-and-jam" in moves()
    True
    """
    return _REGISTRY.summaries()


def move_class(name: str) -> type[Move]:
    """The move called ``name``, with hyphens or underscores; raises ``OptionError`` when there is none.

    >>> move_class("strip_mine").name
    'strip-mine'
    """
    spelled = isinstance(name, str) and name not in _REGISTRY.names()
    definition = _REGISTRY.definition(name.replace("_", "-") if spelled else name)
    if not (isinstance(definition, type) and issubclass(definition, Move)):
        raise OptionError(f"The move `{name}` is no class that derives from polyviz.transform.move.Move.")
    return definition


_PLACES = ("path", "member", "by_path")
"""Fields that say where; people give an address instead."""
_FIXED = ("mark", "reductions")
"""Fields that a name stands for (``parallel``, ``vector``), or that only a target can keep."""


def move_arguments(kind: type[Move]) -> dict[str, dataclasses.Field[Any]]:
    """The fields of a move that a person may set, by name: all but the place."""
    fields = dataclasses.fields(kind)
    return {field.name: field for field in fields if field.name not in (*_PLACES, *_FIXED)}


def make_move(kind: type[Move], path: Path, arguments: Mapping[str, Any]) -> Move:
    """The move at ``path``; raises ``OptionError`` for an argument, or a value of one, that it does not have."""
    known = move_arguments(kind)
    for name, value in arguments.items():
        if name in _PLACES:
            continue
        if name not in known:
            choices = f"; it has {', '.join(known)}" if known else ", nor any other"
            raise OptionError(f"Move `{kind.name}` has no argument `{name}`{near(name, known)}{choices}.")
        _check_value(kind.name, known[name], value)
    return kind(path, **arguments)


def _check_value(move: str, field: dataclasses.Field[Any], value: object) -> None:
    # Annotations are text here, and only the plain ones say what a value must be.
    if str(field.type) in ("tuple[int, ...]", "tuple[str, ...]") and not isinstance(value, tuple):
        fits = str(field.type) == "tuple[str, ...]" or isinstance(value, int)
        example = f"a tuple such as ({value!r},)" if fits else "a tuple of numbers such as (32, 32)"
        raise OptionError(f"Argument `{field.name}` of move `{move}` is {value!r}; it must be {example}.")
    expected = {"int": int, "bool": bool, "str": str}.get(str(field.type))
    if expected is None:
        return
    if not isinstance(value, expected) or (expected is int and isinstance(value, bool)):
        raise OptionError(
            f"Argument `{field.name}` of move `{move}` is {value!r}; it must be {expected.__name__}."
        )
