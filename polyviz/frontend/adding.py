"""The loops that add up elements for sums, means, variances, counts and norms: all of them, or those of a mask."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING

from polyviz.frontend.literals import SUM
from polyviz.frontend.own_names import numpy_function
from polyviz.frontend.parts import copy_of
from polyviz.frontend.regions import nested, not_negative
from polyviz.frontend.summed import COUNTS, NORM

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from polyviz.frontend.regions import Axis


@dataclass(frozen=True, slots=True)
class Adder:
    """Puts loops along ``axes``, whose variables have these ``names``, behind what is in ``before``.

    ``fresh`` makes names; ``chosen`` tells of an element whether it counts, as all do without it.
    """

    fresh: Callable[[str], str]
    before: list[ast.stmt]
    axes: Sequence[Axis]
    names: Sequence[str]
    chosen: ast.expr | None = None

    def value(self, kind: str, element: ast.expr) -> ast.expr:
        """What is asked of the elements, of which ``element`` is one."""
        if kind in COUNTS:
            return self._counted(kind, element)
        if kind == NORM:
            return call_of_numpy("sqrt", call_of_numpy("real", self.total(_square(element))))
        if kind in ("var", "std"):
            variance = self._variance(element)
            return variance if kind == "var" else call_of_numpy("sqrt", variance)
        return self.total(element) if kind == "sum" else self._mean(element)

    def total(self, value: ast.expr) -> ast.Name:
        """The sum of ``value`` over all positions."""
        total = self.fresh("total")
        self.before.append(ast.Assign([ast.Name(total, ast.Store())], ast.Constant(0, SUM)))
        if self.chosen is not None:
            value = ast.IfExp(copy_of(self.chosen), value, ast.Constant(0, SUM))
        add = ast.AugAssign(ast.Name(total, ast.Store()), ast.Add(), value)
        self.before.append(nested(self.axes, self.names, add))
        return ast.Name(total, ast.Load())

    def _variance(self, element: ast.expr) -> ast.expr:
        """The mean of the squared distances from the mean."""
        mean = self.fresh("mean")
        self.before.append(ast.Assign([ast.Name(mean, ast.Store())], self._mean(element)))
        distance = ast.BinOp(copy_of(element), ast.Sub(), ast.Name(mean, ast.Load()))
        return call_of_numpy("real", self._mean(_square(distance)))

    def _mean(self, element: ast.expr) -> ast.expr:
        total = self.total(element)
        if self.chosen is not None:
            return ast.BinOp(total, ast.Div(), self.total(ast.Constant(1)))
        count = self.fresh("count")
        self.before.append(ast.Assign([ast.Name(count, ast.Store())], ast.Constant(1)))
        for axis in self.axes:
            self.before.append(ast.AugAssign(ast.Name(count, ast.Store()), ast.Mult(), not_negative(axis.length)))
        return ast.BinOp(total, ast.Div(), ast.Name(count, ast.Load()))

    def _counted(self, kind: str, element: ast.expr) -> ast.expr:
        """How many elements are true, or whether some or all are."""
        if kind == "all":
            element = ast.UnaryOp(ast.Not(), element)
        total = self.total(ast.IfExp(element, ast.Constant(1), ast.Constant(0)))
        if kind == "count_nonzero":
            return total
        return ast.Compare(total, [ast.Gt() if kind == "any" else ast.Eq()], [ast.Constant(0)])


def call_of_numpy(name: str, *values: ast.expr) -> ast.expr:
    """The call of a function of NumPy.

    >>> ast.unparse(call_of_numpy("sqrt", ast.Constant(2)))
    'np.sqrt(2)'
    """
    return ast.Call(numpy_function(name), [*values], [])


def _square(value: ast.expr) -> ast.expr:
    """The square of the absolute value."""
    return ast.BinOp(value, ast.Mult(), call_of_numpy("conj", copy_of(value)))
