"""Calls of small helper functions: what they return, as one expression, takes the place of the call."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from polyviz.errors import UnknownNameError
from polyviz.frontend.helper_body import HelperBody, NoExpressionError, assigned_names
from polyviz.frontend.helper_lines import inside_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from polyviz.frontend.expressions import ExpressionReader
    from polyviz.frontend.names import GlobalNames
    from polyviz.frontend.program import Program
    from polyviz.frontend.scope import Scope
    from polyviz.frontend.symbols import ArrayDraft
    from polyviz.model.expression import Expression

_DEEPEST = 16


class HelperScope:
    """Names inside a helper: its parameters stand for what the caller passed, the rest are its own globals."""

    def __init__(
        self,
        program: Program,
        names: GlobalNames,
        values: dict[str, Expression],
        arrays: Mapping[str, ArrayDraft],
        place: ast.AST,
        depth: int,
    ) -> None:
        self.globals = names
        self.values = values
        self.depth = depth
        self.assigned: frozenset[str] = frozenset()
        self._program = program
        self._arrays = arrays
        self._place = place

    def is_local(self, name: str) -> bool:
        """Whether the helper binds ``name`` itself."""
        return name in self.values or name in self._arrays or name in self.assigned

    def array(self, name: str) -> ArrayDraft | None:
        """The array that the caller passed as ``name``, or a constant one around both."""
        source, value = self._program.source, self.globals.value(name)
        if name in source.constants and not self.is_local(name) and value is self._program.globals.value(name):
            return self._program.array(name)
        return self._arrays.get(name)

    def read(self, node: ast.Name) -> Expression:
        """The value of a parameter, of a temporary, or of a global constant."""
        if node.id in self.values:
            return self.values[node.id]
        constant = None if self.is_local(node.id) else self.globals.constant(node)
        if constant is not None:
            return constant
        raise self._program.source.error(
            self._place,
            f"The helper uses `{node.id}`, which is no number that it computes or gets.",
            hint="Pass it to the helper, or write the computation here.",
            kind=UnknownNameError,
            inside=inside_of(node),
        )


def inline_call(
    program: Program,
    caller: Scope,
    reader: ExpressionReader,
    call: ast.Call,
    helper: ast.FunctionDef,
    place: ast.AST | None,
) -> Expression:
    """The value of ``call``: temporaries and ``return`` of ``helper`` with the caller's arguments put in.

    Raises ``UnsupportedSyntaxError`` at the call when the helper is more than that, or calls itself.
    """
    from polyviz.frontend.expressions import ExpressionReader

    where = call if place is None else place
    depth = caller.depth + 1 if isinstance(caller, HelperScope) else 1
    if depth > _DEEPEST or helper.name == program.source.name:
        raise program.source.error(
            where,
            f"`{helper.name}` calls itself.",
            reason="Recursion has no fixed number of steps.",
            hint="Use a loop.",
        )
    values, arrays = _bound(program, caller, reader, call, helper, where)
    scope = HelperScope(program, caller.globals.of_helper(call.func), values, arrays, where, depth)
    body = HelperBody(scope, ExpressionReader(program, scope, where), assigned_names(helper))
    try:
        return body.result(helper.body)
    except NoExpressionError as problem:
        message = f"The call of `{helper.name}` cannot be inlined."
        raise program.source.error(
            where, message, reason=str(problem), hint=problem.hint, inside=problem.inside
        ) from None


def _bound(
    program: Program,
    caller: Scope,
    reader: ExpressionReader,
    call: ast.Call,
    helper: ast.FunctionDef,
    where: ast.AST,
) -> tuple[dict[str, Expression], dict[str, ArrayDraft]]:
    by_place = [argument.arg for argument in (*helper.args.posonlyargs, *helper.args.args)]
    names = [*by_place, *(argument.arg for argument in helper.args.kwonlyargs)]
    given = dict(zip(by_place, call.args, strict=False))
    given |= {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg is not None}
    defaults = dict(zip(by_place[::-1], helper.args.defaults[::-1], strict=False))
    for argument, value in zip(helper.args.kwonlyargs, helper.args.kw_defaults, strict=True):
        defaults |= {} if value is None else {argument.arg: value}
    missing = {name: value for name, value in defaults.items() if name not in given}
    is_once = len(given) == len(call.args) + len(call.keywords)
    if not is_once or set(given) | set(missing) != set(names) or helper.args.vararg or helper.args.kwarg:
        raise program.source.error(
            where,
            f"`{helper.name}` is called with the wrong number of values.",
            hint=f"Its parameters are: {', '.join(names)}.",
        )
    values: dict[str, Expression] = {name: reader.read(value) for name, value in missing.items()}
    arrays: dict[str, ArrayDraft] = {}
    for name, value in given.items():
        array = caller.array(value.id) if isinstance(value, ast.Name) else None
        if array is not None:
            arrays[name] = array
        else:
            values[name] = reader.read(value)
    return values, arrays
