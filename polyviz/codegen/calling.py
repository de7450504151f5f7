"""What a caller of generated code has to know, read off the part once for every target."""

from __future__ import annotations

from typing import TYPE_CHECKING

from polyviz.codegen.bodies import bound_expression
from polyviz.errors import CodegenError
from polyviz.model.expression import Element, walk
from polyviz.model.program import ArrayType, LocalArray

if TYPE_CHECKING:
    from collections.abc import Mapping

    from polyviz.model.scop import Array, Scop, Statement


def local_arrays(scop: Scop, types: Mapping[str, ArrayType]) -> tuple[LocalArray, ...]:
    """The arrays that the source creates before its loops, for a target whose caller makes them."""
    return tuple(_local(array, types[array.name].dtype) for array in scop.arrays if array.creation is not None)


def _local(array: Array, dtype: str) -> LocalArray:
    creation = array.creation
    assert creation is not None
    extents = []
    for extent in array.extents:
        if extent is None:
            raise CodegenError(f"The size of {array.name} is not known.", span=creation.span)
        extents.append(bound_expression(extent))
    return LocalArray(array.name, dtype, creation.function, tuple(extents), creation.fill)


def written_arrays(scop: Scop) -> tuple[str, ...]:
    """The arguments whose content changes."""
    written = {
        access.array for statement in scop.statements for access in statement.accesses if access.kind == "write"
    }
    return tuple(
        array.name for array in scop.arrays if array.rank and array.origin == "argument" and array.name in written
    )


def result_names(scop: Scop) -> tuple[str, ...]:
    """What is handed back: the returned names of a function, the scalars a cell leaves behind."""
    if scop.is_cell:
        return tuple(array.name for array in scop.arrays if array.rank == 0 and array.live_out)
    return scop.result.names


def needs_checks(scop: Scop) -> bool:
    """Whether some subscript can only be tested while the loops run."""
    return any(is_checked(element, statement) for statement in scop.statements for element in _elements(statement))


def checked_references(scop: Scop) -> tuple[str, ...]:
    """What can go wrong with the subscripts that are tested while the loops run, each told once."""
    found = (
        out_of_range(element)
        for statement in scop.statements
        for element in _elements(statement)
        if is_checked(element, statement)
    )
    return tuple(dict.fromkeys(found))


def out_of_range(element: Element) -> str:
    """How a failed test of ``element`` is told.

    >>> out_of_range(Element("A"))
    'a subscript of A is out of range'
    """
    where = f" (line {element.span.line})" if element.span is not None else ""
    return f"a subscript of {element.array} is out of range{where}"


def is_checked(element: Element, statement: Statement) -> bool:
    """Whether the subscripts of ``element`` in ``statement`` are beyond what the analysis bounds beforehand."""
    if not element.subscripts:
        return False
    inexact = (access.span for access in statement.accesses if not access.exact)
    return not element.affine or element.span in inexact


def _elements(statement: Statement) -> list[Element]:
    return [node for instruction in statement.body for node in walk(instruction) if isinstance(node, Element)]
