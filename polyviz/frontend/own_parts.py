"""Names that stand for one part of an array after another, ``row = A[i]`` and then ``row = B[i]``: each has its own.

``polyviz.frontend.views`` writes the part in the place of a name that means one part. Where a name is given something
else, and nobody asks afterwards for what it meant before, that is as good as another name.
"""

from __future__ import annotations

import ast
import copy
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from polyviz.frontend.array_names import binds, bound_by, mentions
from polyviz.frontend.array_parts import is_view, is_walked
from polyviz.frontend.parts import argument_names, copy_of, parts_of
from polyviz.frontend.ranks import least_ranks, ranks_told
from polyviz.frontend.usage import subscript_chain
from polyviz.frontend.visited import FreshNames, Renamed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from polyviz.frontend.names import GlobalNames
    from polyviz.frontend.source import Source

Node = TypeVar("Node", bound=ast.AST)
_BLOCKS = ("body", "orelse")


def with_own_parts(source: Source, names: GlobalNames) -> Source:
    """``source`` of a function with another name for each part of an array that a name stands for.

    Where the parts cannot be told apart, as in two arms of a condition with a use below, the name stays.

    >>> from polyviz.frontend.names import GlobalNames
    >>> from polyviz.frontend.source import read_source
    >>> text = "def f(A, B, x):\\n row = A[0, :]\\n x[0] = row[1]\\n row = B[1, :]\\n x[1] = row[2]"
    >>> source = read_source(text, None, None)
    >>> print(ast.unparse(ast.Module(list(with_own_parts(source, GlobalNames(source)).body), [])))
    row = A[0, :]
    x[0] = row[1]
    row_2 = B[1, :]
    x[1] = row_2[2]
    """
    if source.arguments is None:
        return source
    given = argument_names(source.arguments)
    fresh = FreshNames(source, names)
    body = list(source.body)
    for name in _several(source, names, given):
        body = _Writer(name, fresh).scope(body, is_given=name in given)
    return replace(source, body=tuple(body))


def _several(source: Source, names: GlobalNames, given: set[str]) -> list[str]:
    """The names that are given a part of an array and something else, being an argument counted, one at a time."""
    parts = parts_of(*source.body)
    assigned = [(bound_by(part), part.value) for part in parts if isinstance(part, ast.Assign) and bound_by(part)]
    bound = [name for name, _ in assigned]
    repeated = {name for name in bound if bound.count(name) + (name in given) > 1}
    if not repeated:
        return []
    ranks = {**least_ranks(source, names), **ranks_told(source, names)}
    shown = dict.fromkeys(name for name, value in assigned if name in repeated and _is_several(value, ranks))
    stored = [part.id for part in parts if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store | ast.Del)]
    augmented = [part.target for part in parts if isinstance(part, ast.AugAssign)]
    changed = [target.id for target in augmented if isinstance(target, ast.Name)]
    return [name for name in shown if bound.count(name) + changed.count(name) == stored.count(name)]


def _is_several(value: ast.expr, ranks: Mapping[str, int]) -> bool:
    """Whether ``value`` is a part of an array with more than one element, for certain."""
    if isinstance(value, ast.Attribute):
        return value.attr == "T" and isinstance(value.value, ast.Name)
    if not isinstance(value, ast.Subscript):
        return False
    base, indices = subscript_chain(value)
    if not isinstance(base, ast.Name) or not is_view(value, indices):
        return False
    return any(map(is_walked, indices)) or ranks.get(base.id, 0) > len(indices)


class _Writer:
    """Writes names for what one name stands for."""

    def __init__(self, name: str, fresh: FreshNames) -> None:
        self._name = name
        self._fresh = fresh
        self._used = False

    def scope(self, body: Sequence[ast.stmt], *, is_given: bool) -> list[ast.stmt]:
        """``body`` with a name for each part; as it is where one may be asked for that another place gives."""
        written = self._block(body, self._name if is_given else "")
        return list(body) if written is None else written

    def _block(self, body: Sequence[ast.stmt], current: str) -> list[ast.stmt] | None:
        """``body``, with ``current`` for what the name stands for before it, if that may be asked for at all."""
        written: list[ast.stmt] = []
        for node in body:
            if not mentions(node, self._name):
                written.append(node)
            elif bound_by(node) == self._name:
                if not current and mentions(_value(node), self._name):
                    return None
                target = self._own(current)
                written.append(self._bound(node, current, target))
                current = target
            elif not binds(node, self._name):
                if not current:
                    return None
                written.append(self._renamed(node, current))
            else:
                inside = self._inside(node)
                if inside is None:
                    return None
                written.append(inside)
                current = ""
        return written

    def _inside(self, node: ast.stmt) -> ast.stmt | None:
        """A loop or condition in which each block gives the name something before it looks at it."""
        changed = copy.copy(node)
        rest = [part for field, part in ast.iter_fields(node) if field not in _BLOCKS]
        if any(isinstance(part, ast.AST) and mentions(part, self._name) for part in rest):
            return None
        self._used = True
        for field in _BLOCKS:
            block = self._block(getattr(node, field, []), "")
            if block is None:
                return None
            setattr(changed, field, block)
        return changed

    def _own(self, current: str) -> str:
        """A name for what is given next: the one of the program where that is the first."""
        is_first = not current and not self._used
        self._used = True
        return self._name if is_first else self._fresh.like(self._name)

    def _bound(self, node: ast.stmt, current: str, target: str) -> ast.stmt:
        value = self._renamed(_value(node), current) if current else _value(node)
        name = ast.copy_location(ast.Name(target, ast.Store()), node)
        return ast.copy_location(ast.Assign([name], value), node)

    def _renamed(self, node: Node, current: str) -> Node:
        written: Node = Renamed({self._name: current}).visit(copy_of(node))
        return written


def _value(node: ast.stmt) -> ast.expr:
    assert isinstance(node, ast.Assign)
    return node.value
