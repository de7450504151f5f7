"""Arrays that go from one name to the next: the names of their new values are found in simpler programs.

``prev, cur = cur, new`` becomes two lines, an array that is made under a name of its own before it is ``u`` is made as
``u``, and an argument that the function copies first, ``u = u.copy()``, is another name from there on.
"""

from __future__ import annotations

import ast
import copy
from dataclasses import replace
from typing import TYPE_CHECKING

from polyviz.frontend.array_names import ArrayNames, bound_by, mentions
from polyviz.frontend.new_arrays import bindings
from polyviz.frontend.parts import copies_of, parts_of, uses_in
from polyviz.frontend.symbols import rank_of_annotation
from polyviz.frontend.visited import FreshNames, located

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from polyviz.frontend.names import GlobalNames
    from polyviz.frontend.source import Source

_BLOCKS = ("body", "orelse")
_JUMPS = ast.Break | ast.Continue | ast.Return


def with_own_arrays(source: Source, names: GlobalNames) -> Source:
    """``source`` of a function with as few names for its arrays as the order of its lines allows; a cell stays.

    >>> from polyviz.frontend.names import GlobalNames
    >>> from polyviz.frontend.source import read_source
    >>> text = "def f(a, n):\\n for t in range(n):\\n  c = np.zeros(n)\\n  c[0] = a[t]\\n  d = c\\n  a, b = d, a"
    >>> source = read_source(text, None, None)
    >>> print(ast.unparse(with_own_arrays(source, GlobalNames(source)).body[0]))
    for t in range(n):
        d = np.zeros(n)
        d[0] = a[t]
        b = a
        a = d
    """
    if source.arguments is None:
        return source
    arguments = [one for one in parts_of(source.arguments) if isinstance(one, ast.arg)]
    known = {one.arg for one in arguments if rank_of_annotation(one.annotation)}
    given = {one.arg for one in arguments}
    fresh = FreshNames(source, names)
    body = _Pairs(ArrayNames(source.body, names, known), fresh).block(source.body)
    arrays = ArrayNames(body, names, known)
    body = _copied_first(body, arrays, given - set(arrays.rebound(given)), fresh)
    return replace(source, body=tuple(_Handed(body, ArrayNames(body, names, known), given).block(body)))


class _Pairs:
    """Writes assignments of several arrays as one line for each."""

    def __init__(self, arrays: ArrayNames, fresh: FreshNames) -> None:
        self._arrays = arrays
        self._fresh = fresh

    def block(self, body: Iterable[ast.stmt]) -> list[ast.stmt]:
        """``body`` with one assignment for each name."""
        written: list[ast.stmt] = []
        for node in body:
            lines = self._one_by_one(node)
            written += [with_blocks(node, self.block)] if lines is None else [located(one, node) for one in lines]
        return written

    def _one_by_one(self, node: ast.stmt) -> list[ast.stmt] | None:
        match node:
            case ast.Assign(targets=[ast.Tuple(elts=targets)], value=ast.Tuple(elts=values)):
                names = [one.id for one in targets if isinstance(one, ast.Name)]
            case _:
                return None
        if len(names) < len(targets) or len(set(names)) < len(names) or len(names) != len(values):
            return None
        same = [one.id for one in values if isinstance(one, ast.Name)]
        is_of_arrays = self._arrays.arrays & set(names) or any(map(self._arrays.computes, values))
        if not is_of_arrays or sorted(same) == sorted(names):
            return None
        return self._ordered(list(zip(names, values, strict=True)))

    def _ordered(self, pairs: list[tuple[str, ast.expr]]) -> list[ast.stmt] | None:
        """A line for each of ``pairs``, no one of which changes what a later one reads."""
        before, written = list[ast.stmt](), list[ast.stmt]()
        while pairs:
            place = next((at for at, (name, _) in enumerate(pairs) if not _is_read(name, pairs, at)), None)
            if place is not None:
                name, value = pairs.pop(place)
                written.append(_assigned(name, value))
                continue
            computed = next((at for at, (_, one) in enumerate(pairs) if self._arrays.makes(one)), None)
            if computed is None:
                return None  # they change places
            name, value = pairs[computed]
            own = self._fresh.like(f"{name}_new")
            before.append(_assigned(own, value))
            pairs[computed] = name, ast.Name(own, ast.Load())
        return [*before, *written]


def _is_read(name: str, pairs: Sequence[tuple[str, ast.expr]], place: int) -> bool:
    """Whether another one of ``pairs`` reads ``name``."""
    return any(mentions(value, name) for at, (_, value) in enumerate(pairs) if at != place)


def _assigned(name: str, value: ast.expr) -> ast.stmt:
    return ast.Assign([ast.Name(name, ast.Store())], value)


def _copied_first(
    body: Sequence[ast.stmt], arrays: ArrayNames, given: Iterable[str], fresh: FreshNames
) -> list[ast.stmt]:
    """``body`` with another name for each of the ``given`` arrays from a line on that gives it a new value, which
    stands outside of loops."""
    written = list(body)
    for name in sorted(set(given) & arrays.arrays):
        places = [at for at, node in enumerate(written) if bound_by(node) == name]
        if not places or bindings(written[: places[0]])[name]:
            continue
        first = written[places[0]]
        if not isinstance(first, ast.Assign) or not arrays.makes(first.value):
            continue
        own = fresh.like(f"{name}_new")
        line = copy.copy(first)
        line.targets = [ast.copy_location(ast.Name(own, ast.Store()), first.targets[0])]
        written[places[0] :] = [line, *_renamed(written[places[0] + 1 :], name, own)]
    return written


class _Handed:
    """Makes arrays under the name that they get later, where nothing has that name in between."""

    def __init__(self, body: Sequence[ast.stmt], arrays: ArrayNames, given: set[str]) -> None:
        self._arrays = arrays
        self._given = given
        self._bindings = bindings(body)
        self._mentions = uses_in(*body)

    def block(self, body: Sequence[ast.stmt]) -> list[ast.stmt]:
        """``body`` with one name where there were two."""
        written = list(body)
        for place in range(len(body) - 1, -1, -1):
            start = self._made(written, place)
            if start is not None:
                node = written[place]
                assert isinstance(node, ast.Assign) and isinstance(node.value, ast.Name)
                lines = _renamed(written[start:place], node.value.id, bound_by(node))
                written[start : place + 1] = lines
        return [with_blocks(node, self.block) for node in written]

    def _made(self, body: Sequence[ast.stmt], place: int) -> int | None:
        """Where in ``body`` the array is made that is given another name at ``place``, if that is its only name."""
        if place >= len(body):
            return None
        node, name = body[place], bound_by(body[place])
        other = node.value.id if isinstance(node, ast.Assign) and isinstance(node.value, ast.Name) else ""
        if not name or other not in self._arrays.arrays - self._given or self._bindings[other] != 1:
            return None
        start = next((at for at in range(place) if bound_by(body[at]) == other), None)
        if start is None or uses_in(*body[start : place + 1])[other] != self._mentions[other]:
            return None
        between = body[start:place]
        jumps = any(isinstance(part, _JUMPS) for part in parts_of(*between))
        first = body[start]
        is_made = isinstance(first, ast.Assign) and self._arrays.makes(first.value)
        return start if is_made and not jumps and not any(mentions(one, name) for one in between) else None


def with_blocks(node: ast.stmt, write: Callable[[list[ast.stmt]], list[ast.stmt]]) -> ast.stmt:
    """``node`` with what ``write`` makes of the blocks inside of it."""
    if not isinstance(node, ast.For | ast.While | ast.If):
        return node
    written = copy.copy(node)
    for block in _BLOCKS:
        setattr(written, block, write(getattr(node, block)))
    return written


def _renamed(body: Iterable[ast.stmt], name: str, own: str) -> list[ast.stmt]:
    copied = copies_of(body)
    for part in parts_of(*copied):
        if isinstance(part, ast.Name) and part.id == name:
            part.id = own
    return copied
