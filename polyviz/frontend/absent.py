"""Arguments that may be None, ``def f(x, out=None)``: a call tells which are, and ``out is None`` is known then.

Of the arms of ``if out is None: out = np.empty_like(x)`` one is left, and an argument that is None is none any more:
its name is free for what the function makes in its place.
"""

from __future__ import annotations

import ast
import copy
from dataclasses import replace
from typing import TYPE_CHECKING

from polyviz.frontend.given import ABSENT
from polyviz.frontend.parts import argument_names, copy_of, parts_of, stored_in
from polyviz.frontend.source import read_source

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from polyviz.frontend.source import Source


def asked_for_none(source: Source) -> frozenset[str]:
    """The arguments that the text compares with None, and those whose default it is that it hands on to a call.

    >>> from polyviz.frontend.source import read_source
    >>> text = "def f(A, w=None, n=None, m=None):\\n if w is not None: A[n] = w + weight(A, m)"
    >>> sorted(asked_for_none(read_source(text, None, None)))
    ['m', 'w']
    """
    if source.arguments is None:
        return frozenset()
    arguments = argument_names(source.arguments)
    parts = parts_of(*source.body)
    defaults = _defaults(source.arguments)
    handed = {name for part in parts if isinstance(part, ast.Call) for name in _handed(part)}
    asked = {*map(_asked, parts), *(name for name in handed if is_none(defaults.get(name)))}
    return frozenset(name for name in asked if name in arguments)


def without_absent(source: Source, ranks: Mapping[str, int]) -> Source:
    """``source`` for a call: where ``ranks`` says nothing of an argument whose default is None, it is left out.

    >>> from polyviz.frontend.source import read_source
    >>> source = read_source("def f(x, y=None):\\n if y is None: y = x\\n return x + y", None, None)
    >>> for ranks in ({}, {"y": 1}):
    ...     called = without_absent(source, ranks)
    ...     print(ast.unparse(called.arguments), "|", "; ".join(map(ast.unparse, called.body)))
    x | y = x; return x + y
    x, y=None | pass; return x + y
    """
    asked = asked_for_none(source)
    if not asked or source.arguments is None:
        return source
    defaults = _defaults(source.arguments)
    left_out = {name: ABSENT for name in asked if is_none(defaults.get(name))}
    absent = frozenset(
        name for name, rank in {**left_out, **ranks}.items() if rank == ABSENT and name in asked
    )
    body = _block(source.body, {name: name in absent for name in asked})
    return replace(source, body=tuple(body), arguments=_without(source.arguments, absent), absent=absent)


def without_none(text: str) -> str:
    """The ``text`` of a function for calls without the arguments that it asks for, where their default is None.

    >>> without_none("def f(x, *, y=None):\\n    return x if y is None else y").splitlines()
    ['def f(x):', '    return x']
    """
    source = read_source(text, None, None)
    called = without_absent(source, {})
    if called.arguments is None or not called.absent:
        return text
    function = ast.FunctionDef(called.name, called.arguments, list(called.body) or [ast.Pass()], [])
    return ast.unparse(ast.fix_missing_locations(function))


def _asked(node: ast.AST) -> str:
    """The name that ``node`` compares with None by ``is`` or ``is not``."""
    match node:
        case ast.Compare(
            left=ast.Name(id=name), ops=[ast.Is() | ast.IsNot()], comparators=[ast.Constant(value=None)]
        ):
            return name
    return ""


def _handed(call: ast.Call) -> set[str]:
    """The names that ``call`` is given as they are."""
    given = [*call.args, *(one.value for one in call.keywords)]
    return {one.id for one in given if isinstance(one, ast.Name)}


def is_none(node: ast.expr | None) -> bool:
    """Whether ``node`` is None as it is written."""
    return isinstance(node, ast.Constant) and node.value is None


def _defaults(arguments: ast.arguments) -> dict[str, ast.expr | None]:
    positional = [*arguments.posonlyargs, *arguments.args]
    given = positional[len(positional) - len(arguments.defaults) :]
    found: dict[str, ast.expr | None] = {
        one.arg: value for one, value in zip(given, arguments.defaults, strict=True)
    }
    return found | {
        one.arg: value for one, value in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    }


def _without(arguments: ast.arguments, absent: Iterable[str]) -> ast.arguments:
    """``arguments`` without some, which have defaults; those behind them are given by name."""
    gone, defaults = frozenset(absent), _defaults(arguments)
    kept = copy.copy(arguments)
    kept.posonlyargs = [one for one in arguments.posonlyargs if one.arg not in gone]
    kept.args = [one for one in arguments.args if one.arg not in gone]
    kept.kwonlyargs = [one for one in arguments.kwonlyargs if one.arg not in gone]
    positional = [defaults.get(one.arg) for one in (*kept.posonlyargs, *kept.args)]
    kept.defaults = [value for value in positional if value is not None]
    kept.kw_defaults = [defaults[one.arg] for one in kept.kwonlyargs]
    return kept


def _block(body: Sequence[ast.stmt], known: dict[str, bool]) -> list[ast.stmt]:
    """``body`` with the arms that are taken; ``known`` says which names are None, and is told what is assigned."""
    written: list[ast.stmt] = []
    for node in body:
        written += _statement(node, known)
        if written and isinstance(written[-1], ast.Return):
            break  # what follows is for other calls
    return written


def _statement(node: ast.stmt, known: dict[str, bool]) -> list[ast.stmt]:
    if isinstance(node, ast.If):
        return _choice(node, known)
    if not isinstance(node, ast.For | ast.While):
        written = _Decided(known).visit(copy_of(node))
        _assigned(node, known)
        return [written]
    for name in stored_in(node) & known.keys():
        del known[name]
    loop = copy.copy(node)
    if isinstance(loop, ast.For):
        loop.iter = _Decided(known).visit(copy_of(loop.iter))
    else:
        loop.test = _Decided(known).visit(copy_of(loop.test))
    loop.body = _block(node.body, dict(known)) or [ast.copy_location(ast.Pass(), node)]
    loop.orelse = _block(node.orelse, dict(known))
    return [loop]


def _choice(node: ast.If, known: dict[str, bool]) -> list[ast.stmt]:
    test = _Decided(known).visit(copy_of(node.test))
    if _truth(test) is not None:
        taken = node.body if _truth(test) else node.orelse
        return _block(taken, known) or [ast.copy_location(ast.Pass(), node)]
    arms = dict(known), dict(known)
    written = copy.copy(node)
    written.test = test
    written.body = _block(node.body, arms[0]) or [ast.copy_location(ast.Pass(), node)]
    written.orelse = _block(node.orelse, arms[1])
    agreed = {name: value for name, value in arms[0].items() if arms[1].get(name) == value}
    known.clear()
    known.update(agreed)
    return [written]


def _assigned(node: ast.stmt, known: dict[str, bool]) -> None:
    """Note which names ``node`` gives something: what can be computed with is not None."""
    value = getattr(node, "value", None)
    may_be_none = any(map(is_none, value.elts if isinstance(value, ast.Tuple) else [value]))
    for name in stored_in(node) & known.keys():
        known[name] = False
        if may_be_none:
            del known[name]


def _truth(node: ast.expr) -> bool | None:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, bool) else None


class _Decided(ast.NodeTransformer):
    """Puts what is known in the place of comparisons with None, and of what follows from them."""

    def __init__(self, known: Mapping[str, bool]) -> None:
        self._known = known

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        self.generic_visit(node)
        name = _asked(node)
        if name not in self._known:
            return node
        return ast.copy_location(ast.Constant(self._known[name] == isinstance(node.ops[0], ast.Is)), node)

    def visit_Call(self, node: ast.Call) -> ast.expr:
        """A function is given None itself, which its own text asks for."""
        self.generic_visit(node)
        node.args = [self._given(one) for one in node.args]
        for one in node.keywords:
            one.value = self._given(one.value)
        return node

    def _given(self, node: ast.expr) -> ast.expr:
        is_absent = isinstance(node, ast.Name) and self._known.get(node.id, False)
        return ast.copy_location(ast.Constant(None), node) if is_absent else node

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        self.generic_visit(node)
        truth = _truth(node.operand) if isinstance(node.op, ast.Not) else None
        return node if truth is None else ast.copy_location(ast.Constant(not truth), node)

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.expr:
        """Nothing is left of what a known value decides, nor of known values that decide nothing."""
        self.generic_visit(node)
        deciding = isinstance(node.op, ast.Or)
        values: list[ast.expr] = []
        for value in node.values:
            if _truth(value) is None:
                values.append(value)
            elif _truth(value) == deciding:
                values.append(value)
                break
        node.values = values
        if len(values) > 1:
            return node
        return values[0] if values else ast.copy_location(ast.Constant(not deciding), node)

    def visit_IfExp(self, node: ast.IfExp) -> ast.expr:
        self.generic_visit(node)
        truth = _truth(node.test)
        return node if truth is None else node.body if truth else node.orelse
