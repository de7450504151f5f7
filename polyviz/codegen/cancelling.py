"""Statements that ask whether a difference of products is zero.

``area = x0 * y1 - x1 * y0`` is exactly zero where both products are the same. Fused with the difference, one of them is
not rounded, and what is left of the other is about 1e-17. Whoever asks ``if area != 0`` before dividing by it gets
another answer then, and no tolerance covers that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from polyviz.codegen.decisive import decisive_statements
from polyviz.codegen.typing import assignments, infer
from polyviz.model.expression import Binary, Call, Compare, Constant, Element, Expression, Unary, walk

if TYPE_CHECKING:
    from collections.abc import Iterable

    from polyviz.codegen.typing import Environment
    from polyviz.model.expression import Node
    from polyviz.model.scop import Scop

_KEEP_ZERO = frozenset({
    "abs", "math.fabs", "math.sqrt", "math.hypot",
    *(f"numpy.{name}" for name in ("abs", "absolute", "fabs", "sqrt", "square", "hypot")),
})  # fmt: skip
"""Functions that are zero where what they are given is, and nowhere else."""


def asks_for_zero(scop: Scop, environment: Environment) -> tuple[str, ...]:
    """The names of the statements that compare such a difference, or what is made of it, with zero.

    >>> from polyviz import extract
    >>> from polyviz.codegen.typing import Environment
    >>> part = extract('''
    ... for i in range(n):
    ...     area = x[i] * v[i] - y[i] * u[i]
    ...     if area != 0:
    ...         z[i] = 1.0 / area
    ... ''')
    >>> asks_for_zero(part, Environment(dict.fromkeys(["x", "y", "u", "v", "z", "area"], "float64")))
    ('S1',)
    """
    cancelling = _Cancelling(scop, environment)
    return tuple(one.name for one in scop.statements if cancelling.is_asked_in(one.body))


def is_exact(scop: Scop, environment: Environment) -> bool:
    """Whether a last bit decides anywhere in the part, about zero or about a whole number."""
    return bool(decisive_statements(scop, environment) or asks_for_zero(scop, environment))


class _Cancelling:
    """What holds a difference of products: ``names`` of arrays and scalars."""

    def __init__(self, scop: Scop, environment: Environment) -> None:
        self.environment = environment
        self.names: set[str] = set()
        given = [part for one in scop.statements for part in assignments(one.body)]
        before = -1
        while before < len(self.names):
            before = len(self.names)
            self.names |= {part.target.array for part in given if self.is_in(part.value)}

    def is_in(self, value: Expression) -> bool:
        """Whether ``value`` is such a difference, or zero where one is."""
        match value:
            case Element(array):
                return array in self.names
            case Binary("-", left, right) if self._is_product(left) and self._is_product(right):
                return not infer(value, self.environment).is_integral
            case Binary("+" | "-" | "*", left, right):
                return self.is_in(left) or self.is_in(right)
            case Binary("**", base, _):
                return self.is_in(base)
            case Unary("-", operand):
                return self.is_in(operand)
            case Call(function, arguments) if function in _KEEP_ZERO:
                return any(map(self.is_in, arguments))
        return False

    def is_asked_in(self, body: Iterable[Node]) -> bool:
        """Whether a comparison in ``body`` tells such a difference from zero."""
        compared = (node for line in body for node in walk(line) if isinstance(node, Compare))
        return any(any(map(_is_zero, one.operands)) and any(map(self.is_in, one.operands)) for one in compared)

    def _is_product(self, value: Expression) -> bool:
        match value:
            case Binary("*" | "/" | "**"):
                return True
            case Binary("+" | "-", left, right):
                return self._is_product(left) and self._is_product(right)
        return False


def _is_zero(operand: Expression) -> bool:
    return isinstance(operand, Constant) and not isinstance(operand.value, bool) and operand.value == 0
