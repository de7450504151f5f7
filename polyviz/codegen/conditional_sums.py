"""Sums under conditions that may be -0.0, in statements of which other iterations add to the same cell.

    if A[i, j] > 0:
        z[i] += A[i, j]

A compiler that adds 0.0 where the condition does not hold, as gcc 12 does in vectors, makes 0.0 of a sum of -0.0. What
begins as another number never gets there: a sum is -0.0 only where both of its terms are.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from polyviz.codegen.typing import assignments
from polyviz.model.expression import Assign, Binary, Branch, Conditional, Constant, Element, Name, Unary, walk

if TYPE_CHECKING:
    from collections.abc import Iterator

    from polyviz.codegen.typing import Environment
    from polyviz.model.expression import Expression
    from polyviz.model.scop import Scop, Statement


def adds_under_conditions(scop: Scop, environment: Environment) -> bool:
    """Whether some number with a fraction, or complex one, is added under a condition to a sum that may be -0.0.

    >>> from polyviz import extract
    >>> from polyviz.codegen.typing import Environment
    >>> part = extract('''
    ... for i in range(n):
    ...     for j in range(n):
    ...         if A[i, j] > 0:
    ...             z[i] += A[i, j]
    ... ''')
    >>> adds_under_conditions(part, Environment({"A": "float64", "z": "float64"}))
    True
    >>> adds_under_conditions(part, Environment({"A": "int64", "z": "int64"}))
    False
    """
    found = ((statement, one) for statement in scop.statements for one in _conditional_sums(statement))
    return any(
        environment.array(one.target.array).name.startswith(("float", "complex"))
        and _meets_others(statement, one.target)
        and not _begins_otherwise(scop, one.target)
        for statement, one in found
    )


def _conditional_sums(statement: Statement) -> Iterator[Assign]:
    branches = (node for line in statement.body for node in walk(line) if isinstance(node, Branch))
    yield from (one for branch in branches for one in assignments([branch]) if _grows(one))
    yield from (
        one for one in assignments(statement.body) if isinstance(one.value, Conditional) and _may_grow(one)
    )


def _grows(assign: Assign) -> bool:
    """Whether something is added to the target, and nothing else done with it."""
    return assign.operator in ("+", "-") or (assign.operator is None and _is_sum(assign.value, assign.target))


def _is_sum(value: Expression, target: Element) -> bool:
    return isinstance(value, Binary) and value.operator in ("+", "-") and target in (value.left, value.right)


def _may_grow(assign: Assign) -> bool:
    """Whether a choice adds to the target, or keeps it: a number may be the zero that changes nothing."""
    arms = (assign.value.body, assign.value.otherwise) if isinstance(assign.value, Conditional) else ()
    if assign.operator is None:
        return any(_is_sum(arm, assign.target) for arm in arms)
    return assign.operator in ("+", "-") and any(map(_is_number, arms))


def _is_number(value: Expression) -> bool:
    return not any(isinstance(part, Element | Name) for part in walk(value))


def _meets_others(statement: Statement, target: Element) -> bool:
    """Whether more than one iteration may have to do with the cell."""
    named = {
        part.name for subscript in target.subscripts for part in walk(subscript) if isinstance(part, Name)
    }
    return not named.issuperset(statement.iterators)


def _begins_otherwise(scop: Scop, target: Element) -> bool:
    """Whether the sum begins, in the part, as a number other than -0.0, and is only added to from there."""
    array = scop.array(target.array)
    if array.live_in if array.creation is None else array.creation.function not in ("zeros", "ones"):
        return False
    assigned = [
        one
        for statement in scop.statements
        for one in assignments(statement.body)
        if one.target.array == array.name
    ]
    begun = [one for one in assigned if not _grows(one)]
    return all(one.operator is None and _is_other_number(one.value) for one in begun)


def _is_other_number(value: Expression) -> bool:
    match value:
        case Unary("-", operand):
            return _is_other_number(operand) and operand != Constant(0.0)
        case Constant(number) if isinstance(number, int | float):
            return number != 0 or math.copysign(1.0, number) > 0
    return False
