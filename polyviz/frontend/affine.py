"""Expressions over iterators and parameters as isl values: quasi-affine functions and sets.

Every ``Name`` is an iterator (a set dimension) or a parameter. An integer made of parameters alone that is not affine
in them becomes a parameter of its own; anything else that is not affine raises :class:`NotAffine` with the reason.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import reduce
from typing import TYPE_CHECKING

import islpy as isl

from polyviz.frontend.integers import INTEGER_CASTS, LARGEST, constant_integer, is_integral
from polyviz.frontend.spelling import spelled
from polyviz.model.expression import (
    Binary,
    Call,
    Compare,
    Conditional,
    Constant,
    Element,
    Expression,
    Logical,
    Name,
    Unary,
    walk,
)

if TYPE_CHECKING:
    from polyviz.frontend.parameters import ParameterTable

_ROUNDINGS = {"math.floor", "math.ceil", "math.trunc", "numpy.floor", "numpy.ceil", "numpy.trunc"}
# Beyond 2**53 a true division is no longer exact; no loop runs that long.
_DYADIC = 2**20


class NotAffine(Exception):  # noqa: N818  # it never leaves this room; NotAffineError is what users see
    """An expression has no quasi-affine value; ``reason`` completes "because …"."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class AffineReader:
    """Reads expressions at one place of the program: below the loops ``iterators``, outermost first.

    >>> from polyviz.frontend.parameters import ParameterTable
    >>> reader = AffineReader(("i",), ParameterTable(()))
    >>> print(reader.value(Binary("//", Binary("+", Name("i"), Constant(1)), Constant(2))))
    { [i] -> [(floor((1 + i)/2))] }
    """

    def __init__(
        self, iterators: tuple[str, ...], parameters: ParameterTable, domain: isl.Set | None = None
    ) -> None:
        self.iterators = iterators
        self._parameters = parameters
        self._domain = domain

    def at(self, domain: isl.Set) -> AffineReader:
        """The same reader, which may use that only the points of ``domain`` come here."""
        return AffineReader(self.iterators, self._parameters, domain)

    def universe(self) -> isl.Set:
        """All integer values of the iterators."""
        return isl.Set.universe(self._space(()))

    def value(self, expression: Expression) -> isl.PwAff:
        """The integer value as a piecewise quasi-affine function of the iterators; raises :class:`NotAffine`."""
        try:
            return self._value(expression)
        except NotAffine:
            is_constant = not any(isinstance(node, Name) for node in walk(expression))
            if (
                is_constant
                or not is_integral(expression)
                or not self._parameters.is_made_of_parameters(expression)
            ):
                raise
        return self._dimension(self._parameters.derived(expression).name)

    def is_affine(self, expression: Expression) -> bool:
        """Whether ``expression`` has a value for :meth:`value`."""
        try:
            self.value(expression)
        except NotAffine:
            return False
        return True

    def condition(self, expression: Expression) -> isl.Set:
        """The iterations where ``expression`` is true; raises :class:`NotAffine`."""
        match expression:
            case Constant(value):
                return self.universe() if value else isl.Set.empty(self._space(()))
            case Unary("not", operand):
                return self.universe().subtract(self.condition(operand))
            case Logical(operator, operands):
                parts = [self.condition(operand) for operand in operands]
                return reduce(isl.Set.intersect if operator == "and" else isl.Set.union, parts).coalesce()
            case Compare(operators, operands):
                return self._comparison(operators, operands)
            case Call("bool", (operand,)):
                return self.condition(operand)
            case _:
                return self.value(expression).ne_set(self._constant(0))

    def loop(self, iterator: str, start: Expression, stop: Expression, step: Expression) -> isl.Set:
        """The values of ``iterator`` in ``range(start, stop, step)``; raises :class:`NotAffine`."""
        stride = self._fixed(step)
        if not stride:
            later = self._parameters.is_made_of_parameters(step)
            what = "becomes known only with the call (or from `sizes`)" if later else "is not a constant"
            raise NotAffine(f"the step `{spelled(step)}` {what}")
        inside = self.bounds(iterator, start, stop, stride)
        if abs(stride) > 1:
            distance = self._dimension(iterator).sub(self.value(start))
            inside = inside.intersect(distance.mod_val(isl.Val(abs(stride))).eq_set(self._constant(0)))
        return inside.coalesce()

    def bounds(
        self, iterator: str, start: Expression | None, stop: Expression | None, stride: int
    ) -> isl.Set:
        """The integers from ``start`` up to ``stop`` (down, for a negative stride), where these are given."""
        index, inside = self._dimension(iterator), self.universe()
        if start is not None:
            first = self.value(start)
            inside = inside.intersect(index.ge_set(first) if stride > 0 else index.le_set(first))
        if stop is not None:
            last = self.value(stop)
            inside = inside.intersect(index.lt_set(last) if stride > 0 else index.gt_set(last))
        return inside

    def _comparison(self, operators: tuple[str, ...], operands: tuple[Expression, ...]) -> isl.Set:
        result = self.universe()
        for operator, left, right in zip(operators, operands, operands[1:], strict=False):
            result = result.intersect(self._compared(operator, left, right))
        return result

    def _compared(self, operator: str, left: Expression, right: Expression) -> isl.Set:
        first, first_scale = self._rational(left)
        second, second_scale = self._rational(right)
        common = math.lcm(first_scale, second_scale)
        first = first.scale_val(isl.Val(common // first_scale))
        second = second.scale_val(isl.Val(common // second_scale))
        relations = {"==": "eq", "!=": "ne", "<": "lt", "<=": "le", ">": "gt", ">=": "ge"}
        compared: isl.Set = getattr(first, f"{relations[operator]}_set")(second)
        return compared

    def _rational(self, expression: Expression) -> tuple[isl.PwAff, int]:
        """An integer function and the positive number it has to be divided by.

        Rounding cannot change a comparison with an integer when the only divisions are one at the top or by powers
        of two, so only these are taken.
        """
        match expression:
            case Constant(float() as value) if math.isfinite(value):
                exact = Fraction(value)
                if exact.denominator <= _DYADIC:
                    return self._constant(exact.numerator), exact.denominator
                raise NotAffine(f"`{value}` is no integer")
            case Binary("/", left, Constant(int() as divisor)) if divisor > 0:
                return self.value(left), divisor
            case Binary("+" | "-" as operator, left, right) if _has_fraction(expression):
                return self._rational_sum(operator, left, right)
            case Binary("*", left, right) if _has_fraction(expression):
                return self._rational_product(left, right)
            case _:
                return self.value(expression), 1

    def _rational_sum(self, operator: str, left: Expression, right: Expression) -> tuple[isl.PwAff, int]:
        first, first_scale = self._rational(left)
        second, second_scale = self._rational(right)
        common = _exact_scale(math.lcm(first_scale, second_scale))
        first = first.scale_val(isl.Val(common // first_scale))
        second = second.scale_val(isl.Val(common // second_scale))
        return (first.add(second) if operator == "+" else first.sub(second)), common

    def _rational_product(self, left: Expression, right: Expression) -> tuple[isl.PwAff, int]:
        for factor, other in ((left, right), (right, left)):
            if isinstance(factor, Constant) and isinstance(factor.value, int | float):
                exact = Fraction(factor.value)
                value, scale = self._rational(other)
                return value.scale_val(isl.Val(exact.numerator)), _exact_scale(scale * exact.denominator)
        raise NotAffine(f"the product of `{spelled(left)}` and `{spelled(right)}` is not affine")

    def _value(self, expression: Expression) -> isl.PwAff:
        match expression:
            case Constant(value):
                if isinstance(value, float | complex):
                    raise NotAffine(f"`{value}` is no integer")
                if abs(value) >= LARGEST:
                    raise NotAffine(f"`{value}` is too large")
                return self._constant(int(value))
            case Name(name):
                return self._dimension(name)
            case Unary(operator, operand):
                return self._unary(operator, operand)
            case Binary(operator, left, right):
                return self._binary(operator, left, right)
            case Call(function, arguments):
                return self._call(function, arguments)
            case Conditional(condition, body, otherwise):
                return self._conditional(condition, body, otherwise)
            case Element():
                raise NotAffine(f"`{spelled(expression)}` depends on data")
            case _:
                raise NotAffine(f"`{spelled(expression)}` is no integer expression")

    def _unary(self, operator: str, operand: Expression) -> isl.PwAff:
        value = self.value(operand)
        if operator == "-":
            return value.neg()
        if operator == "~":
            return value.neg().sub(self._constant(1))
        if operator == "+":
            return value
        raise NotAffine(f"`{operator}` gives no integer")

    def _binary(self, operator: str, left: Expression, right: Expression) -> isl.PwAff:
        folded = constant_integer(Binary(operator, left, right))
        if folded is not None:
            return self._constant(folded)
        if operator == "+":
            return self.value(left).add(self.value(right))
        if operator == "-":
            return self.value(left).sub(self.value(right))
        if operator == "*":
            return self._product(self.value(left), self.value(right), left, right)
        return self._by_constant(operator, left, right)

    def _product(self, first: isl.PwAff, second: isl.PwAff, left: Expression, right: Expression) -> isl.PwAff:
        for factor, other, value in ((left, right, second), (right, left, first)):
            constant = self._fixed_beside(factor, other)
            if constant is not None:
                return value.scale_val(isl.Val(constant))
        raise NotAffine(f"the product of `{spelled(left)}` and `{spelled(right)}` is not affine")

    def _by_constant(self, operator: str, left: Expression, right: Expression) -> isl.PwAff:
        constant = self._fixed_beside(right, left)
        if constant is None:
            return self._by_parameter(operator, left, right)
        if operator == "//" and constant != 0:
            return self._floor_division(self.value(left), constant)
        if operator == "%" and constant != 0:
            value = self.value(left)
            return value.sub(self._floor_division(value, constant).scale_val(isl.Val(constant)))
        if operator == "<<" and 0 <= constant < 62:
            return self.value(left).scale_val(isl.Val(2**constant))
        if operator == ">>" and 0 <= constant < 62:
            return self._floor_division(self.value(left), 2**constant)
        if operator == "&" and constant > 0 and (constant + 1) & constant == 0:
            return self.value(left).mod_val(isl.Val(constant + 1))
        raise NotAffine(f"`{spelled(Binary(operator, left, right))}` is not affine")

    def _fixed(self, expression: Expression) -> int | None:
        """The value of an integer literal, or of a parameter with a value that was given."""
        constant = constant_integer(expression)
        return self._parameters.frozen_value(expression) if constant is None else constant

    def _fixed_beside(self, factor: Expression, other: Expression) -> int | None:
        """As ``_fixed``; a parameter is only fixed when ``other`` leaves no way to keep it symbolic."""
        constant = constant_integer(factor)
        if constant is None and (self._reads_iterator(other) or self._parameters.is_frozen(factor)):
            return self._parameters.frozen_value(factor)
        return constant

    def _reads_iterator(self, expression: Expression) -> bool:
        return any(isinstance(node, Name) and node.name in self.iterators for node in walk(expression))

    def _by_parameter(self, operator: str, left: Expression, right: Expression) -> isl.PwAff:
        """``(i + 1) % n`` where the left side certainly lies within one period on either side: a few affine pieces."""
        if operator not in ("//", "%") or self._domain is None:
            raise NotAffine(
                f"`{spelled(Binary(operator, left, right))}` is affine only with a constant on the right"
            )
        value, period, zero = self.value(left), self.value(right), self._constant(0)
        bounded = (
            period.gt_set(zero)
            .intersect(value.ge_set(period.neg()))
            .intersect(value.lt_set(period.add(period)))
        )
        if not self._domain.is_subset(bounded):
            reason = "is affine only where the left side stays within one period"
            raise NotAffine(f"`{spelled(Binary(operator, left, right))}` {reason}")
        below, above = value.lt_set(zero), value.ge_set(period)
        inside = value.ge_set(zero).intersect(value.lt_set(period))
        if operator == "//":
            pieces = [(below, self._constant(-1)), (inside, zero), (above, self._constant(1))]
        else:
            pieces = [(below, value.add(period)), (inside, value), (above, value.sub(period))]
        possible = [
            piece.intersect_domain(where) for where, piece in pieces if not where.is_disjoint(self._domain)
        ]
        return reduce(isl.PwAff.union_add, possible) if possible else value

    def _floor_division(self, value: isl.PwAff, divisor: int) -> isl.PwAff:
        if divisor < 0:
            value, divisor = value.neg(), -divisor
        return value.scale_down_val(isl.Val(divisor)).floor()

    def _call(self, function: str, arguments: tuple[Expression, ...]) -> isl.PwAff:
        if function in ("min", "max"):
            result = self.value(arguments[0])
            for argument in arguments[1:]:
                other = self.value(argument)
                result = result.min(other) if function == "min" else result.max(other)
            return result
        if function == "abs":
            value = self.value(arguments[0])
            return value.max(value.neg())
        if function in INTEGER_CASTS or function.startswith("math."):
            return self._rounded(function, arguments[0])
        raise NotAffine(f"`{function}` is not affine")

    def _rounded(self, function: str, argument: Expression) -> isl.PwAff:
        """``int(a / 2)``, ``math.floor(a / 2)``, ``int(np.ceil(a / 2))`` and the cast of what is an integer already."""
        if function in INTEGER_CASTS and isinstance(argument, Call) and argument.function in _ROUNDINGS:
            function, argument = argument.function, argument.arguments[0]
        rounding = function.rpartition(".")[2]
        match argument:
            case Binary("/", left, Constant(int() as divisor)) if divisor > 0:
                value = self.value(left)
            case _ if function in INTEGER_CASTS | _ROUNDINGS:
                return self.value(argument)
            case _:
                raise NotAffine(f"`{function}` is not affine")
        if rounding == "floor":
            return self._floor_division(value, divisor)
        if rounding == "ceil":
            return value.scale_down_val(isl.Val(divisor)).ceil()
        return value.tdiv_q(self._constant(divisor))

    def _conditional(self, condition: Expression, body: Expression, otherwise: Expression) -> isl.PwAff:
        where = self.condition(condition)
        elsewhere = self.universe().subtract(where)
        first = self.value(body).intersect_domain(where)
        return first.union_add(self.value(otherwise).intersect_domain(elsewhere))

    def _constant(self, value: int) -> isl.PwAff:
        local = isl.LocalSpace.from_space(self._space(()))
        return isl.PwAff.from_aff(isl.Aff.val_on_domain(local, isl.Val(value)))

    def _dimension(self, name: str) -> isl.PwAff:
        if name in self.iterators:
            local = isl.LocalSpace.from_space(self._space(()))
            position, kind = self.iterators.index(name), isl.dim_type.set
        elif name in self._parameters.names:
            local = isl.LocalSpace.from_space(self._space((name,)))
            position, kind = 0, isl.dim_type.param
        else:
            raise NotAffine(f"`{name}` is the variable of a loop whose range depends on data")
        return isl.PwAff.from_aff(isl.Aff.var_on_domain(local, kind, position))

    def _space(self, parameters: tuple[str, ...]) -> isl.Space:
        return isl.Space.create_from_names(
            isl.DEFAULT_CONTEXT, set=list(self.iterators), params=list(parameters)
        )


def _has_fraction(expression: Expression) -> bool:
    fractions = (
        (isinstance(node, Binary) and node.operator == "/")
        or (isinstance(node, Constant) and isinstance(node.value, float))
        for node in walk(expression)
    )
    return any(fractions)


def _exact_scale(scale: int) -> int:
    if scale & (scale - 1) == 0 and scale <= _DYADIC:
        return scale
    raise NotAffine("sums of fractions are rounded")
