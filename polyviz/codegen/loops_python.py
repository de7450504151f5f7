"""Loops as Python: ranges, the loops that numba shares between threads, and the names in a text."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from polyviz.model.expression import Binary, Call, Constant, Expression, Name

if TYPE_CHECKING:
    from polyviz.codegen.expressions_python import PythonExpressionPrinter
    from polyviz.codegen.loops import For


def range_text(
    printer: PythonExpressionPrinter, start: Expression, stop: Expression, step: int, name: str = "range"
) -> str:
    """The call of ``range`` (or of what is called ``name``), without what it takes for granted."""
    bounds = [printer.expression(bound) for bound in (start, stop)]
    if step != 1:
        return f"{name}({', '.join(bounds)}, {step})"
    return f"{name}({bounds[1]})" if bounds[0] == "0" else f"{name}({', '.join(bounds)})"


def parallel_lines(printer: PythonExpressionPrinter, node: For, counter: str) -> tuple[str, str]:
    """The head of a loop that numba shares between threads, and the first line of its body.

    ``prange`` counts by ones, so a loop over tiles counts its tiles; and it counts in unsigned numbers, of which ``-i``
    is a huge one, so the variable that statements see is made from the ``counter``.
    """
    value: Expression = Call("numpy.int64", (Name(counter),))
    header = range_text(printer, node.start, node.stop, node.step, "numba.prange")
    if node.step != 1:
        header = f"numba.prange({printer.expression(_trip_count(node))})"
        value = Binary("*", Constant(node.step), value)
        value = value if node.start == Constant(0) else Binary("+", node.start, value)
    return f"for {counter} in {header}:", f"{node.iterator} = {printer.expression(value)}"


def _trip_count(loop: For) -> Expression:
    """The number of iterations of a loop that starts before it stops; not positive for others."""
    length = loop.stop if loop.start == Constant(0) else Binary("-", loop.stop, loop.start)
    return Binary("//", Binary("+", length, Constant(loop.step - 1)), Constant(loop.step))


def words(text: str) -> set[str]:
    """The identifiers in Python text without its comments and the coordinates of CUDA's own.

    >>> sorted(words("i = 32 * block_x + cuda.threadIdx.x  # of S"))
    ['32', 'block_x', 'cuda', 'i']
    """
    return set(re.findall(r"\w+", re.sub(r"#.*|\.(?:threadIdx|blockIdx|gridDim)\.\w", "", text)))
