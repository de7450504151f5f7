"""What stands above the loops in Python: the sizes of arrays, and the arrays that the function makes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from polyviz.codegen.bodies import bound_expression, private_name
from polyviz.codegen.dtypes import numpy_name
from polyviz.codegen.text import tuple_text

if TYPE_CHECKING:
    from polyviz.codegen.expressions_python import PythonExpressionPrinter
    from polyviz.codegen.identifiers import Identifiers
    from polyviz.model.plan import Expansion
    from polyviz.model.scop import Array, Parameter, Scop


def parameter_value(
    scop: Scop, parameter: Parameter, identifiers: Identifiers, printer: PythonExpressionPrinter
) -> str:
    """Where the value of a ``parameter`` that is no argument comes from."""
    source = parameter.source
    if source.kind == "shape":
        name = identifiers.of(source.name)
        return f"{name}.size" if scop.array(source.name).rows else f"{name}.shape[{source.axis}]"
    if source.expression is not None:
        return printer.expression(source.expression)
    return identifiers.of(source.name)


def creation(array: Array, dtype: str, printer: PythonExpressionPrinter) -> str:
    """The call that makes an ``array`` of the function itself."""
    made = array.creation
    assert made is not None
    kind = numpy_name(dtype)
    if made.values is not None:
        return f"np.array({made.values}, dtype=np.{kind})"
    extents = [extent for extent in array.extents if extent is not None]
    shape = tuple_text([printer.expression(bound_expression(extent)) for extent in extents])
    fill = f", {printer.expression(made.fill)}" if made.fill is not None else ""
    return f"np.{made.function}({shape}{fill}, dtype=np.{kind})"


def expansion_line(
    scop: Scop, expansion: Expansion, dtype: str, identifiers: Identifiers, printer: PythonExpressionPrinter
) -> str:
    """The array that holds one copy of a temporary per iteration."""
    name = identifiers.of(private_name(scop, expansion.array))
    extents = [printer.expression(bound_expression(extent)) for extent in expansion.extents]
    shape = tuple_text([f"max(0, {extent})" for extent in extents])
    return f"{name} = np.empty({shape}, dtype=np.{numpy_name(dtype)})  # one copy per iteration"
