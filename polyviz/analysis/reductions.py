"""Reductions: statements that fold one value after another into a cell with an associative operator."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import islpy as isl

from polyviz.model.expression import Assign, Binary, Call, Element, Expression, walk

if TYPE_CHECKING:
    from collections.abc import Iterator

    from polyviz.model.dependences import Dependence
    from polyviz.model.scop import Scop, Statement

_UPDATES = {"+": "+", "-": "+", "*": "*", "&": "&", "|": "|", "^": "^"}
_COMMUTATIVE = {"+", "*", "&", "|", "^"}
EXTREMES = {
    "min": "min",
    "max": "max",
    "numpy.minimum": "min",
    "numpy.maximum": "max",
    "numpy.fmin": "min",
    "numpy.fmax": "max",
}
"""The functions that keep the smaller or the larger of two values, and the operator that they are."""


@dataclass(frozen=True, slots=True)
class Reduction:
    """A statement ``target = target ⊕ value`` whose value does not look at the target.

    ``operator`` is the associative one that joins partial results: ``+ * & | ^ min max`` (a subtraction adds up what
    is subtracted). ``target`` maps the instances to the cell that accumulates.
    """

    statement: str
    array: str
    operator: str
    target: isl.Map


_found: WeakKeyDictionary[Scop, dict[bool, tuple[Reduction, ...]]] = WeakKeyDictionary()


def find_reductions(scop: Scop, *, scattered: bool = False) -> tuple[Reduction, ...]:
    """The reduction statements of ``scop``, by their form alone; whether a cell is hit twice the dependences tell.

    ``scattered``: those as well whose cell depends on data; their ``target`` holds every cell that it may be.
    """
    known = _found.setdefault(scop, {})
    if scattered not in known:
        known[scattered] = tuple(_reductions(scop, scattered=scattered))
    return known[scattered]


def _reductions(scop: Scop, *, scattered: bool) -> Iterator[Reduction]:
    found = (_reduction(statement, scattered=scattered) for statement in scop.statements)
    return (reduction for reduction in found if reduction is not None)


def reduction_part(reduction: Reduction, dependence: Dependence) -> isl.Map | None:
    """The pairs of ``dependence`` that run through the accumulating cell; None when it is about something else."""
    ends = (dependence.array, dependence.source, dependence.sink)
    if ends != (reduction.array, reduction.statement, reduction.statement) or dependence.kind == "input":
        return None
    steps = dependence.relation.intersect(same_cell(reduction))
    return None if steps.is_empty() else steps


def same_cell(reduction: Reduction) -> isl.Map:
    """The pairs of instances that accumulate into one cell."""
    return reduction.target.apply_range(reduction.target.reverse())


def _reduction(statement: Statement, *, scattered: bool) -> Reduction | None:
    if len(statement.body) != 1 or not isinstance(statement.body[0], Assign):
        return None
    assignment = statement.body[0]
    operator = folding_operator(assignment)
    if operator is None or not (assignment.target.affine or (scattered and _is_certain(assignment.target))):
        return None
    targets = [access for access in statement.accesses if access.kind == "write"]
    if len(targets) != 1 or not (targets[0].exact or scattered):
        return None
    target = targets[0].relation.intersect_domain(statement.domain)
    others = accesses_besides(statement, targets[0].array, target)
    if not others.intersect(target).is_empty():
        return None
    return Reduction(statement.name, targets[0].array, operator, target)


def _is_certain(target: Element) -> bool:
    """Whether the subscripts of ``target`` do not look at its array: then adding to it leaves them as they are."""
    return not any(
        isinstance(part, Element) and part.array == target.array
        for subscript in target.subscripts
        for part in walk(subscript)
    )


def accesses_besides(statement: Statement, array: str, target: isl.Map) -> isl.Map:
    """What ``statement`` reads of ``array`` by other references than the one equal to ``target``."""
    result = isl.Map.empty(target.get_space())
    for access in statement.accesses:
        if access.kind != "read" or access.array != array:
            continue
        relation = access.relation.intersect_domain(statement.domain)
        if not relation.is_equal(target):
            result = result.union(relation)
    return result


def folding_operator(assignment: Assign) -> str | None:
    """The operator with which ``assignment`` changes a cell whose old value stands in it once; None for any other.

    >>> folding_operator(Assign(Element("s"), Element("x"), "-"))
    '+'
    """
    target, value = assignment.target, assignment.value
    if assignment.operator is not None:
        return None if _mentions(value, target) else _UPDATES.get(assignment.operator)
    if isinstance(value, Binary):
        return _binary_operator(target, value)
    if isinstance(value, Call) and value.function in EXTREMES:
        return EXTREMES[value.function] if _appears_once(target, value.arguments) else None
    return None


def _binary_operator(target: Element, value: Binary) -> str | None:
    """The operator of a chain ``target + a - b`` or ``a * target``; the chain holds the target exactly once."""
    operator = _UPDATES.get(value.operator)
    if operator is None:
        return None
    if value.operator in _COMMUTATIVE and value.right == target:
        return None if _mentions(value.left, target) else operator
    if _mentions(value.right, target):
        return None
    if value.left == target:
        return operator
    if not isinstance(value.left, Binary) or _UPDATES.get(value.left.operator) != operator:
        return None
    return _binary_operator(target, value.left)


def _appears_once(target: Element, arguments: tuple[Expression, ...]) -> bool:
    others = [argument for argument in arguments if argument != target]
    return len(others) == len(arguments) - 1 and not any(_mentions(other, target) for other in others)


def _mentions(expression: Expression, target: Element) -> bool:
    return any(part == target for part in walk(expression))
