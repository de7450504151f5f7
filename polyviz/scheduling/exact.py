"""Lexicographic minimum of an integer program in exact arithmetic, by isl's parametric integer programming."""

from __future__ import annotations

from typing import TYPE_CHECKING

import islpy as isl
import numpy as np

if TYPE_CHECKING:
    from polyviz.scheduling.farkas import Matrix
    from polyviz.scheduling.program import IntegerProgram


def exact_minimum(program: IntegerProgram, extra: Matrix) -> Matrix | None:
    """The unknowns at the lexicographic minimum of ``program`` under ``extra``, None when it is infeasible.

    >>> from polyviz.scheduling.program import IntegerProgram
    >>> program = IntegerProgram(
    ...     inequalities=np.array([[-3, 2, 1]]), equalities=np.zeros((0, 3), dtype=int),
    ...     objectives=np.array([[1, 1]]), order=(0, 1), upper=np.array([9, 9]),
    ... )
    >>> exact_minimum(program, np.zeros((0, 3), dtype=int)).tolist()
    [1, 1]
    """
    objectives = len(program.objectives)
    # Coordinates: the objective values, then the unknowns in the order in which they are minimised.
    order = np.array([*program.order, *sorted(set(range(program.size)) - set(program.order))], dtype=np.int64)
    feasible = isl.BasicSet.universe(isl.Space.set_alloc(isl.DEFAULT_CONTEXT, 0, objectives + program.size))
    for position, objective in enumerate(program.objectives):
        row = np.zeros(objectives + program.size, dtype=np.int64)
        row[position] = -1
        row[objectives:] = objective[order]
        feasible = _constrained(feasible, 0, row, equality=True)
    for constraints, equality in ((program.inequalities, False), (extra, False), (program.equalities, True)):
        for constant, *coefficients in constraints:
            row = np.concatenate((np.zeros(objectives, dtype=np.int64), np.array(coefficients)[order]))
            feasible = _constrained(feasible, int(constant), row, equality=equality)
    for position, unknown in enumerate(order):
        feasible = feasible.lower_bound_val(isl.dim_type.set, objectives + position, isl.Val(0))
        feasible = feasible.upper_bound_val(
            isl.dim_type.set, objectives + position, isl.Val(int(program.upper[unknown]))
        )
    minimum = feasible.lexmin()
    if minimum.is_empty():
        return None
    point = minimum.sample_point()
    values = np.zeros(program.size, dtype=np.int64)
    for position, unknown in enumerate(order):
        coordinate = point.get_coordinate_val(isl.dim_type.set, objectives + position)
        values[unknown] = coordinate.to_python()
    return values


def _constrained(basic: isl.BasicSet, constant: int, row: Matrix, *, equality: bool) -> isl.BasicSet:
    space = isl.LocalSpace.from_space(basic.get_space())
    constraint = isl.Constraint.alloc_equality(space) if equality else isl.Constraint.alloc_inequality(space)
    constraint = constraint.set_constant_val(isl.Val(constant))
    for position in np.flatnonzero(row):
        constraint = constraint.set_coefficient_val(
            isl.dim_type.set, int(position), isl.Val(int(row[position]))
        )
    return basic.add_constraint(constraint)
