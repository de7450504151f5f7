"""Statements in which terms cancel: only rounding leaves something of them, and that is what they are there for.

    y = x[i] - c
    t = s + y
    c = (t - s) - y         # the part of y that t has no room for
    s = t

In exact arithmetic ``(t - s) - y`` is zero, and so it is for a compiler that may reorder sums. Someone who writes such
a sum wants what is lost in it. The same holds of ``x - x`` and ``0 * x``, which are not zero for what is infinite or no
number.

Source: Kahan, *Further remarks on reducing truncation errors* (1965), Dekker, *A floating-point technique for extending
the available precision* (1971).
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import islpy as isl

from polyviz.codegen.typing import assignments, infer
from polyviz.errors import CodegenError
from polyviz.model.expression import Binary, Constant, Element, Expression, Unary, children, walk

if TYPE_CHECKING:
    from collections.abc import Mapping

    from polyviz.codegen.typing import Environment
    from polyviz.model.expression import Assign
    from polyviz.model.scop import Scop, Statement

Form = dict[object, float]
"""A sum: the factor of each of its terms, among them the number one."""
_ONE = Constant(1)
_OPERATORS = ("+", "-", "*", "/")
LONGEST = 64
"""Terms of a sum up to which it is followed."""


class _CancelledError(Exception):
    """A term went away."""


def compensated_statements(scop: Scop, environment: Environment) -> tuple[str, ...]:
    """The names of the statements in whose sums a term cancels, when temporaries stand for what they hold.

    >>> from polyviz import extract
    >>> from polyviz.codegen.typing import Environment
    >>> part = extract('''
    ... for i in range(n):
    ...     t = s + x[i]
    ...     c += (s - t) + x[i]
    ...     s = t
    ... ''')
    >>> compensated_statements(part, Environment(dict.fromkeys(["t", "s", "x", "c"], "float64")))
    ('S1',)
    """
    found, held = [], _Held(environment)
    for before, one in zip((*scop.statements[:1], *scop.statements), scop.statements, strict=False):
        if not _side_by_side(before, one):
            held = _Held(environment)
        if any([held.cancels_in(part, always=part in one.body) for part in assignments(one.body)]):
            found.append(one.name)
    return tuple(found)


def _side_by_side(one: Statement, other: Statement) -> bool:
    """Whether every iteration of the loops around that runs one of them runs both."""
    domains = (found.domain.reset_tuple_id() for found in (one, other))
    return one.loop_spans == other.loop_spans and isl.Set.plain_is_equal(*domains)


class _Held:
    """The sums that cells hold, in terms of what others held before they changed."""

    def __init__(self, environment: Environment) -> None:
        self.environment = environment
        self.forms: dict[Element, Form] = {}
        self.versions: Counter[str] = Counter()

    def cancels_in(self, assignment: Assign, *, always: bool) -> bool:
        """Whether a term cancels in the value of ``assignment``, which is remembered where it ``always`` happens."""
        target, value = assignment.target, assignment.value
        if assignment.operator in _OPERATORS:
            value = Binary(assignment.operator, target, value)
        form, cancels = None, False
        if assignment.operator is None and _is_zero_times(value) and not self._is_whole(value):
            cancels = True
        elif (assignment.operator is None or assignment.operator in _OPERATORS) and not self._is_whole(value):
            try:
                self._sum(value, {})
                form = self._sum(value, self.forms)
            except _CancelledError:
                cancels = True
        self._forget(target)
        if form is not None and always and len(form) <= LONGEST:
            self.forms[target] = form
        return cancels

    def _is_whole(self, value: Expression) -> bool:
        try:
            return infer(value, self.environment).is_integral
        except CodegenError:
            return True

    def _forget(self, target: Element) -> None:
        self.versions[target.array] += 1
        self.forms = {cell: form for cell, form in self.forms.items() if cell.array != target.array}

    def _sum(self, value: Expression, forms: Mapping[Element, Form]) -> Form:
        """``value`` as a sum, with ``forms`` for cells; raises where a term goes away, here or deeper inside."""
        match value:
            case Constant(int() | float() as number) if not isinstance(number, bool):
                return {_ONE: float(number)} if number else {}
            case Element() if value in forms:
                return forms[value]
            case Unary("-", operand):
                return _scaled(self._sum(operand, forms), -1.0)
            case Binary("+" | "-" as operator, left, right):
                other = _scaled(self._sum(right, forms), 1.0 if operator == "+" else -1.0)
                return _added(self._sum(left, forms), other)
            case Binary("*", Constant(int() | float() as number), other) | Binary(
                "*", other, Constant(int() | float() as number)
            ):
                return _scaled(self._sum(other, forms), float(number))
        if not isinstance(value, Element):
            for part in children(value):
                if isinstance(part, Expression):
                    self._sum(part, forms)  # for what cancels inside
        versions = tuple((part.array, self.versions[part.array]) for part in walk(value) if isinstance(part, Element))
        return {(value, versions): 1.0}


def _is_zero_times(value: Expression) -> bool:
    """Whether ``value`` is a product with the number zero: asked for by itself, it tells what is no number."""
    factors = (value.left, value.right) if isinstance(value, Binary) and value.operator == "*" else ()
    return any(isinstance(factor, Constant) and factor.value == 0 for factor in factors)


def _scaled(form: Form, factor: float) -> Form:
    return {term: factor * other for term, other in form.items()} if factor else {}


def _added(left: Form, right: Form) -> Form:
    total = dict(left)
    for term, factor in right.items():
        total[term] = total.get(term, 0.0) + factor
        if not total[term]:
            raise _CancelledError
    return total
