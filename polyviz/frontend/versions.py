"""Names of arrays that are given new values, ``v = w / norm``: each array gets a name of its own.

Outside of loops that is all there is to it: below ``x = x + p`` the name means another array. In a loop the new value
takes the place of the old one, in a copy of what there was before the loop: ``v_new = v.copy()``, and then
``v_new[...] = w / norm``. Nobody can tell, as long as what may share memory with one of them is not changed in place.
"""

from __future__ import annotations

import ast
import copy
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from polyviz.frontend.array_names import ArrayNames, binds, bound_by, mentions
from polyviz.frontend.literals import REBOUND
from polyviz.frontend.parts import copy_of, parts_of
from polyviz.frontend.symbols import rank_of_annotation
from polyviz.frontend.visited import FreshNames, located

if TYPE_CHECKING:
    from collections.abc import Sequence

    from polyviz.frontend.names import GlobalNames
    from polyviz.frontend.source import Source

Node = TypeVar("Node", bound=ast.AST)
_BLOCKS = ("body", "orelse")


def with_versions(source: Source, names: GlobalNames) -> Source:
    """``source`` of a function with another name for each array that a name stands for; a cell keeps its names.

    Where an array cannot take the place of another one, the second value stays, and is refused later.

    >>> from polyviz.frontend.names import GlobalNames
    >>> from polyviz.frontend.source import read_source
    >>> text = "def f(A, v, n):\\n for t in range(n):\\n  w = A @ v\\n  v = w / 2\\n return v"
    >>> source = read_source(text, None, None)
    >>> print(ast.unparse(ast.Module(list(with_versions(source, GlobalNames(source)).body), [])))
    v_new = v.copy()
    for t in range(n):
        w = A @ v_new
        v_new[...] = w / 2
    return v_new
    """
    if source.arguments is None:
        return source
    arguments = [one for one in parts_of(source.arguments) if isinstance(one, ast.arg)]
    given = {one.arg for one in arguments}
    known = {one.arg for one in arguments if rank_of_annotation(one.annotation)}
    fresh = FreshNames(source, names)
    body = list(source.body)
    done: set[str] = set()
    while waiting := [name for name in ArrayNames(body, names, known).rebound(given) if name not in done]:
        name = waiting[0]
        body = _Writer(name, ArrayNames(body, names, known), fresh).scope(body, is_given=name in given)
        done.add(name)
    return replace(source, body=tuple(body))


class _Writer:
    """Writes the versions of one name."""

    def __init__(self, name: str, arrays: ArrayNames, fresh: FreshNames) -> None:
        self._name = name
        self._arrays = arrays
        self._fresh = fresh

    def scope(self, body: list[ast.stmt], *, is_given: bool) -> list[ast.stmt]:
        """``body`` with versions in the innermost block that has all mentions; as it is, where they go round a loop."""
        mentioned = [node for node in body if mentions(node, self._name)]
        first = mentioned[0]
        if is_given:
            return self._versions(body, first) or body
        if len(mentioned) == 1 and isinstance(first, ast.For | ast.If | ast.While):
            return [self._inside(node) if node is first else node for node in body]
        if all(self._is_apart(node, ()) for node in mentioned):
            return [self._of_its_own(node) if node in mentioned else node for node in body]
        is_start = bound_by(first) == self._name and not mentions(_value(first), self._name)
        return (self._versions(body, None) if is_start else None) or body

    def _of_its_own(self, node: ast.stmt) -> ast.stmt:
        """A loop or condition that binds the name before it looks at it, with another name."""
        return _renamed(node, self._name, self._fresh.like(f"{self._name}_new"))

    def _inside(self, node: ast.For | ast.If | ast.While) -> ast.stmt:
        """A loop or condition that alone mentions the name."""
        blocks = [block for block in _BLOCKS if any(mentions(one, self._name) for one in getattr(node, block))]
        head = [node.test] if isinstance(node, ast.If | ast.While) else [node.target, node.iter]
        if len(blocks) != 1 or any(mentions(one, self._name) for one in head):
            return node
        changed = copy.copy(node)
        setattr(changed, blocks[0], self.scope(getattr(node, blocks[0]), is_given=False))
        return changed

    def _versions(self, body: list[ast.stmt], given: ast.stmt | None) -> list[ast.stmt] | None:
        """``body`` with a name for each array; None where one cannot take the place of another."""
        name = self._name
        current = name if given is not None else ""
        is_made, uses = False, int(given is not None)
        written: list[ast.stmt] = []
        latest: ast.stmt | None = None
        for place, node in enumerate(body):
            if latest is not None and not uses and self._binds_anew(node, body[place + 1 :]):
                written.remove(latest)  # nobody has looked at it
            if not mentions(node, name):
                written.append(node)
            elif bound_by(node) == name and isinstance(_value(node), ast.Subscript):
                return None  # a part of an array, of which nobody knows how many dimensions it has
            elif bound_by(node) == name:
                target = self._fresh.like(f"{name}_new") if current else name
                written.append(_bound(node, name, current, target))
                current, is_made, uses = target, self._arrays.makes(_value(node)), 0
                latest = written[-1] if is_made else None
            elif not binds(node, name):
                written.append(_renamed(node, name, current))
                uses += 1
            elif self._is_apart(node, body[place + 1 :]):
                own = self._fresh.like(f"{name}_new") if current else name
                written.append(_renamed(node, name, own))
                current, is_made, uses, latest = own, False, 0, None
            elif self._arrays.may_take_over(name, body[place:], is_made=is_made):
                target = self._fresh.like(f"{name}_new")
                written += [_copy(node, current, target), _Rebinding(name, target).visit(copy_of(node))]
                current, is_made, uses = target, True, 1
            else:
                return None
        return written

    def _binds_anew(self, node: ast.stmt, later: Sequence[ast.stmt]) -> bool:
        """Whether ``node`` gives the name another value before anything looks at the one that it has."""
        if bound_by(node) == self._name:
            return not mentions(_value(node), self._name)
        return binds(node, self._name) and self._is_apart(node, later)

    def _is_apart(self, node: ast.stmt, later: Sequence[ast.stmt]) -> bool:
        """Whether the name is bound anew in a block of ``node`` that has all its mentions from there on."""
        if any(mentions(one, self._name) for one in later):
            return False
        while isinstance(node, ast.For | ast.If | ast.While):
            inside = [one for one in ast.iter_child_nodes(node) if mentions(one, self._name)]
            if not isinstance(inside[0], ast.stmt):
                return False
            if bound_by(inside[0]) == self._name:
                in_one = any(inside[0] in block and inside[-1] in block for block in (node.body, node.orelse))
                return in_one and not mentions(_value(inside[0]), self._name)
            if len(inside) > 1:
                return False
            node = inside[0]
        return False


class _Rebinding(ast.NodeTransformer):
    """Stores the new values of a name in the array that another name stands for."""

    def __init__(self, name: str, target: str) -> None:
        self._name = name
        self._target = target

    def visit_Assign(self, node: ast.Assign) -> ast.stmt:
        if bound_by(node) != self._name:
            return _renamed(node, self._name, self._target)
        everything = ast.Subscript(ast.Name(self._target, ast.Load()), ast.Constant(..., REBOUND), ast.Store())
        store = ast.Assign([located(everything, node.targets[0])], _renamed(node.value, self._name, self._target))
        return ast.copy_location(store, node)

    def visit_Name(self, node: ast.Name) -> ast.Name:
        if node.id == self._name:
            node.id = self._target
        return node


def _value(node: ast.stmt) -> ast.expr:
    assert isinstance(node, ast.Assign)
    return node.value


def _bound(node: ast.stmt, name: str, current: str, target: str) -> ast.stmt:
    assert isinstance(node, ast.Assign)
    written = _renamed(node, name, current or target)
    assert isinstance(written, ast.Assign)
    written.targets = [ast.copy_location(ast.Name(target, ast.Store()), node.targets[0])]
    return written


def _copy(node: ast.stmt, current: str, target: str) -> ast.stmt:
    """The line that makes the array for the new values that ``node`` computes."""
    call = ast.Call(ast.Attribute(ast.Name(current, ast.Load()), "copy", ast.Load()), [], [])
    where = next(part for part in parts_of(node) if isinstance(part, ast.Assign))
    return located(ast.Assign([ast.Name(target, ast.Store())], call), where)


def _renamed(node: Node, name: str, target: str) -> Node:
    if name == target:
        return node
    written = copy_of(node)
    for part in parts_of(written):
        if isinstance(part, ast.Name) and part.id == name:
            part.id = target
    return written
