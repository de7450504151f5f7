"""The body of a helper as one expression: assignments, conditions and ``return`` become values and choices."""

from __future__ import annotations

import ast
from itertools import islice
from typing import TYPE_CHECKING

from polyviz.frontend.helper_lines import inside_of
from polyviz.frontend.parts import parts_of
from polyviz.model.expression import Binary, Conditional, Expression, walk

if TYPE_CHECKING:
    from collections.abc import Sequence

    from polyviz.frontend.expressions import ExpressionReader
    from polyviz.frontend.inline import HelperScope

MOST = 2000
"""Operations and values that the call of a helper may stand for: a value that is used again is written again."""

_REASON = "Here only helpers made of assignments to names, `if` and `return` can be"


class NoExpressionError(Exception):
    """Why a helper is no expression; ``hint`` says what to do about it, ``inside`` shows what is none."""

    def __init__(self, reason: str, hint: str, inside: str = "") -> None:
        super().__init__(reason)
        self.hint = hint
        self.inside = inside


def assigned_names(helper: ast.FunctionDef) -> frozenset[str]:
    """The names that ``helper`` assigns, which are its own."""
    parts = parts_of(*helper.body)
    return frozenset(part.id for part in parts if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store))


class HelperBody:
    """Follows the statements of a helper in ``scope``, whose values are those of the names so far."""

    def __init__(self, scope: HelperScope, reader: ExpressionReader, assigned: frozenset[str]) -> None:
        self._scope = scope
        self._reader = reader
        scope.assigned = assigned

    def result(self, body: Sequence[ast.stmt]) -> Expression:
        """What ``body`` returns; raises ``NoExpressionError`` where that is no expression."""
        found = self._returned(list(body))
        if found is None:
            reason = f"{_REASON}, and this one may end without `return`."
            raise NoExpressionError(reason, "Let every path return a value.")
        return found

    def _returned(self, body: list[ast.stmt]) -> Expression | None:
        for position, node in enumerate(body):
            if isinstance(node, ast.Return) and node.value is not None:
                return self._read(node.value)
            if isinstance(node, ast.If) and _may_return(node):
                return self._either_way(node, body[position + 1 :])
            self._run(node)
        return None

    def _either_way(self, node: ast.If, rest: list[ast.stmt]) -> Expression | None:
        """What is returned where an arm of ``node`` may return, or leaves it to the ``rest``."""
        test = self._read(node.test)
        before = self._scope.values
        results = []
        for arm in (node.body, node.orelse):
            self._scope.values = dict(before)
            results.append(self._returned([*arm, *rest]))
        then, otherwise = results
        return None if then is None or otherwise is None else _choice(test, then, otherwise)

    def _run(self, node: ast.stmt) -> None:
        match node:
            case ast.Assign(targets=targets, value=value):
                self._assign(targets, value)
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                self._scope.values[name] = self._read(value)
            case ast.AugAssign(target=ast.Name(id=name) as target, op=operator, value=value):
                old = self._read(ast.copy_location(ast.Name(name, ast.Load()), target))
                spelling = self._reader.operator(node, operator)
                self._scope.values[name] = _bounded(Binary(spelling, old, self._read(value)))
            case ast.If():
                self._choose(node)
            case ast.Pass() | ast.Expr(value=ast.Constant()):
                pass
            case _:
                raise _not_inlined(node)

    def _assign(self, targets: list[ast.expr], value: ast.expr) -> None:
        """``x = y = …`` or ``x, y = …, …``: every value is found before any name changes."""
        found: list[tuple[str, Expression]] = []
        for target in targets:
            match target, value:
                case ast.Name(id=name), _:
                    found.append((name, self._read(value)))
                case ast.Tuple(elts=names), ast.Tuple(elts=parts) if len(names) == len(parts) and _are_names(names):
                    pairs = zip(names, parts, strict=True)
                    found += [(one.id, self._read(part)) for one, part in pairs if isinstance(one, ast.Name)]
                case _:
                    raise _not_inlined(target)
        self._scope.values.update(found)

    def _choose(self, node: ast.If) -> None:
        """An ``if`` whose arms only assign: every name becomes a choice between its values."""
        test = self._read(node.test)
        before = self._scope.values
        ends = []
        for arm in (node.body, node.orelse):
            self._scope.values = dict(before)
            for statement in arm:
                self._run(statement)
            ends.append(self._scope.values)
        then, otherwise = ends
        # A name that only one arm gives a value has none that could be read afterwards.
        self._scope.values = {
            name: _choice(test, then[name], otherwise[name]) for name in then if name in otherwise
        }

    def _read(self, node: ast.expr) -> Expression:
        return _bounded(self._reader.read(node))


def _choice(test: Expression, then: Expression, otherwise: Expression) -> Expression:
    return then if then is otherwise else _bounded(Conditional(test, then, otherwise))


def _may_return(node: ast.stmt) -> bool:
    return any(isinstance(part, ast.Return) for part in parts_of(node))


def _are_names(nodes: list[ast.expr]) -> bool:
    return all(isinstance(node, ast.Name) for node in nodes)


def _bounded(expression: Expression) -> Expression:
    if sum(1 for _ in islice(walk(expression), MOST + 1)) <= MOST:
        return expression
    raise NoExpressionError(
        f"As one expression it has more than {MOST} operations, since a value that is used again is written again.",
        "Write its statements here, in place of the call: there a value is computed once.",
    )


def _not_inlined(node: ast.AST) -> NoExpressionError:
    what = {ast.For: "a loop", ast.While: "a loop", ast.Return: "`return` without a value"}.get(type(node))
    what = f"`{ast.unparse(node)}`" if what is None and isinstance(node, ast.expr) else what
    line = ast.unparse(node).splitlines()[0]
    return NoExpressionError(
        f"{_REASON}, and this one has {what or f'`{line}`'}.",
        f"Write its {'loop' if what == 'a loop' else 'statements'} here, in place of the call, or call it on a line of "
        "its own, where it certainly runs: `x = helper(...)`.",
        inside_of(node),
    )
