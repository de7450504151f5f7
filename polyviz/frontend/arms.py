"""What is done with a name that each arm of a condition gives another array or part of one: it moves into the arms.

Behind ``if c: row = A[0, :]`` and ``else: row = B[1, :]`` nobody can tell which array ``row[i]`` is of. In each arm it
is one of them.
"""

from __future__ import annotations

import ast
import copy
from dataclasses import replace
from typing import TYPE_CHECKING

from polyviz.frontend.array_names import ArrayNames, bound_by, mentions
from polyviz.frontend.array_parts import is_view, is_walked
from polyviz.frontend.parts import copies_of, parts_of, stored_in
from polyviz.frontend.ranks import least_ranks, rank_of, ranks_followed, ranks_told
from polyviz.frontend.several_targets import line_for_each
from polyviz.frontend.usage import subscript_chain
from polyviz.frontend.visited import Renamed, located, visited

if TYPE_CHECKING:
    from collections.abc import Sequence

    from polyviz.frontend.names import GlobalNames
    from polyviz.frontend.source import Source

_MOST = 200
"""Parts of the text that one condition moves into its arms at most: each arm has a copy of them."""
_MOST_CONDITIONS = 3
"""Conditions with such arms at most: each of them doubles what follows."""


def with_uses_in_arms(source: Source, names: GlobalNames) -> Source:
    """``source`` of a function with the uses of such names in the arms that give them what they stand for.

    >>> from polyviz.frontend.names import GlobalNames
    >>> from polyviz.frontend.source import read_source
    >>> text = "def f(A, B, c):\\n if c: row = A[0, :]\\n else: row = B[1, :]\\n A[1, 0] = row[2]\\n B[0, 0] = 1"
    >>> source = read_source(text, None, None)
    >>> print(ast.unparse(ast.Module(list(with_uses_in_arms(source, GlobalNames(source)).body), [])))
    if c:
        row = A[0, :]
        A[1, 0] = row[2]
    else:
        row = B[1, :]
        A[1, 0] = row[2]
    B[0, 0] = 1
    """
    if source.arguments is None:
        return source
    writer = _Writer(source, names)
    body = tuple(writer.block(source.body))
    return replace(source, body=body) if writer.is_changed else source


def _bound_in_arms(node: ast.If) -> set[str]:
    """The names that each arm of ``node`` gives something."""
    return _bound(node.body) & _bound(node.orelse)


def _bound(body: Sequence[ast.stmt]) -> set[str]:
    """The names that ``body`` gives something, whatever happens in it."""
    found = set[str]()
    for node in body:
        found |= {bound_by(node)} - {""}
        found |= _bound_in_arms(node) if isinstance(node, ast.If) else set()
    return found


class _Writer:
    """``confined`` are names of which one condition and its arms have all that speaks of them."""

    def __init__(self, source: Source, names: GlobalNames) -> None:
        self._parts = parts_of(*source.body)
        self._ranks = {**least_ranks(source, names), **ranks_told(source, names)}
        self._arrays = ArrayNames(source.body, names).arrays
        self._followed = ranks_followed(source, names)
        self._names = names
        self._confined = set[str]()
        self._left = _MOST_CONDITIONS
        self.is_changed = False

    def block(self, body: Sequence[ast.stmt]) -> list[ast.stmt]:
        """``body`` with what follows a condition in its arms, as far as it speaks of such names."""
        written: list[ast.stmt] = []
        rest = list(body)
        while rest:
            node = self._apart(rest.pop(0))
            if isinstance(node, ast.If) and self._left:
                node, rest = self._filled(self._with_first(node, written), rest)
            if isinstance(node, ast.For | ast.While | ast.If):
                node = copy.copy(node)
                node.body, node.orelse = self.block(node.body), self.block(node.orelse)
            written.append(node)
        return written

    def _apart(self, node: ast.stmt) -> ast.stmt:
        """``node`` with one line for each name in its arms; a condition with two arms for a choice of arrays."""
        match node:
            case ast.Assign(targets=[ast.Name() as name], value=ast.IfExp(test=test, body=first, orelse=second)):
                if not all(self._is_array(name.id, one) for one in (first, second)):
                    return node
                arms: list[list[ast.stmt]] = [[ast.Assign([copy.copy(name)], value)] for value in (first, second)]
                self.is_changed = True
                return located(ast.If(test, *arms), node)
            case ast.Return(value=ast.IfExp(test=test, body=first, orelse=second)):
                if not all(self._is_array("", one) for one in (first, second)):
                    return node
                self.is_changed = True
                return located(ast.If(test, [ast.Return(first)], [ast.Return(second)]), node)
            case ast.If(orelse=[_, *_]):
                apart = copy.copy(node)
                apart.body, apart.orelse = (
                    [line for one in arm for line in line_for_each(one) or (one,)] for arm in (node.body, node.orelse)
                )
                return apart if _bound_in_arms(apart) - _bound_in_arms(node) else node
        return node

    def _with_first(self, node: ast.If, before: list[ast.stmt]) -> ast.If:
        """``node`` with the last line of ``before`` in the arm that gives its name nothing, if one arm does."""
        name = bound_by(before[-1]) if before else ""
        in_arms = [name in _bound(arm) for arm in (node.body, node.orelse)]
        if not name or mentions(node.test, name) or in_arms not in ([True, False], [False, True]):
            return node
        first = before[-1]
        if not isinstance(first, ast.Assign) or not self._is_array(name, first.value):
            return node
        if _asks_before(name, node.body if in_arms[0] else node.orelse):
            return node
        del before[-1]
        whole = copy.copy(node)
        whole.body, whole.orelse = (
            arm if is_bound else [first, *arm] for arm, is_bound in zip((node.body, node.orelse), in_arms, strict=True)
        )
        return whole

    def _filled(self, node: ast.If, rest: list[ast.stmt]) -> tuple[ast.If, list[ast.stmt]]:
        """``node`` with the first lines of ``rest`` in its arms, and the others."""
        names = [name for name in sorted(_bound_in_arms(node)) if self._is_open(name, node, rest)]
        uses = [place for place, one in enumerate(rest) if any(mentions(one, name) for name in names)]
        moved = rest[: uses[-1] + 1] if uses else []
        is_much = len(parts_of(*moved)) > _MOST
        if not moved or is_much or not all(map(self._is_number, moved)):
            return node, rest
        self._left -= 1
        self.is_changed = True
        self._confined |= set(names)
        filled = copy.copy(node)
        filled.body, filled.orelse = (self._arm(arm, names, moved) for arm in (node.body, node.orelse))
        return filled, rest[len(moved) :]

    def _arm(self, arm: Sequence[ast.stmt], names: Sequence[str], moved: Sequence[ast.stmt]) -> list[ast.stmt]:
        """``arm`` with a copy of what is ``moved`` behind it; whole arrays are called there by their own names."""
        lines = [*arm, *copies_of(moved)]
        for node in arm:
            match node:
                case ast.Assign(targets=[ast.Name(id=name)], value=ast.Name(id=first)) if name in names:
                    place = lines.index(node)
                    if not {name, first} & stored_in(*lines[place + 1 :]):
                        lines[place:] = visited(Renamed({name: first}), lines[place + 1 :])
        return lines

    def _is_open(self, name: str, node: ast.If, rest: Sequence[ast.stmt]) -> bool:
        """Whether ``name`` is an array or a part of one in each arm, and asked for in ``node`` and ``rest`` alone."""
        inside = parts_of(node, *rest)
        values = [part.value for part in inside if isinstance(part, ast.Assign) and bound_by(part) == name]
        is_alone = name in self._confined or _count(name, self._parts) == _count(name, inside)
        return is_alone and all(self._is_array(name, value) for value in values)

    def _is_array(self, name: str, value: ast.expr) -> bool:
        """Whether ``value``, which gets this ``name``, is an array that has a name, or a part of it with an axis."""
        match value:
            case ast.Name(id=first) | ast.Attribute(value=ast.Name(id=first), attr="T"):
                return bool({first, name} & self._arrays) or self._ranks.get(first, 0) > 0
            case ast.Subscript():
                base, indices = subscript_chain(value)
                rank = self._ranks.get(base.id, 0) if isinstance(base, ast.Name) else 0
                return is_view(value, indices) and (any(map(is_walked, indices)) or rank > len(indices))
        return False

    def _is_number(self, node: ast.stmt) -> bool:
        """Whether ``node`` returns numbers alone, if it returns anything."""
        if not isinstance(node, ast.Return) or node.value is None:
            return not any(isinstance(part, ast.Return) for part in parts_of(node))
        values = node.value.elts if isinstance(node.value, ast.Tuple) else [node.value]
        return all(rank_of(value, self._followed, self._names) == 0 for value in values)


def _asks_before(name: str, body: Sequence[ast.stmt]) -> bool:
    """Whether ``body`` may ask what ``name`` was before it gives it something."""
    node = next(one for one in body if mentions(one, name))
    value = node.value if isinstance(node, ast.Assign) and bound_by(node) == name else None
    return value is None or mentions(value, name)


def _count(name: str, parts: Sequence[ast.AST]) -> int:
    """How often ``name`` is read."""
    return sum(isinstance(part, ast.Name) and part.id == name and isinstance(part.ctx, ast.Load) for part in parts)
