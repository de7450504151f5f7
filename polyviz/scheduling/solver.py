"""Lexicographic minimum of an integer program with HiGHS; every answer is checked again in integer arithmetic.

The objectives are minimised one after the other, each kept at its minimum by a row that is added to the warm model.
The linear relaxation comes first: nearly always its optimum is integral, and then it is the optimum of the program.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import highspy
import numpy as np

from polyviz.scheduling.exact import exact_minimum
from polyviz.scheduling.program import SolveLimitError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from polyviz.scheduling.farkas import Matrix
    from polyviz.scheduling.program import IntegerProgram, StepBudget

_TOLERANCE = 1e-6
# Branch-and-bound steps for one integer program; those of schedules need a handful.
_NODE_LIMIT = 5_000

_PATIENCE = 30.0
"""Seconds for one of them: without a solution yet, its search may dive for hours in a single step. Nothing that ends
comes near this limit, so that no schedule depends on the speed of a machine."""
_NO_SOLUTION = (highspy.HighsModelStatus.kInfeasible, highspy.HighsModelStatus.kUnboundedOrInfeasible)

_PROBING_AND_ENUMERATION = 1 << 15 | 1 << 16
"""Two rules of HiGHS's presolve, by their places in its option. They try values of unknowns and note what follows; in
programs of ours, dense and with few steps to an integer, that takes a hundred times as long as the solving."""

PLAIN_SEARCH = {
    "presolve_rule_off": _PROBING_AND_ENUMERATION,
    "mip_detect_symmetry": False,
    "mip_heuristic_effort": 0.0,
    "mip_heuristic_run_feasibility_jump": False,
}
"""What is for programs that are searched for minutes is switched off: rounding finds the integers of ours at once.
Restarts stay on: where the first dive finds nothing, it need not end."""

Accept = Callable[[tuple[int, ...]], bool]


@dataclass(frozen=True, slots=True, eq=False)
class Solution:
    """The values of the objectives and of the unknowns at the lexicographic minimum."""

    objectives: tuple[int, ...]
    values: Matrix


class LexicographicSolver:
    """Solves one program again and again under extra constraints, from a warm start.

    >>> from polyviz.scheduling.program import IntegerProgram, StepBudget
    >>> program = IntegerProgram(
    ...     inequalities=np.array([[-3, 1, 1]]), equalities=np.zeros((0, 3), dtype=int),
    ...     objectives=np.array([[1, 1]]), order=(0, 1), upper=np.array([9, 9]),
    ... )
    >>> LexicographicSolver(program, StepBudget(100)).minimum().values.tolist()
    [0, 3]
    """

    def __init__(self, program: IntegerProgram, budget: StepBudget) -> None:
        self.program = program
        self._budget = budget
        self._steps = program.steps
        self._columns = np.arange(program.size, dtype=np.int32)
        self._model = _model(program)

    def minimum(self, extra: Matrix | None = None, accept: Accept | None = None) -> Solution | None:
        """The lexicographic minimum under the constraints ``extra``; None when there is none, or it is not wanted.

        ``accept`` sees the objectives found so far and may end the search early by returning False.
        Raises ``SolveLimitError`` when the budget is spent, or the search of one integer program takes too long.
        """
        constraints = np.zeros((0, self.program.size + 1), dtype=np.int64) if extra is None else extra
        rows_before = self._model.getNumRow()
        try:
            self._add(constraints)
            return self._minimum(constraints, accept)
        finally:
            self._restore(rows_before)

    def _minimum(self, extra: Matrix, accept: Accept | None) -> Solution | None:
        found: list[int] = []
        values: Matrix | None = None
        for objective in self.program.objectives:
            # No unknown is negative: a sum that is zero already needs no solving.
            if values is None or objective.min(initial=0) < 0 or objective @ values != 0:
                values = self._optimum(objective, values)
            if values is None:
                return None
            found.append(int(objective @ values))
            if accept is not None and not accept(tuple(found)):
                return None
            self._keep(objective, found[-1])
        values = self._tail(
            values if values is not None else self._optimum(np.zeros_like(self.program.upper), None)
        )
        if values is None:
            return None
        if not self.program.admits(values, extra):
            return self._exactly(extra)
        return Solution(tuple(found), values)

    def _tail(self, values: Matrix | None) -> Matrix | None:
        """Minimise the unknowns one by one; one that is zero already needs no solving."""
        for position in self.program.order:
            if values is None:
                return None
            if values[position] > 0:
                unit = np.zeros_like(self.program.upper)
                unit[position] = 1
                values = self._optimum(unit, values)
            if values is not None:
                self._model.changeColBounds(position, 0.0, float(values[position]))
        return values

    def _optimum(self, objective: Matrix, known: Matrix | None) -> Matrix | None:
        """Integers that minimise ``objective``; ``known`` are some that the model admits, if there are any.

        What is known is the answer where the relaxation shows that no whole number lies below its objective.
        """
        self._budget.spend(self._steps)
        self._model.changeColsCost(self.program.size, self._columns, objective.astype(np.float64))
        relaxed = self._run()
        if relaxed is None or _integral(relaxed):
            return None if relaxed is None else _rounded(relaxed)
        if known is not None and np.ceil(objective @ relaxed - _TOLERANCE) >= objective @ known:
            return known
        integral = self._integral_optimum()
        return None if integral is None else _rounded(integral)

    def _integral_optimum(self) -> NDArray[np.float64] | None:
        """The optimum among whole numbers; the relaxations after it start where the last one ended."""
        basis = self._model.getBasis()
        # With what is left of the relaxation HiGHS would skip its presolve, and cut for long instead.
        self._model.clearSolver()
        whole = np.full(self.program.size, highspy.HighsVarType.kInteger)
        self._model.changeColsIntegrality(self.program.size, self._columns, whole)
        self._model.setOptionValue("time_limit", self._model.getRunTime() + _PATIENCE)
        try:
            return self._run()
        finally:
            continuous = np.full(self.program.size, highspy.HighsVarType.kContinuous)
            self._model.changeColsIntegrality(self.program.size, self._columns, continuous)
            self._model.setOptionValue("time_limit", highspy.kHighsInf)
            self._model.setBasis(basis)

    def _run(self) -> NDArray[np.float64] | None:
        """The optimum, None where there is no solution; raises ``SolveLimitError`` where the search was stopped."""
        self._model.run()
        status = self._model.getModelStatus()
        if status in _NO_SOLUTION:
            return None
        if status != highspy.HighsModelStatus.kOptimal:
            raise SolveLimitError
        return np.array(self._model.getSolution().col_value)

    def _add(self, constraints: Matrix) -> None:
        for constant, *coefficients in constraints:
            row = np.array(coefficients)
            places = np.flatnonzero(row).astype(np.int32)
            self._model.addRow(
                -float(constant), highspy.kHighsInf, len(places), places, row[places].astype(np.float64)
            )

    def _keep(self, objective: Matrix, value: int) -> None:
        places = np.flatnonzero(objective).astype(np.int32)
        self._model.addRow(
            -highspy.kHighsInf, float(value), len(places), places, objective[places].astype(np.float64)
        )

    def _restore(self, rows: int) -> None:
        added = self._model.getNumRow() - rows
        if added:
            self._model.deleteRows(added, np.arange(rows, rows + added, dtype=np.int32))
        upper = self.program.upper.astype(np.float64)
        self._model.changeColsBounds(self.program.size, self._columns, np.zeros_like(upper), upper)

    def _exactly(self, extra: Matrix) -> Solution | None:
        values = exact_minimum(self.program, extra)
        if values is None:
            return None
        return Solution(tuple(int(objective @ values) for objective in self.program.objectives), values)


def _model(program: IntegerProgram) -> highspy.Highs:
    model: highspy.Highs = highspy.Highs()  # type: ignore[no-untyped-call]
    model.setOptionValue("output_flag", False)
    model.setOptionValue("threads", 1)
    model.setOptionValue("mip_max_nodes", _NODE_LIMIT)
    # Objectives are whole numbers: what is less than one above the bound is optimal.
    model.setOptionValue("mip_abs_gap", 0.9)
    model.setOptionValue("mip_rel_gap", 0.0)
    for option, value in PLAIN_SEARCH.items():
        model.setOptionValue(option, value)
    model.passModel(_linear_program(program))
    return model


def _linear_program(program: IntegerProgram) -> highspy.HighsLp:
    rows = np.vstack([program.inequalities, program.equalities])
    lower = -rows[:, 0].astype(np.float64)
    linear = highspy.HighsLp()
    linear.num_col_ = program.size
    linear.num_row_ = len(rows)
    linear.col_cost_ = np.zeros(program.size)
    linear.col_lower_ = np.zeros(program.size)
    linear.col_upper_ = program.upper.astype(np.float64)
    linear.row_lower_ = lower
    linear.row_upper_ = np.where(np.arange(len(rows)) < len(program.inequalities), highspy.kHighsInf, lower)
    row_of, column_of = np.nonzero(rows[:, 1:])
    linear.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    linear.a_matrix_.start_ = np.searchsorted(row_of, np.arange(len(rows) + 1)).astype(np.int32)
    linear.a_matrix_.index_ = column_of.astype(np.int32)
    linear.a_matrix_.value_ = rows[:, 1:][row_of, column_of].astype(np.float64)
    return linear


def _integral(values: NDArray[np.float64]) -> bool:
    return bool((np.abs(values - np.rint(values)) < _TOLERANCE).all())


def _rounded(values: NDArray[np.float64]) -> Matrix:
    return np.rint(values).astype(np.int64)
