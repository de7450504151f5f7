"""What a caller of generated code has to know, read off the part once for every target."""

from __future__ import annotations

from dataclasses import replace
from functools import partial, reduce
from typing import TYPE_CHECKING

from polyviz.analysis.bounds import axes_inside, bounded_by_strides, may_leave
from polyviz.codegen.bodies import bound_expression
from polyviz.codegen.nonzero import is_never_zero
from polyviz.codegen.typing import first_span
from polyviz.errors import CodegenError
from polyviz.model.expression import Binary, Constant, Element, Loop, Unary, walk
from polyviz.model.program import ArrayType, Failure, LocalArray

if TYPE_CHECKING:
    from collections.abc import Mapping

    from polyviz.model.expression import Expression
    from polyviz.model.scop import Array, Scop, Statement


def made_sizes(scop: Scop) -> tuple[tuple[str, Expression], ...]:
    """The parameters that are made of others before them, each with how."""
    pairs = [(one.name, one.source.expression) for one in scop.parameters]
    return tuple((name, expression) for name, expression in pairs if expression is not None)


def local_arrays(scop: Scop, types: Mapping[str, ArrayType]) -> tuple[LocalArray, ...]:
    """The arrays that the source creates before its loops, for a target whose caller makes them."""
    made = (array for array in scop.arrays if array.creation is not None and array.rank)
    return tuple(_local(array, types[array.name].dtype) for array in made)


def _local(array: Array, dtype: str) -> LocalArray:
    creation = array.creation
    assert creation is not None
    extents = []
    for extent in array.extents:
        if extent is None:
            raise CodegenError(f"The size of {array.name} is not known.", span=creation.span)
        extents.append(bound_expression(extent))
    if array.rows:
        extents = [reduce(partial(Binary, "*"), extents)]
    return LocalArray(array.name, dtype, creation.function, tuple(extents), creation.fill, creation.values)


def written_arrays(scop: Scop) -> tuple[str, ...]:
    """The arguments whose content changes."""
    written = {
        access.array for statement in scop.statements for access in statement.accesses if access.kind == "write"
    }
    return tuple(
        array.name for array in scop.arrays if array.rank and array.origin == "argument" and array.name in written
    )


def result_names(scop: Scop) -> tuple[str, ...]:
    """What is handed back: the returned names of a function, the scalars and the new arrays a cell leaves behind."""
    if scop.is_cell:
        left = (array for array in scop.arrays if array.live_out)
        return tuple(array.name for array in left if array.rank == 0 or array.creation is not None)
    return scop.result.names


def handed_back(scop: Scop) -> tuple[str, ...]:
    """The names of what a caller gets."""
    return result_names(scop) if scop.is_cell else scop.result.handed_back


def run_time_failures(scop: Scop) -> tuple[Failure, ...]:
    """What can go wrong with the subscripts and steps that are tested while the loops run, each told once."""
    found: dict[Failure, None] = {}
    for statement in scop.statements:
        elements = (element for element in _elements(statement) if is_checked(scop, element, statement))
        found |= dict.fromkeys(out_of_range(scop, element) for element in elements)
        found |= dict.fromkeys(tested_steps(scop, statement).values())
    return tuple(found)


def out_of_range(scop: Scop, element: Element) -> Failure:
    """How a failed test of ``element`` is told, by the name that the source has for its array.

    >>> from polyviz import extract
    >>> part = extract("for i in range(n): A[i] = 0")
    >>> out_of_range(part, Element("A")).clause
    'a subscript of A is out of range'
    """
    where = f" (line {element.span.line})" if element.span is not None else ""
    name = scop.array(element.array).copies or element.array
    return Failure("subscript", f"a subscript of {name} is out of range{where}")


def tested_steps(scop: Scop, statement: Statement) -> dict[str, Failure]:
    """The loops inside ``statement`` whose step may turn out to be 0, by iterator: ``range`` refuses it then.

    >>> import polyviz as pv
    >>> part = pv.extract("def f(A, k):\\n    for i in range(0, len(A), k[0]):\\n        A[i] = 0.0")
    >>> {name: failure.clause for name, failure in tested_steps(part, part.statements[0]).items()}
    {'i': 'the step of the loop over i is 0 (line 2)'}
    """
    known = replace(statement, domain=statement.domain.intersect_params(scop.context))
    loops = [node for instruction in statement.body for node in walk(instruction) if isinstance(node, Loop)]
    return {
        loop.iterator: _zero_step(loop, statement)
        for loop in loops
        if not _is_constant(loop.step) and not is_never_zero(known, loop.step)
    }


def _zero_step(loop: Loop, statement: Statement) -> Failure:
    line = (first_span(loop.step) or statement.span).line
    return Failure("step", f"the step of the loop over {loop.iterator} is 0 (line {line})")


def _is_constant(step: Expression) -> bool:
    return isinstance(step, Constant) or (isinstance(step, Unary) and isinstance(step.operand, Constant))


def is_checked(scop: Scop, element: Element, statement: Statement) -> bool:
    """Whether the subscripts of ``element`` in ``statement`` are beyond what the analysis bounds beforehand."""
    if not element.subscripts:
        return False
    inside = axes_inside(scop)
    if all((statement.name, element.span, axis) in inside for axis in range(len(element.subscripts))):
        return False
    if not element.affine:
        return (statement.name, element.span) not in bounded_by_strides(scop)
    return (statement.name, element.span) in may_leave(scop)


def is_checked_along(scop: Scop, axis: int, element: Element, statement: Statement) -> bool:
    """Whether that holds for one of the subscripts: beside one that depends on data others may be affine."""
    return is_checked(scop, element, statement) and (statement.name, element.span, axis) not in axes_inside(scop)


def _elements(statement: Statement) -> list[Element]:
    return [node for instruction in statement.body for node in walk(instruction) if isinstance(node, Element)]
