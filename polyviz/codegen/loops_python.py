"""Loops as Python: ranges, the loops that numba shares between threads, and the names in a text."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from polyviz.model.expression import Binary, Call, Compare, Conditional, Constant, Expression, Name

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from polyviz.codegen.expressions_python import PythonExpressionPrinter
    from polyviz.codegen.loops import For
    from polyviz.model.program import Failure

_SERIAL_NOTES = {
    "subscript": "numba: no loop runs in parallel, because some subscripts depend on data and numba cannot report one "
    "that is out of range from a parallel loop",
    "step": "numba: no loop runs in parallel, because the step of some loop may be 0 and numba cannot report that from "
    "a parallel loop",
}


def serial_notes(failures: Sequence[Failure]) -> tuple[str, ...]:
    """Why numba shares no loop between threads, where some ``failures`` can only be found while the loops run."""
    return tuple(_SERIAL_NOTES[kind] for kind in dict.fromkeys(failure.kind for failure in failures))


def range_text(
    printer: PythonExpressionPrinter, start: Expression, stop: Expression, step: int, name: str = "range"
) -> str:
    """The call of ``range`` (or of what is called ``name``), without what it takes for granted."""
    bounds = [printer.expression(bound) for bound in (start, stop)]
    if step != 1:
        return f"{name}({', '.join(bounds)}, {step})"
    return f"{name}({bounds[1]})" if bounds[0] == "0" else f"{name}({', '.join(bounds)})"


@dataclass(frozen=True, slots=True)
class BothEnds:
    """The variables of a loop whose iterations are taken from both ends in turns."""

    count: str
    turn: str


def parallel_lines(
    printer: PythonExpressionPrinter, node: For, counter: str, ends: BothEnds | None
) -> Iterator[tuple[int, str]]:
    """The head of a loop that numba shares between threads, with what stands around it, each with its indent.

    ``prange`` counts by ones, so a loop over tiles counts its tiles; and it counts in unsigned numbers, of which ``-i``
    is a huge one, so the variable that statements see is made from the ``counter``. Every thread gets a run of
    neighbouring numbers. Where iterations grow or shrink, those of ``ends`` make equal shares of such runs: the first
    iteration comes before the last, the second before the last but one.
    """
    number: Expression = Call("numpy.int64", (Name(counter),))
    if ends is None and node.step == 1:
        yield 0, f"for {counter} in {range_text(printer, node.start, node.stop, 1, 'numba.prange')}:"
        yield 1, f"{node.iterator} = {printer.expression(number)}"
        return
    count, comment = _trip_count(node), ""
    if ends is not None:
        yield 0, f"{ends.count} = {printer.expression(count)}"
        count = Name(ends.count)
    yield 0, f"for {counter} in numba.prange({printer.expression(count)}):"
    if ends is not None:
        yield 1, f"{ends.turn} = {printer.expression(number)}"
        number, comment = _from_both_ends(Name(ends.turn), count), "  # from both ends, for equal shares"
    value = number if node.step == 1 else Binary("*", Constant(node.step), number)
    value = value if node.start == Constant(0) else Binary("+", node.start, value)
    yield 1, f"{node.iterator} = {printer.expression(value)}{comment}"


def _from_both_ends(turn: Name, count: Expression) -> Expression:
    """0, the last of ``count`` numbers, 1, the last but one and so on."""
    half = Binary("//", turn, Constant(2))
    last = Binary("-", count, Constant(1))
    is_even = Compare(("==",), (Binary("%", turn, Constant(2)), Constant(0)))
    return Conditional(is_even, half, Binary("-", last, half))


def _trip_count(loop: For) -> Expression:
    """The number of iterations of a loop that starts before it stops; not positive for others."""
    length = loop.stop if loop.start == Constant(0) else Binary("-", loop.stop, loop.start)
    if loop.step == 1:
        return length
    return Binary("//", Binary("+", length, Constant(loop.step - 1)), Constant(loop.step))


def words(text: str) -> set[str]:
    """The identifiers in Python text without its comments and the coordinates of CUDA's own.

    >>> sorted(words("i = 32 * block_x + cuda.threadIdx.x  # of S"))
    ['32', 'block_x', 'cuda', 'i']
    """
    return set(re.findall(r"\w+", re.sub(r"#.*|\.(?:threadIdx|blockIdx|gridDim)\.\w", "", text)))
