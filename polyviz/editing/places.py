"""Names for the loops of a tree that a person can type: ``i``, ``S1.j``, ``i_tile``, ``S1.2`` for the second loop.

A loop is called like the source iterator it runs over; of several iterators in a row the one that no loop around it
runs over, ``wave`` for a diagonal, ``i_tile`` for tiles of ``i``. Where a name is taken several times the statement
stands before it; a number after ``#`` tells loops apart that even share that (the halves of a split loop).
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import islpy as isl

from polyviz.errors import OptionError
from polyviz.model.registry import near
from polyviz.transform.shape import Branches, Loops, Part, shape_of, statements_in

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from polyviz.transform.shape import Shape
    from polyviz.transform.tree import Path

_FLOOR = "floor("
TOP = "top"
"""The address of the outermost sequence."""


@dataclass(frozen=True, slots=True)
class Loop:
    """A loop of a tree: ``member`` of the band at ``path``, ``depth`` loops around it.

    ``names`` is what each statement calls it, ``name`` what most of them do; ``around`` are the loops around it, as
    (path, member), outermost first; ``over_tiles`` where its iterations are whole tiles or strips.
    """

    path: Path
    member: int
    names: Mapping[str, str]
    name: str
    around: tuple[tuple[Path, int], ...]
    over_tiles: bool = False

    @property
    def depth(self) -> int:
        """The number of loops around it."""
        return len(self.around)

    @property
    def key(self) -> tuple[Path, int]:
        """Band and member, which tell loops apart."""
        return self.path, self.member


@dataclass(frozen=True, slots=True)
class Places:
    """All loops of a tree in depth-first order, and its sequences: paths to the statements of each child."""

    loops: tuple[Loop, ...]
    sequences: Mapping[Path, tuple[tuple[str, ...], ...]]

    def loop(self, address: str | Path, statement: str | None = None) -> Loop:
        """The loop at ``address``; ``statement`` decides where several loops are called so.

        Raises ``OptionError`` when there is no such loop, or more than one.
        """
        if not isinstance(address, str):
            return self._at_path(tuple(address))
        found = self._matches(address)
        if len(found) > 1 and statement is not None:
            found = self._matches(f"{statement}.{address}") or found
        if len(found) == 1:
            return found[0]
        if not found:
            raise OptionError(f"There is no loop `{address}`{near(address, self.names())}; {self._spoken()}.")
        choices = ", ".join(f"`{self.address(loop)}`" for loop in found)
        raise OptionError(f"Several loops are called `{address}`: say {choices}.")

    def address(self, loop: Loop) -> str:
        """The shortest text that names ``loop``.

        >>> tree = isl.Schedule('{ domain: "{ S[i] }", child: { schedule: "[{ S[i] -> [i] }]" } }')
        >>> places = places_of(tree)
        >>> places.address(places.loops[0])
        'i'
        """
        candidates = [loop.name, *(f"{statement}.{name}" for statement, name in sorted(loop.names.items()))]
        for candidate in candidates:
            if [found.key for found in self._matches(candidate)] == [loop.key]:
                return candidate
        candidate = candidates[1]
        number = [found.key for found in self._matches(candidate)].index(loop.key)
        return f"{candidate}#{number + 1}"

    def names(self) -> tuple[str, ...]:
        """The address of every loop."""
        return tuple(self.address(loop) for loop in self.loops)

    def sequence(self, statements: Sequence[str]) -> Path:
        """The deepest sequence that runs each of ``statements`` in a child of its own; raises ``OptionError``."""
        known = {name for children in self.sequences.values() for child in children for name in child}
        for name in statements:
            if self.sequences and name not in known:
                raise OptionError(f"There is no statement `{name}`{near(name, known)} in a sequence.")
        fitting = [path for path, children in self.sequences.items() if _apart(children, statements)]
        if not fitting:
            raise OptionError(
                f"No sequence runs {' and '.join(statements) or 'anything'} one after the other."
            )
        return max(fitting, key=len)

    def sequence_in(self, path: Path) -> Path:
        """The outermost sequence at or below ``path``; raises ``OptionError`` when there is none."""
        below = [found for found in self.sequences if found[: len(path)] == path]
        if not below:
            raise OptionError("There is no sequence inside this loop.")
        return min(below, key=len)

    def _at_path(self, path: Path) -> Loop:
        for loop in self.loops:
            if loop.path == path:
                return loop
        raise OptionError(f"There is no loop at {path}; {self._spoken()}.")

    def _spoken(self) -> str:
        return f"the loops are {', '.join(self.names())}" if self.loops else "the schedule has no loops"

    def _matches(self, address: str) -> list[Loop]:
        text, _, number = address.partition("#")
        statement, dot, name = text.rpartition(".")
        found = (
            self._of_statement(statement, name) if dot else [one for one in self.loops if one.name == text]
        )
        if not number:
            return found
        return found[int(number) - 1 : int(number)] if number.isdecimal() and int(number) else []

    def _of_statement(self, statement: str, name: str) -> list[Loop]:
        mine = [loop for loop in self.loops if statement in loop.names]
        if name.isdecimal():
            return [loop for loop in mine if loop.depth + 1 == int(name)]
        return [one for one in mine if one.names[statement] == name] or [
            one for one in mine if one.name == name
        ]


def _apart(children: Sequence[Sequence[str]], statements: Sequence[str]) -> bool:
    homes = [
        next((place for place, names in enumerate(children) if name in names), None) for name in statements
    ]
    return None not in homes and len(set(homes)) == len(homes)


def places_of(tree: isl.Schedule) -> Places:
    """The loops of ``tree`` with their names, and its sequences.

    >>> rows = '[{ S[t, i] -> [t] }, { S[t, i] -> [2t + i] }]'
    >>> tree = isl.Schedule(f'{{ domain: "{{ S[t, i] }}", child: {{ schedule: "{rows}" }} }}')
    >>> [loop.name for loop in places_of(tree).loops]
    ['t', 'i']
    """
    statements = statements_in(tree.get_domain())
    loops: list[Loop] = []
    sequences: dict[Path, tuple[tuple[str, ...], ...]] = {}
    for item in _places(shape_of(tree), (0,), dict.fromkeys(statements, ()), ()):
        if isinstance(item, Loop):
            loops.append(item)
        else:
            sequences[item[0]] = item[1]
    return Places(tuple(loops), sequences)


Names = dict[str, tuple[str, ...]]
"""Per statement what the loops around it are called."""


def _places(
    shape: Shape, path: Path, names: Names, around: tuple[tuple[Path, int], ...]
) -> Iterator[Loop | tuple[Path, tuple[tuple[str, ...], ...]]]:
    if isinstance(shape, Loops):
        for member, row in enumerate(shape.rows):
            loop = _loop(row, path, member, names, around)
            yield loop
            names = {one: (*taken, loop.names[one]) for one, taken in names.items()}
            around = (*around, loop.key)
    if isinstance(shape, Branches):
        yield path, tuple(statements_in(part.instances) for part in shape.parts)
    if isinstance(shape, Part):
        inside = set(statements_in(shape.instances))
        names = {name: taken for name, taken in names.items() if name in inside}
    for position, child in enumerate(shape.children):
        yield from _places(child, (*path, position), names, around)


def _loop(
    row: isl.UnionPwAff, path: Path, member: int, names: Names, around: tuple[tuple[Path, int], ...]
) -> Loop:
    functions = row.get_pw_aff_list()
    own = {}
    tiled = []
    for place in range(functions.n_pw_aff()):
        function = functions.get_at(place)
        statement = function.get_space().get_tuple_name(isl.dim_type.in_)
        if statement in names:
            own[statement] = _carried(function, names[statement])
            tiled.append(_FLOOR in str(function))
    found = Counter(name for _, name in sorted(own.items()) if name is not None)
    common = found.most_common(1)[0][0] if found else f"c{len(around)}"
    spoken = {name: _unused(own.get(name) or common, names[name]) for name in names}
    name = Counter(spoken.values()).most_common(1)[0][0]
    return Loop(path, member, spoken, name, around, over_tiles=bool(tiled) and all(tiled))


def _carried(function: isl.PwAff, taken: tuple[str, ...]) -> str | None:
    """What a statement calls a loop with this row inside loops called ``taken``; None when it adds nothing new."""
    text = str(function)
    ending = "_tile" if _FLOOR in text else ""
    space = function.get_domain_space()
    iterators = [
        space.get_dim_name(isl.dim_type.set, place)
        if space.has_dim_name(isl.dim_type.set, place)
        else f"i{place}"
        for place in range(space.dim(isl.dim_type.set))
    ]
    involved = [
        name for place, name in enumerate(iterators) if function.involves_dims(isl.dim_type.in_, place, 1)
    ]
    fresh = [f"{name}{ending}" for name in involved if f"{name}{ending}" not in taken]
    if len(fresh) == 1:
        return fresh[0]
    if len(fresh) > 1:
        # Inside a diagonal, the loops that it is made of follow one by one.
        return f"wave{ending}" if f"wave{ending}" not in taken else fresh[-1]
    # A tile within a tile of the same loop is a second loop of that name.
    again = len(involved) == 1 and (ending or re.search(r"\[\(-?\w+\)\]", text))
    return f"{involved[0]}{ending}" if again else None


def _unused(name: str, taken: tuple[str, ...]) -> str:
    if name not in taken:
        return name
    number = 2
    while f"{name}_{number}" in taken:
        number += 1
    return f"{name}_{number}"
