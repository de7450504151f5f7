"""One iteration of a loop played through: what integers hold at its end, by what they held when it began.

Only integers made of names and numbers are followed, through assignments, choices whose arms agree, and inner loops
that advance them by the same amount each time. Anything else makes an integer unknown.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from polyviz.errors import ExtractionError
from polyviz.frontend.expressions import ExpressionReader
from polyviz.frontend.integer_forms import is_integer_form
from polyviz.frontend.integers import constant_integer, is_integral
from polyviz.frontend.jumps import ends_early, without_continue
from polyviz.frontend.loops import Header, plus, scaled, sum_of
from polyviz.frontend.parts import stored_in
from polyviz.model.expression import Binary, Constant, Expression, Name, walk

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from polyviz.frontend.names import GlobalNames
    from polyviz.frontend.program import Program
    from polyviz.frontend.symbols import ArrayDraft

_MARK = "@"  # no identifier of Python has one


class _UnknownError(Exception):
    """An integer that is not followed."""


def sign(name: str, depth: int = 0) -> Name:
    """What ``name`` held when the iteration began, of the loop played or of one ``depth`` levels inside."""
    return Name(f"{name}{_MARK}{depth}")


def signs_of(expression: Expression) -> set[str]:
    """The names whose values at the beginning ``expression`` is made of.

    >>> signs_of(Binary("+", sign("k"), Name("n")))
    {'k'}
    """
    found = (node.name for node in walk(expression) if isinstance(node, Name))
    return {name.partition(_MARK)[0] for name in found if _MARK in name}


def advance(value: Expression, beginning: Name) -> Expression | None:
    """What was added to ``beginning``; None where ``value`` is no such sum.

    >>> advance(Binary("-", Binary("+", Name("n"), sign("k")), Constant(1)), sign("k"))
    Binary(operator='-', left=Name(name='n'), right=Constant(value=1))
    """
    if value == beginning:
        return Constant(0)
    if not isinstance(value, Binary) or value.operator not in ("+", "-") or beginning not in walk(value):
        return None
    if beginning not in walk(value.right):
        inner = advance(value.left, beginning)
        return None if inner is None else plus(inner, value.right, value.operator)
    if value.operator == "-" or beginning in walk(value.left):
        return None
    inner = advance(value.right, beginning)
    return None if inner is None else plus(value.left, inner)


def assigned(body: Iterable[ast.stmt]) -> set[str]:
    """The names that ``body`` may give another value."""
    return stored_in(*body)


def ends_of(
    program: Program, body: Iterable[ast.stmt], changed: Iterable[str], places: Mapping[str, Expression]
) -> dict[str, Expression]:
    """What those of ``changed`` hold that are followed, when ``body`` has run at ``places`` of the loop variable."""
    play = _Play(program, {**{name: sign(name) for name in changed}, **places}, 0)
    play.run(body)
    return {name: value for name in changed if (value := play.values[name]) is not None}


class _Play:
    """A scope in which the names of ``values`` have these; None: not known. Other names are as in ``program``."""

    def __init__(self, program: Program, values: dict[str, Expression | None], depth: int) -> None:
        self.values = values
        self._program = program
        self._depth = depth
        self._reader = ExpressionReader(program, self)

    @property
    def globals(self) -> GlobalNames:
        """Names that the program does not assign."""
        return self._program.globals

    def is_local(self, name: str) -> bool:
        """Whether a global of this name is hidden."""
        return self._program.is_local(name)

    def array(self, name: str) -> ArrayDraft | None:
        """The array called ``name``."""
        return self._program.array(name)

    def read(self, node: ast.Name) -> Expression:
        """The value of a name that is followed."""
        if node.id in self.values:
            value = self.values[node.id]
        else:
            self._program.meet(node.id)
            known = self._program.environment.known(node.id)
            value = None if known is None or not known.is_certain else known.expression
        if value is None:
            raise _UnknownError
        return value

    def run(self, body: Iterable[ast.stmt]) -> None:
        """Play the statements of ``body``."""
        for statement in body:
            self._statement(statement)

    def _statement(self, node: ast.stmt) -> None:
        match node:
            case ast.Assign(targets=[ast.Tuple(elts=left)], value=ast.Tuple(elts=right)) if len(left) == len(right):
                self._assign([*zip(left, right, strict=True)], node)
            case ast.Assign(targets=targets, value=value):
                self._assign([(target, value) for target in targets], node)
            case ast.AugAssign(target=ast.Name(id=name) as target, op=operator, value=value):
                before = ast.copy_location(ast.Name(name, ast.Load()), target)
                self.values[name] = self._value(ast.copy_location(ast.BinOp(before, operator, value), node))
            case ast.If():
                self._choice(node)
            case ast.For():
                self._loop(node)
            case _:
                self._forget(node)

    def _assign(self, pairs: list[tuple[ast.expr, ast.expr]], node: ast.stmt) -> None:
        values = [self._value(value) for _, value in pairs]
        self._forget(node)
        for (target, _), value in zip(pairs, values, strict=True):
            if isinstance(target, ast.Name):
                self.values[target.id] = value

    def _forget(self, node: ast.stmt) -> None:
        self.values |= dict.fromkeys(assigned([node]))

    def _choice(self, node: ast.If) -> None:
        then, otherwise = (_Play(self._program, dict(self.values), self._depth) for _ in range(2))
        then.run(node.body)
        otherwise.run(node.orelse)
        for name in assigned([node]):
            agreed = then.values[name] == otherwise.values[name]
            self.values[name] = then.values[name] if agreed else None

    def _loop(self, node: ast.For) -> None:
        """What an inner loop advances by the same amount in each of its iterations."""
        header, block = self._header(node), without_continue(node.body)
        before = dict(self.values)
        self._forget(node)
        if header is None or ends_early(block):
            return
        depth = self._depth + 1
        changed = assigned(block) - {header.variable}
        inside = {**before, **{name: sign(name, depth) for name in changed}, header.variable: None}
        play = _Play(self._program, inside, depth)
        play.run(block)
        for name in changed:
            start, end = before.get(name), play.values[name]
            step = None if end is None else advance(end, sign(name, depth))
            if start is not None and step is not None:
                self.values[name] = plus(start, scaled(step, header.iterations()))

    def _header(self, node: ast.For) -> Header | None:
        """The range of an inner loop, where it is the same in every iteration of the loop around."""
        match node:
            case ast.For(target=ast.Name(id=variable), iter=ast.Call(func=function, args=bounds, keywords=[])):
                pass
            case _:
                return None
        if self._reader.canonical(function) not in ("range", "numba.prange") or node.orelse or len(bounds) > 3:
            return None
        values = [self._value(bound) for bound in bounds]
        given = [value for value in values if value is not None]
        if len(given) < len(values):
            return None
        start, stop, step = [*([Constant(0)] if len(given) == 1 else []), *given, Constant(1)][:3]
        return Header(variable, start, stop, step) if constant_integer(step) else None

    def _value(self, node: ast.expr) -> Expression | None:
        if not is_integer_form(node) and not _is_extent(node):
            return None
        try:
            value = self._reader.read(node)
        except (_UnknownError, ExtractionError):
            return None
        return sum_of(value, 0) if is_integral(value) else None


def _is_extent(node: ast.expr) -> bool:
    """Whether ``node`` is ``A.shape[0]``."""
    return (
        isinstance(node, ast.Subscript)
        and isinstance(node.value, ast.Attribute)
        and node.value.attr == "shape"
        and isinstance(node.slice, ast.Constant)
    )
