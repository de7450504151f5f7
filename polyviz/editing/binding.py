"""From what a person writes, ``tile`` at ``i`` with ``sizes=(32, 32)``, to a move at a path of a tree."""

from __future__ import annotations

from dataclasses import MISSING, dataclass, fields
from typing import TYPE_CHECKING, Any

from polyviz.editing.places import TOP, Loop, Places, places_of
from polyviz.errors import OptionError
from polyviz.transform.branches import child_with
from polyviz.transform.nest import one_band
from polyviz.transform.registry import make_move, move_arguments, move_class
from polyviz.transform.shape import branches_at, shape_of
from polyviz.transform.tree import band_at

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    import islpy as isl

    from polyviz.transform.move import Move
    from polyviz.transform.tree import Path

Address = str | tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Bound:
    """A move, the tree that it is for (bands merged or split where the move needs that), and its canonical words.

    ``at`` is the address as it is best written; None for a move that is placed by its statements alone.
    """

    tree: isl.Schedule
    move: Move
    at: str | None
    arguments: Mapping[str, Any]


def bind(
    tree: isl.Schedule,
    name: str,
    at: Address | None,
    arguments: Mapping[str, Any],
    refresh: Callable[[isl.Schedule], isl.Schedule],
) -> Bound:
    """The move ``name`` at ``at`` of ``tree``; ``refresh`` sets the flags of bands that had to be made for it.

    Raises ``OptionError`` for a name, place or argument that does not exist.
    """
    kind = move_class(name)
    given = _in_order(kind, {**_defaults(kind), **{key: _plain(value) for key, value in arguments.items()}})
    if isinstance(given.get("statements"), str):
        given["statements"] = (given["statements"],)
    # A wrong argument is a better complaint than a wrong place.
    make_move(kind, (), {key: value for key, value in given.items() if key not in (*kind.loops, *kind.parts)})
    request = _Request(tree, places_of(tree), kind, at, given)
    if kind.parts and "member" not in _field_names(kind):
        return request.at_sequence()
    if kind.loops:
        return request.at_several_loops(refresh)
    return request.at_loop(refresh)


def _defaults(kind: type[Move]) -> dict[str, Any]:
    """The values that are used where none are given: a script spells them, so that it means the same for ever."""
    known = {
        name: field.default
        for name, field in move_arguments(kind).items()
        if name not in (*kind.loops, *kind.parts) and field.default is not MISSING
    }
    return {name: value for name, value in known.items() if value not in (None, False, "", ())}


def _in_order(kind: type[Move], arguments: Mapping[str, Any]) -> dict[str, Any]:
    """``arguments`` in the order of the fields; unknown ones, which are refused later, at the end."""
    names = list(move_arguments(kind))
    return dict(
        sorted(arguments.items(), key=lambda item: names.index(item[0]) if item[0] in names else len(names))
    )


def _plain(value: Any) -> Any:
    return tuple(_plain(item) for item in value) if isinstance(value, list | tuple) else value


def _field_names(kind: type[Move]) -> set[str]:
    return {field.name for field in fields(kind)}


@dataclass(frozen=True, slots=True)
class _Request:
    """What was asked for, on its way to a move."""

    tree: isl.Schedule
    places: Places
    kind: type[Move]
    at: Address | None
    given: Mapping[str, Any]

    def at_sequence(self) -> Bound:
        """A move on the children of a sequence, which their statements name."""
        named = [word for key in self.kind.parts for word in _words(self._value(key))]
        path = self._sequence(named)
        arguments = {**self.given, **{key: self._children(path, self._value(key)) for key in self.kind.parts}}
        at = self.at if isinstance(self.at, str) and not named else None
        return Bound(self.tree, make_move(self.kind, path, arguments), at, self.given)

    def _value(self, key: str) -> Any:
        return self.given[key] if key in self.given else move_arguments(self.kind)[key].default

    def _sequence(self, named: list[str]) -> Path:
        if named:
            return self.places.sequence(named)
        if self.at == TOP:
            return self.places.sequence_in((0,))
        if isinstance(self.at, str):
            return self.places.sequence_in(self.places.loop(self.at).path)
        if self.at is None:
            raise OptionError(
                f"Say which statements `{self.kind.name}` is about: {', '.join(self.kind.parts)}."
            )
        return self.at

    def _children(self, path: Path, value: Any) -> Any:
        if isinstance(value, tuple):
            return tuple(self._children(path, item) for item in value)
        return child_with(branches_at(shape_of(self.tree), path), value) if isinstance(value, str) else value

    def at_loop(self, refresh: Callable[[isl.Schedule], isl.Schedule]) -> Bound:
        """A move on one loop, or on the loops from it inwards; some also take the whole tree."""
        if self.at == TOP and "member" not in _field_names(self.kind):
            return Bound(self.tree, make_move(self.kind, (0,), self.given), TOP, self.given)
        loop = self._loop()
        arguments = dict(self.given)
        for key in self.kind.parts:
            if arguments.get(key):
                arguments[key] = self._children(self.places.sequence_in(loop.path), arguments[key])
        extent = make_move(self.kind, (), arguments).extent
        tree, path, member = self.tree, loop.path, loop.member
        if extent:
            tree, path = one_band(tree, path, member, extent)
            member = 0
            tree = tree if tree is self.tree else refresh(tree)
        if "member" in _field_names(self.kind):
            arguments["member"] = member
        return Bound(tree, make_move(self.kind, path, arguments), self.places.address(loop), self.given)

    def _loop(self) -> Loop:
        if self.at is None:
            known = ", ".join(self.places.names()) or "none: the schedule has no loops"
            raise OptionError(f"Say where to apply `{self.kind.name}`: at= one of {known}.")
        return self.places.loop(self.at)

    def at_several_loops(self, refresh: Callable[[isl.Schedule], isl.Schedule]) -> Bound:
        """A move on loops that the arguments name beside ``at``, in one nest if the move does not say more."""
        named = {key: self._named_loops(self._value(key)) for key in self.kind.loops}
        own = [self._loop()] if "member" in _field_names(self.kind) else []
        found = [*own, *(loop for loops in named.values() for loop in loops)]
        involved = sorted({loop.key: loop for loop in found}.values(), key=lambda loop: loop.depth)
        _refuse_idle_order(self.kind, named, self.places)
        if not involved:
            asked = " or ".join(f"{key}=(…)" if key == "order" else f"{key}=…" for key in self.kind.loops)
            raise OptionError(f"Say which loops `{self.kind.name}` is about: write {asked}.")
        _refuse_strangers(self.places, involved)
        words = self._spoken_place(own), self._spoken(named)
        if own and "by_path" in _field_names(self.kind):
            other = named["by"][0]
            places = {"member": own[0].member, "by": other.member, "by_path": other.path}
            return Bound(self.tree, make_move(self.kind, own[0].path, {**self.given, **places}), *words)
        first, last = involved[0], involved[-1]
        tree, path, offset = self._nest(first, last, last.depth - first.depth + 1)
        tree = tree if tree is self.tree else refresh(tree)
        arguments = dict(self.given)
        for key, loops in named.items():
            positions = tuple(loop.depth - first.depth + offset for loop in loops)
            arguments[key] = _full_order(positions, tree, path) if key == "order" else positions[0]
        return Bound(tree, make_move(self.kind, path, arguments), *words)

    def _nest(self, first: Loop, last: Loop, count: int) -> tuple[isl.Schedule, Path, int]:
        """One band with all the loops, its path, and the position of the first of them in it."""
        if first.path == last.path:
            return self.tree, first.path, first.member
        return (*one_band(self.tree, first.path, first.member, count), 0)

    def _statement(self) -> str | None:
        """The statement that decides between loops of one name: the one before the dot in ``at``, or ``at`` itself."""
        if not isinstance(self.at, str):
            return None
        return self.at.partition(".")[0] if "." in self.at else self.at

    def _named_loops(self, value: Any) -> list[Loop]:
        around = None if self.at is None or "member" not in _field_names(self.kind) else self._loop()
        words = value if isinstance(value, tuple) else (value,)
        return [self._named_loop(word, around) for word in words]

    def _named_loop(self, word: Any, around: Loop | None) -> Loop:
        if isinstance(word, str):
            statement = self._statement() or (min(around.names) if around else None)
            return self.places.loop(word, statement if statement != word else None)
        if around is None or not isinstance(word, int):
            raise OptionError(f"{word!r} is no loop; the loops are {', '.join(self.places.names())}.")
        return next((loop for loop in self.places.loops if loop.key == (around.path, word)), around)

    def _spoken_place(self, own: list[Loop]) -> str | None:
        return self.places.address(own[0]) if own else None

    def _spoken(self, named: Mapping[str, list[Loop]]) -> dict[str, Any]:
        spoken = {
            key: tuple(map(self.places.address, loops)) if key == "order" else self.places.address(loops[0])
            for key, loops in named.items()
        }
        return _in_order(self.kind, {**self.given, **spoken})


def _words(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, tuple):
        for item in value:
            yield from _words(item)


def _refuse_strangers(places: Places, involved: list[Loop]) -> None:
    """All loops must lie inside one another."""
    last = involved[-1]
    for loop in involved[:-1]:
        if loop.key not in last.around:
            raise OptionError(
                f"Loops `{places.address(loop)}` and `{places.address(last)}` are not inside one another."
            )


def _refuse_idle_order(kind: type[Move], named: Mapping[str, list[Loop]], places: Places) -> None:
    """An order names at least two loops, each once."""
    order = [loop.key for loop in named.get("order", [])]
    if order and (len(order) < 2 or len(set(order)) < len(order)):
        spoken = ", ".join(f"`{places.address(loop)}`" for loop in named["order"])
        raise OptionError(f"The order of `{kind.name}` names two or more loops, each once, not {spoken}.")


def _full_order(named: tuple[int, ...], tree: isl.Schedule, path: Path) -> tuple[int, ...]:
    """The order of all members of the band: the named ones take each other's places, the others stay."""
    order = list(range(band_at(tree, path).band_n_member()))
    for place, member in zip(sorted(named), named, strict=True):
        order[place] = member
    return tuple(order)
