"""Values that NumPy keeps in memory before they are used: a line before gives them a name.

``s = x @ (A @ y)`` is ``factor = A @ y`` and ``s = x @ factor``, and so it is for ``np.sum(A @ y)``. A running sum,
``y = np.cumsum(x)``, is a copy of ``x`` and the loop that adds to each element the one before; ``np.diff(x)`` is
``x[1:] - x[:-1]``.
"""

from __future__ import annotations

import ast
import copy
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar

from polyviz.frontend.own_names import numpy_function
from polyviz.frontend.parts import copy_of, parts_of
from polyviz.frontend.ranks import least_ranks, product_factors
from polyviz.frontend.regions import call_of, constant_of, extent_of, is_new_axis, is_part
from polyviz.frontend.summed import EXTREMES, PLACES, summed_by
from polyviz.frontend.usage import subscript_chain
from polyviz.frontend.visited import FreshNames, located

if TYPE_CHECKING:
    from collections.abc import Sequence

    from polyviz.frontend.names import GlobalNames
    from polyviz.frontend.source import Source

Expression = TypeVar("Expression", bound=ast.AST)
_RUNNING: dict[str, ast.operator | str] = {
    "numpy.cumsum": ast.Add(), "numpy.add.accumulate": ast.Add(),
    "numpy.cumprod": ast.Mult(), "numpy.multiply.accumulate": ast.Mult(),
    "numpy.maximum.accumulate": "maximum", "numpy.minimum.accumulate": "minimum",
}  # fmt: skip
"""What makes each element from the one before and the one of the operand."""
_METHODS = {"cumsum": "numpy.cumsum", "cumprod": "numpy.cumprod"}


def with_named_parts(source: Source, names: GlobalNames) -> Source:
    """``source`` with names for computed factors of products, and with loops for running sums.

    In a cell nothing is named: every name would be in the notebook afterwards.

    >>> from polyviz.frontend.names import GlobalNames
    >>> from polyviz.frontend.source import read_source
    >>> source = read_source("def f(A, x):\\n    s = x @ (A @ x)\\n    y = np.cumsum(x)", None, None)
    >>> print(ast.unparse(ast.Module(list(with_named_parts(source, GlobalNames(source)).body), [])))
    factor = A @ x
    s = x @ factor
    y = +x[:]
    for place in range(1, y.shape[0]):
        element = y[place]
        y[place] = y[place - 1] + element
    """
    if source.is_cell:
        return source
    writer = _Writer(source, names)
    body = tuple(writer.block(source.body))
    return replace(source, body=body, own_loops=source.own_loops | writer.own) if writer.changed else source


class _Writer:
    """Goes through blocks; ``own`` are the variables of the loops that it writes."""

    def __init__(self, source: Source, names: GlobalNames) -> None:
        self._names = names
        self._fresh = FreshNames(source, names)
        self._ranks = least_ranks(source, names)
        self.own: set[str] = set()
        self.changed = False

    def block(self, body: Sequence[ast.stmt]) -> list[ast.stmt]:
        """``body`` with the lines that keep what is computed in front of those that use it."""
        return [one for node in body for one in self._statement(node)]

    def _statement(self, node: ast.stmt) -> list[ast.stmt]:
        parts = _Parts(self)
        written = copy.copy(node)
        match written:
            case ast.Assign(targets=[ast.Name() as target], value=value) if (found := self.running(value)) is not None:
                found = replace(found, operand=parts.visit(copy_of(found.operand)))
                lines = self.lines(target.id, found, node)
                return [*parts.before, *lines]
            case ast.Assign() | ast.AugAssign() | ast.Return() if written.value is not None:
                written.value = parts.visit(copy_of(written.value))
            case ast.If(test=test):
                written.test = parts.visit(copy_of(test))
        if isinstance(written, ast.For | ast.While | ast.If):
            written.body, written.orelse = self.block(written.body), self.block(written.orelse)
        self.changed = self.changed or bool(parts.before)
        return [*parts.before, written]

    def factors(self, node: ast.expr) -> list[ast.expr]:
        """The factors of ``node``, if it is a product of arrays."""
        return product_factors(node, self._names.canonical)

    def looked_through(self, node: ast.expr) -> list[ast.expr]:
        """What ``node`` adds up, or looks for the largest of, if that is made of products or of sums along an axis.

        Likewise what has new axes and is looked through for the largest: an array says how long it is.
        """
        canonical = self._names.canonical
        summed = summed_by(node, canonical)
        if summed is None:
            return []
        inside = [part for part in parts_of(summed.operand) if isinstance(part, ast.expr)]
        wide = any((found := summed_by(part, canonical)) is not None and found.axes is not None for part in inside)
        grown = summed.kind in (*EXTREMES, *PLACES) and any(map(_has_new_axis, inside))
        return [summed.operand] if wide or grown or any(map(self.factors, inside)) else []

    def is_of_places(self, factor: ast.expr) -> bool:
        """Whether ``factor`` is rows of an array, each chosen by its place."""
        base, indices = subscript_chain(factor) if isinstance(factor, ast.Subscript) else (factor, ())
        rank = self._ranks.get(base.id, 0) if isinstance(base, ast.Name) else 0
        chosen = [one for one in indices if isinstance(one, ast.Name) and self._ranks.get(one.id)]
        return bool(chosen) and rank - len(indices) + sum(isinstance(one, ast.Slice) for one in indices) > 0

    def running(self, node: ast.expr) -> _Running | None:
        """What ``node`` adds up, if it is a running sum."""
        if not isinstance(node, ast.Call):
            return None
        called, given = self._names.canonical(node.func) or "", list(node.args)
        if isinstance(node.func, ast.Attribute) and not called and node.func.attr in _METHODS:
            called, given = _METHODS[node.func.attr], [node.func.value, *given]
        named = [one.value for one in node.keywords if one.arg == "axis"]
        if called not in _RUNNING or not given or len(given) + len(named) > 2 or len(named) < len(node.keywords):
            return None
        axes = [*given[1:], *named]
        axis = constant_of(axes[0]) if axes else 0
        if axis is None or axis < 0:
            return None
        is_flat = not axes and not called.endswith("accumulate")
        return None if is_flat and self._is_wide(given[0]) else _Running(given[0], _RUNNING[called], axis, is_flat)

    def _is_wide(self, node: ast.expr) -> bool:
        """Whether ``node`` is known to have more than one dimension."""
        return isinstance(node, ast.Name) and self._ranks.get(node.id, 1) > 1

    def difference(self, node: ast.expr) -> ast.expr | None:
        """``np.diff(x)`` as the slices that it takes the difference of; None for anything else."""
        match node:
            case ast.Call(func=function, args=[ast.Name(id=name) as array], keywords=[]):
                pass
            case _:
                return None
        if self._names.canonical(function) != "numpy.diff":
            return None
        self.changed = True
        before = [ast.Slice()] * (self._ranks.get(name, 1) - 1)
        ends = ast.Slice(lower=ast.Constant(1)), ast.Slice(upper=ast.Constant(-1))
        later, earlier = (ast.Subscript(array, _index([*before, end]), ast.Load()) for end in ends)
        return located(ast.BinOp(later, ast.Sub(), earlier), node)

    def kept(self, value: ast.expr) -> tuple[list[ast.stmt], ast.expr]:
        """The lines that keep the factor ``value``, and the name that stands for it."""
        name = self._fresh.like("factor")
        line = ast.Assign([ast.Name(name, ast.Store())], value)
        return [located(line, value)], located(ast.Name(name, ast.Load()), value)

    def added_up(self, node: ast.expr, running: _Running) -> tuple[list[ast.stmt], ast.expr]:
        """The lines that work out a running sum, and the name that stands for it."""
        name = self._fresh.like("running")
        return self.lines(name, running, node), located(ast.Name(name, ast.Load()), node)

    def lines(self, name: str, running: _Running, node: ast.AST) -> list[ast.stmt]:
        """The lines that give ``name`` to a running sum, at the place of ``node``."""
        place, element = self._fresh.like("place"), self._fresh.like("element")
        self.own.add(place)
        self.changed = True
        return [located(one, node) for one in running.lines(name, place, element)]


@dataclass(frozen=True, slots=True)
class _Running:
    """A running sum of ``operand`` along ``axis``; ``is_flat``: over all elements, which is the same for vectors."""

    operand: ast.expr
    operator: ast.operator | str
    axis: int
    is_flat: bool

    def lines(self, name: str, place: str, element: str) -> list[ast.stmt]:
        """A copy, and the loop that puts together each element and the one before."""
        before = ast.BinOp(ast.Name(place, ast.Load()), ast.Sub(), ast.Constant(1))
        first: ast.expr = self._at(name, before)
        second: ast.expr = self._at(name, ast.Name(place, ast.Load()))
        body: list[ast.stmt] = []
        if self.is_flat:
            # What has more dimensions is no element, and is refused here.
            body.append(ast.Assign([ast.Name(element, ast.Store())], second))
            second = ast.Name(element, ast.Load())
        if isinstance(self.operator, str):
            function = numpy_function(self.operator)
            following: ast.expr = ast.Call(function, [first, second], [])
        else:
            following = ast.BinOp(first, self.operator, second)
        target = self._at(name, ast.Name(place, ast.Load()))
        target.ctx = ast.Store()
        body.append(ast.Assign([target], following))
        ends = [ast.Constant(1), extent_of(ast.Name(name), self.axis)]
        loop = ast.For(ast.Name(place, ast.Store()), call_of("range", *ends), body, [])
        return [ast.Assign([ast.Name(name, ast.Store())], self._copy()), loop]

    def _copy(self) -> ast.expr:
        """All elements; the sign makes whole numbers as wide as NumPy makes them for a sum."""
        operand = self.operand
        if isinstance(operand, ast.Name):
            operand = ast.Subscript(operand, _index([ast.Slice()] * (self.axis + 1)), ast.Load())
        return ast.UnaryOp(ast.UAdd(), operand)

    def _at(self, name: str, index: ast.expr) -> ast.Subscript:
        return ast.Subscript(ast.Name(name, ast.Load()), _index([*[ast.Slice()] * self.axis, index]), ast.Load())


class _Parts(ast.NodeTransformer):
    """Puts names in the place of what is kept; ``before`` are the lines that keep it."""

    def __init__(self, writer: _Writer) -> None:
        self._writer = writer
        self.before: list[ast.stmt] = []

    def visit(self, node: Expression) -> Expression:
        """``node`` with names; what may not be computed at all stays where it is."""
        if isinstance(node, ast.IfExp | ast.BoolOp | ast.Lambda | ast.GeneratorExp | ast.ListComp):
            return node
        written = self.generic_visit(node)
        if not isinstance(written, ast.expr):
            return written  # type: ignore[return-value]  # what is no expression stays what it is
        if (difference := self._writer.difference(written)) is not None:
            return difference  # type: ignore[return-value]  # an expression stays one
        if (found := self._writer.running(written)) is not None:
            lines, name = self._writer.added_up(written, found)
            self.before += lines
            return name  # type: ignore[return-value]  # an expression stays one
        for factor in (*self._writer.factors(written), *self._writer.looked_through(written)):
            is_kept = not is_part(factor) or self._writer.is_of_places(factor)
            if is_kept and not isinstance(factor, ast.Constant):
                lines, name = self._writer.kept(copy.copy(factor))
                self.before += lines
                _replace(written, factor, name)
        return written  # type: ignore[return-value]  # an expression stays one


def _has_new_axis(node: ast.expr) -> bool:
    return isinstance(node, ast.Subscript) and any(map(is_new_axis, subscript_chain(node)[1]))


def _replace(node: ast.expr, old: ast.expr, new: ast.expr) -> None:
    """Put ``new`` in the place of the factor ``old`` of ``node``."""
    for owner in (node, getattr(node, "func", None)):
        for field, value in ast.iter_fields(owner) if isinstance(owner, ast.AST) else ():
            if value is old:
                setattr(owner, field, new)
            elif isinstance(value, list):
                value[:] = [new if one is old else one for one in value]


def _index(parts: list[ast.expr]) -> ast.expr:
    return parts[0] if len(parts) == 1 else ast.Tuple(list(parts), ast.Load())
