"""Sums in cells that cut off what every step computes: they keep their order, whatever the contract.

``B[i] -= A[i, j]`` with whole numbers in ``B`` and fractions in ``A`` cuts off a fraction at each step, so what several
terms come to together says nothing about the cell. The same holds of the largest of numbers that the cell cannot hold.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from polyviz.analysis.reductions import EXTREMES
from polyviz.codegen.dtypes import BOOL
from polyviz.codegen.typing import assignments, infer
from polyviz.model.expression import Assign, Call, Constant, Expression, walk

if TYPE_CHECKING:
    from polyviz.codegen.dtypes import Type
    from polyviz.codegen.typing import Environment
    from polyviz.model.scop import Scop


def ordered_statements(scop: Scop, environment: Environment) -> tuple[str, ...]:
    """The names of the statements that add, step by step, what their cell cannot hold.

    >>> from polyviz import extract
    >>> from polyviz.codegen.typing import Environment
    >>> part = extract('''
    ... for i in range(n):
    ...     total[0] += A[i]
    ... ''')
    >>> ordered_statements(part, Environment({"total": "int64", "A": "float64"}))
    ('S0',)
    >>> ordered_statements(part, Environment({"total": "int64", "A": "int64"}))
    ()
    """
    return tuple(
        one.name for one in scop.statements if any(_cuts_off(part, environment) for part in assignments(one.body))
    )


def _cuts_off(assignment: Assign, environment: Environment) -> bool:
    target, value = assignment.target, assignment.value
    cell = environment.array(target.array)
    if not cell.is_integral:
        return False
    if assignment.operator is None and not any(part == target for part in walk(value)):
        return False
    if isinstance(value, Call) and value.function in EXTREMES:
        return not all(_holds(cell, one, environment) for one in value.arguments if one != target)
    computed = infer(assignment.assigned, environment)
    return computed != BOOL if cell == BOOL else not computed.is_integral


def _holds(cell: Type, value: Expression, environment: Environment) -> bool:
    """Whether ``cell`` has room for every ``value``."""
    if isinstance(value, Constant) and isinstance(value.value, int):
        limits = np.iinfo(cell.name) if cell != BOOL else None
        return limits is not None and bool(limits.min <= value.value <= limits.max)
    return np.can_cast(infer(value, environment).name, cell.name)
