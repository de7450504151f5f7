"""Calls of helpers that are no single expression: their statements take the place of the call.

``y[i] = total(A[i])`` with a helper that has a loop is read as its statements in front of ``y[i] = s``, with names of
their own. Parameters that the helper does not assign stand for the name or number that the caller passed; what else is
passed gets a name before. Helpers that are one expression are read as one, see ``inline``.
"""

from __future__ import annotations

import ast
import builtins
import copy
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar

from polyviz.frontend.absent import asked_for_none, is_none, without_absent
from polyviz.frontend.array_names import ArrayNames
from polyviz.frontend.functions import MAKERS, PURE
from polyviz.frontend.given import ABSENT
from polyviz.frontend.helper_body import MOST
from polyviz.frontend.helper_calls import changes_arrays, given_values, is_expression, operands
from polyviz.frontend.helper_size import call_size
from polyviz.frontend.library import library_helper
from polyviz.frontend.loop_else import without_loop_else
from polyviz.frontend.parts import argument_names, copies_of, copy_of, names_in, names_of, parts_of, stored_in
from polyviz.frontend.returns import one_return
from polyviz.frontend.symbols import rank_of_annotation
from polyviz.frontend.usage import subscript_chain
from polyviz.frontend.visited import FreshNames, located, visited

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from polyviz.frontend.names import GlobalNames
    from polyviz.frontend.source import Source

Expression = TypeVar("Expression", bound=ast.expr)

_DEEPEST = 16
_NOTHING = ast.Constant(None)
_UNREADABLE = ast.FunctionDef | ast.Lambda | ast.Global | ast.Nonlocal | ast.Yield | ast.Await | ast.Try | ast.With
_SOMETIMES = ast.BoolOp | ast.IfExp | ast.Lambda | ast.GeneratorExp | ast.ListComp | ast.SetComp | ast.DictComp


def with_helper_statements(source: Source, names: GlobalNames) -> Source:
    """``source`` with the statements of helpers in the place of their calls; calls that cannot be read so stay.

    >>> from polyviz.frontend.names import GlobalNames
    >>> from polyviz.frontend.source import read_source
    >>> text = "def s(x):\\n t = 0.0\\n for i in range(9): t += x[i]\\n return t\\ndef f(A, y):\\n y[0] = 2 * s(A[3])"
    >>> source = read_source(text, None, None)
    >>> print(ast.unparse(ast.Module(list(with_helper_statements(source, GlobalNames(source)).body), [])))
    x = A[3]
    t = 0.0
    for i in range(9):
        t += x[i]
    y[0] = 2 * t
    """
    stated = parts_of(source.arguments)
    ranks = {one.arg: rank_of_annotation(one.annotation) or 0 for one in stated if isinstance(one, ast.arg)}
    arrays = ArrayNames(source.body, names, [name for name, rank in ranks.items() if rank])
    calls = [part for part in parts_of(*source.body) if isinstance(part, ast.Call)]
    if not any(names.helper(call.func) or library_helper(call, names, arrays.computes) for call in calls):
        return source
    writer = _Writer(source, names, arrays, ranks)
    body = tuple(writer.block(source.body, ()))
    if not writer.changed:
        return source
    return replace(source, body=body, own_loops=source.own_loops | (writer.own if source.is_cell else frozenset()))


@dataclass(frozen=True, slots=True)
class _Way:
    """How a call stands in its statement.

    ``is_alone``: nothing else is computed that the helper could change; ``several`` values are expected;
    ``is_statement``: nobody asks for its value.
    """

    is_alone: bool = False
    several: bool = False
    is_statement: bool = False


class _Writer:
    """Writes blocks; ``own`` are the names that statements of helpers have here, ``changed`` whether there are any."""

    def __init__(
        self, source: Source, names: GlobalNames, arrays: ArrayNames, ranks: Mapping[str, int]
    ) -> None:
        self.own: set[str] = set()
        self.changed = False
        self._source = source
        self._names = names
        self._fresh = FreshNames(source, names)
        self._arrays = arrays
        self._ranks = ranks
        self._callers = stored_in(*source.body) | argument_names(source.arguments)

    def block(self, body: Sequence[ast.stmt], around: tuple[str, ...]) -> list[ast.stmt]:
        """``body``, in helpers that are called by ``around``."""
        return [one for node in body for one in self._statement(node, around)]

    def _statement(self, node: ast.stmt, around: tuple[str, ...]) -> list[ast.stmt]:
        before: list[ast.stmt] = []
        written = copy.copy(node)
        match written:
            case ast.For():
                written.iter = self._computed(written.iter, before, around)
            case ast.If():
                written.test = self._computed(written.test, before, around)
            case ast.Assign() | ast.AugAssign() | ast.AnnAssign() | ast.Return() | ast.Expr() if written.value:
                return self._with_value(written, around)
        if isinstance(written, ast.For | ast.While | ast.If):
            written.body, written.orelse = self.block(written.body, around), self.block(written.orelse, around)
        return [*before, written]

    def _with_value(
        self, node: ast.Assign | ast.AugAssign | ast.AnnAssign | ast.Return | ast.Expr, around: tuple[str, ...]
    ) -> list[ast.stmt]:
        """``node`` behind the statements of the helpers that its value calls."""
        before: list[ast.stmt] = []
        is_alone = not isinstance(node, ast.AugAssign) or isinstance(node.target, ast.Name)
        several = isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Tuple)
        value = node.value
        if isinstance(value, ast.Call):
            given = self._parts(value, before, around)
            way = _Way(is_alone=is_alone, several=several, is_statement=isinstance(node, ast.Expr))
            found = self._expanded(given, before, around, way)
            if found is not None and way.is_statement:
                return before
            value = found or given
        elif value is not None:
            value = self._computed(value, before, around, is_alone=is_alone)
        node.value = value
        return [*before, *_one_by_one(node, self.own)]

    def _computed(
        self, value: ast.expr, before: list[ast.stmt], around: tuple[str, ...], *, is_alone: bool = False
    ) -> ast.expr:
        """``value`` with names for what helpers compute ``before`` it; what may not be computed at all stays."""
        if isinstance(value, _SOMETIMES):
            return value
        value = self._parts(value, before, around, is_alone=is_alone)
        if not isinstance(value, ast.Call):
            return value
        return self._expanded(value, before, around, _Way(is_alone=is_alone)) or value

    def _parts(
        self, value: Expression, before: list[ast.stmt], around: tuple[str, ...], *, is_alone: bool = False
    ) -> Expression:
        written = copy.copy(value)
        parts = [part for part in ast.iter_child_nodes(value) if isinstance(part, ast.expr)]
        is_alone = is_alone and sum(not isinstance(part, ast.Constant) for part in parts) == 1
        is_alone = is_alone and isinstance(value, ast.BinOp | ast.UnaryOp)
        for name, part in ast.iter_fields(value):
            if isinstance(part, ast.expr):
                setattr(written, name, self._computed(part, before, around, is_alone=is_alone))
            elif isinstance(part, list):
                whole = [self._computed(one, before, around) if isinstance(one, ast.expr) else one for one in part]
                setattr(written, name, whole)
        return written

    def _expanded(
        self, call: ast.Call, before: list[ast.stmt], around: tuple[str, ...], way: _Way
    ) -> ast.expr | None:
        """What ``call`` returns, its statements in ``before``; None where it is read in another way, or refused."""
        helper, call = self._called(call)
        if helper is None or helper.name in (*around, self._source.name) or len(around) > _DEEPEST:
            return None
        is_simple = not way.several and not way.is_statement and self._is_expression(helper, around)
        is_simple = is_simple and not asked_for_none(self._of_helper(helper))
        is_simple = is_simple and call_size(call, helper, lambda one: self._names.helper(one.func)) <= MOST
        given = given_values(helper, call)
        if is_simple and not self._has_arrays([*helper.body, *call.args]) and not self._gets_arrays(helper, given):
            return None
        if any(isinstance(part, _UNREADABLE) for part in parts_of(*helper.body)):
            return None
        if (self._source.is_cell and self._makes_arrays(helper)) or (changes_arrays(helper) and not way.is_alone):
            return None
        if given is None:
            return None
        none = {name: ABSENT if is_none(value) else 0 for name, value in given.items()}
        given = {name: value for name, value in given.items() if none[name] != ABSENT}
        body = self._body(helper, call, none)
        if body is None or not (way.is_statement or _has_result(body)):
            return None
        return self._pasted(body, given, call, before, (*around, helper.name))

    def _called(self, call: ast.Call) -> tuple[ast.FunctionDef | None, ast.Call]:
        """The helper that ``call`` is of, and how it is called."""
        return library_helper(call, self._names, self._arrays.computes) or (self._names.helper(call.func), call)

    def _gets_arrays(self, helper: ast.FunctionDef, given: Mapping[str, ast.expr] | None) -> bool:
        """Whether ``helper`` computes with whole arrays that it is ``given``."""
        values = [value for name, value in (given or {}).items() if name in operands(helper)]
        return any(self._arrays.computes(value) or self._has_rows(value) for value in values)

    def _has_rows(self, value: ast.expr) -> bool:
        """Whether ``value`` is, or is computed with, a row or plane of an argument whose dimensions are stated."""
        match value:
            case ast.Subscript():
                base, indices = subscript_chain(value)
                return isinstance(base, ast.Name) and self._ranks.get(base.id, 0) > len(indices)
            case ast.BinOp(left=left, right=right):
                return self._has_rows(left) or self._has_rows(right)
            case ast.UnaryOp(operand=operand):
                return self._has_rows(operand)
        return False

    def _pasted(
        self,
        body: Sequence[ast.stmt],
        given: Mapping[str, ast.expr],
        call: ast.Call,
        before: list[ast.stmt],
        around: tuple[str, ...],
    ) -> ast.expr | None:
        self.changed = True
        stored = stored_in(*body)
        read = names_in(*body)
        values: dict[str, ast.expr] = {}
        for name, value in given.items():
            if name not in read and not any(isinstance(part, ast.Call) for part in parts_of(value)):
                continue  # a row that nobody looks at
            if name in stored or not self._stands_for_itself(value):
                own = self._own(name)
                before.append(located(ast.Assign([ast.Name(own, ast.Store())], value), call))
                values[name] = ast.Name(own, ast.Load())
            else:
                values[name] = value
        values |= {name: ast.Name(self._own(name), ast.Load()) for name in sorted(stored - given.keys())}
        *rest, last = _PutIn(values, call).written(body) or [ast.Pass()]
        if not isinstance(last, ast.Return):
            before += self.block([*rest, last], around)
            return _NOTHING
        before += self.block(rest, around)
        return _NOTHING if last.value is None else self._computed(last.value, before, around)

    def _own(self, name: str) -> str:
        own = self._fresh.like(name)
        self.own.add(own)
        return own

    def _stands_for_itself(self, value: ast.expr) -> bool:
        """Whether ``value`` may be written wherever the parameter is: a name, a number, ``np.float64``."""
        inner = value.operand if isinstance(value, ast.UnaryOp) else value
        return isinstance(inner, ast.Name | ast.Constant) or self._names.canonical(value) is not None

    def _of_helper(self, helper: ast.FunctionDef) -> Source:
        """The statements of ``helper`` behind its docstring."""
        start = int(ast.get_docstring(helper) is not None)
        return replace(self._source, body=tuple(helper.body[start:]), arguments=helper.args, name=helper.name)

    def _body(self, helper: ast.FunctionDef, call: ast.Call, none: Mapping[str, int]) -> list[ast.stmt] | None:
        """The statements of ``helper`` with one ``return`` at their end, or none; with numbers for its constants.

        ``none`` says which of its arguments are None.
        """
        inner = self._names.of_helper(call.func)
        own = without_absent(self._of_helper(helper), none)
        body = list(one_return(without_loop_else(own, inner), inner).body)
        if any(isinstance(part, ast.Return) for part in parts_of(*body[:-1])):
            return None
        if body and not isinstance(body[-1], ast.Return) and any(isinstance(p, ast.Return) for p in parts_of(body[-1])):
            return None
        constants = self._constants(body, argument_names(helper.args) | stored_in(*body), inner)
        if constants is None:
            return None
        return _PutIn(constants, call).written(body) if constants else body

    def _constants(self, body: Sequence[ast.stmt], own: set[str], inner: GlobalNames) -> dict[str, ast.expr] | None:
        """The numbers that the names of ``body`` are which mean something else here; None where one is no number."""
        found: dict[str, ast.expr] = {}
        parts = list(names_of(*body))
        for part in {part.id: part for part in parts if part.id not in own}.values():
            is_free = part.id not in self._callers
            if is_free and (inner is self._names or self._is_same(part, inner)):
                continue
            constant = inner.constant(part)
            if constant is None:
                return None
            found[part.id] = ast.Constant(constant.value)
        return found

    def _is_same(self, name: ast.Name, inner: GlobalNames) -> bool:
        if inner.knows(name.id) and self._names.knows(name.id):
            return inner.value(name.id) is self._names.value(name.id)
        canonical = inner.canonical(name)
        if canonical is None:
            is_own = inner.knows(name.id) or self._names.knows(name.id)
            return hasattr(builtins, name.id) and not is_own  # an exception that is raised
        return canonical == self._names.canonical(name)

    def _is_expression(self, helper: ast.FunctionDef, around: tuple[str, ...]) -> bool:
        """Whether ``helper`` is one expression, with all that it calls."""
        if not is_expression(helper):
            return False
        calls = (part for part in parts_of(*helper.body) if isinstance(part, ast.Call))
        called = [one for one in (self._names.helper(call.func) for call in calls) if one is not None]
        around = (*around, helper.name)
        return all(one.name in around or self._is_expression(one, around) for one in called)

    def _has_arrays(self, parts: Sequence[ast.AST]) -> bool:
        """Whether ``parts`` compute with whole arrays, for certain."""
        for part in parts_of(*parts):
            is_product = isinstance(part, ast.BinOp | ast.AugAssign) and isinstance(part.op, ast.MatMult)
            if is_product or isinstance(part, ast.Slice):
                return True
            if isinstance(part, ast.Call) and self._names.helper(part.func) is None:
                called = self._names.canonical(part.func) or ""
                if called not in PURE and (called.startswith("numpy.") or isinstance(part.func, ast.Attribute)):
                    return True
        return False

    def _makes_arrays(self, helper: ast.FunctionDef) -> bool:
        calls = (part for part in parts_of(*helper.body) if isinstance(part, ast.Call))
        return any((self._names.canonical(call.func) or "") in MAKERS for call in calls)


def _has_result(body: Sequence[ast.stmt]) -> bool:
    last = body[-1] if body else None
    return isinstance(last, ast.Return) and last.value is not None


class _PutIn(ast.NodeTransformer):
    """Puts ``values`` in the place of names; everything gets the place of ``call`` in the text.

    Where that compares two texts, as in ``if mode == "periodic":``, only the arm that is taken stays.
    """

    def __init__(self, values: Mapping[str, ast.expr], call: ast.Call) -> None:
        self._values = values
        self._call = call

    def written(self, body: Iterable[ast.stmt]) -> list[ast.stmt]:
        """``body`` with the values, each statement at the place of the call."""
        return visited(self, copies_of(body))

    def visit(self, node: ast.AST) -> ast.AST | list[ast.stmt]:
        """``node`` with the values, at the place of the call."""
        if isinstance(node, ast.Name) and node.id in self._values:
            value = copy_of(self._values[node.id])
            if isinstance(value, ast.Name):
                value.ctx = node.ctx
            node = value
        else:
            self.generic_visit(node)
        for part in parts_of(node):
            if isinstance(part, ast.stmt | ast.expr | ast.keyword):
                ast.copy_location(part, self._call)
        return _taken(node) if isinstance(node, ast.If) else node


def _taken(node: ast.If) -> ast.If | list[ast.stmt]:
    """The arm of ``node`` that is taken, where its condition compares two texts."""
    match node.test:
        case ast.Compare(
            left=ast.Constant(value=str() as one), ops=[ast.Eq() | ast.NotEq() as operator], comparators=[other]
        ) if isinstance(other, ast.Constant) and isinstance(other.value, str):
            arm = node.body if (one == other.value) is isinstance(operator, ast.Eq) else node.orelse
            return arm or [ast.copy_location(ast.Pass(), node)]
    return node


def _one_by_one(node: ast.stmt, own: set[str]) -> list[ast.stmt]:
    """``x, y = a, b`` as two assignments, where the values are names of a helper, which ``x`` cannot change."""
    match node:
        case ast.Assign(targets=[ast.Tuple(elts=targets)], value=ast.Tuple(elts=values)) if len(targets) == len(values):
            if all(isinstance(value, ast.Name) and value.id in own for value in values):
                pairs = zip(targets, values, strict=True)
                return [located(ast.Assign([target], value), node) for target, value in pairs]
    return [node]
