"""What a generated program raises, in the terms of the loops that the user wrote."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from polyviz.errors import CodegenError, EvaluationError, OutOfBoundsError, PolyvizError

if TYPE_CHECKING:
    from types import TracebackType

    from polyviz.model.program import Failure, Program

_UNCHANGED = "No array was changed."


def explained(error: BaseException, program: Program, filename: str) -> BaseException:
    """The error to raise instead of ``error``, which the program's text in ``filename`` raised; arrays are restored.

    Interrupts and lack of memory are not the program's and stay what they are.
    """
    if isinstance(error, IndexError):
        return OutOfBoundsError(_out_of_range(error, program, filename), hint=_UNCHANGED)
    if isinstance(error, PolyvizError | MemoryError) or not isinstance(error, Exception):
        return error
    if type(error).__module__.partition(".")[0] == "numba":
        return CodegenError(
            f"numba refuses the generated program: {_reason(error)}",
            hint="Use the target `c` or `python`, or look at the text in `kernel.source`.",
        )
    where = _where(_failing_line(error.__traceback__, filename), program)
    return EvaluationError(
        f"The loops cannot be computed with these values{where}: {_reason(error)}.", hint=_UNCHANGED
    )


def instead_of(target: str, instead: str, error: PolyvizError) -> str:
    """Why a kernel does not run on ``target``, in one line.

    >>> from polyviz.errors import ToolchainError
    >>> instead_of("c", "numba", ToolchainError("No C compiler was found."))
    'target numba instead of c: No C compiler was found.'
    """
    reason = error.reason.splitlines()[0] if error.reason else ""
    return f"target {instead} instead of {target}: {error.message}{f' {reason}' if reason else ''}"


def _reason(error: BaseException) -> str:
    """The first line that says something; numba's errors start with a heading that does not."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    if len(lines) > 1 and lines[0].startswith("Failed in nopython mode"):
        lines = lines[1:]
    return lines[0] if lines else type(error).__name__


def _out_of_range(error: IndexError, program: Program, filename: str) -> str:
    """Which subscript: the one that stands at the failing place of the text, or all that may be meant."""
    place = _failing_place(error.__traceback__, filename, program.text)
    if place is not None:
        line, array = place
        return f"A subscript of {array} is out of range{_where(line, program)}."
    found = [failure for failure in program.failures if failure.kind == "subscript"]
    if not found:
        return "A subscript is out of range."
    first, *others = found
    return ", or ".join([first.sentence.removesuffix("."), *(other.clause for other in others)]) + "."


def failed_test(failure: Failure) -> PolyvizError:
    """The error for a test that the text of a program makes itself; arrays are restored."""
    kind = OutOfBoundsError if failure.kind == "subscript" else EvaluationError
    return kind(failure.sentence, hint=_UNCHANGED)


def _where(line: int | None, program: Program) -> str:
    origin = program.lines.get(line) if line is not None else None
    return "" if origin is None else f" (line {origin.span.line})"


def _failing_line(trace: TracebackType | None, filename: str) -> int | None:
    innermost = _innermost(trace, filename)
    return None if innermost is None else innermost.tb_lineno


def _innermost(trace: TracebackType | None, filename: str) -> TracebackType | None:
    found = None
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == filename:
            found = trace
        trace = trace.tb_next
    return found


def _failing_place(trace: TracebackType | None, filename: str, text: str) -> tuple[int, str] | None:
    """The line, and the array whose subscript failed there; None for compiled code, which leaves no trace."""
    innermost = _innermost(trace, filename)
    if innermost is None:
        return None
    positions = innermost.tb_frame.f_code.co_positions()
    line, _, start, end = next(islice(positions, innermost.tb_lasti // 2, None))
    if line is None or start is None or end is None:
        return None
    expression = text.splitlines()[line - 1].encode()[start:end].decode()
    return line, expression.partition("[")[0]
