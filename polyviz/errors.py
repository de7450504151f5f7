"""One hierarchy for everything polyviz can refuse.

Every error carries the same four things, so that a notebook, a terminal and a test can show it alike:
*what* (the message), *where* (``span``, 1-based in the text the user gave), *why* (``reason``) and *what to do*
(``hint``).
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """A region of the user's text: 1-based lines and columns; ``end_column`` is one past the last character.

    >>> Span(2, 5, 2, 9)
    Span(line=2, column=5, end_line=2, end_column=9)
    """

    line: int
    column: int
    end_line: int
    end_column: int

    def __str__(self) -> str:
        return f"line {self.line}, column {self.column}"


def caret_excerpt(text: str, span: Span) -> str:
    """The line of ``text`` at ``span`` with carets under the construct; empty when the line does not exist.

    >>> print(caret_excerpt("for i in range(n):\\n    A[B[i]] = 0\\n", Span(2, 7, 2, 11)))
      2 |     A[B[i]] = 0
        |       ^^^^
    """
    lines = text.splitlines()
    if not 1 <= span.line <= len(lines):
        return ""
    line = lines[span.line - 1]
    last = span.end_column if span.end_line == span.line else len(line) + 1
    width = max(1, last - span.column)
    gutter = f"{span.line:>3} | "
    blank = " " * 3 + " | "
    shown, before = _window(line, span.column - 1)
    return f"{gutter}{shown}\n{blank}{' ' * before}{'^' * min(width, max(1, len(shown) - before))}"


_WIDEST = 160
_BEFORE = 60


def _window(line: str, place: int) -> tuple[str, int]:
    """``line`` where it is short, else the part of it around ``place``, and where ``place`` is in what is shown."""
    if len(line) <= _WIDEST:
        return line, place
    start = max(0, min(place, len(line)) - _BEFORE)
    end = start + _WIDEST
    return f"{'…' if start else ''}{line[start:end]}{'…' if end < len(line) else ''}", place - start + bool(
        start
    )


class PolyvizError(Exception):
    """Base of all errors of polyviz.

    ``message`` says what happened in one sentence, ``span`` and ``text`` where, ``reason`` why, ``hint`` what to do.
    ``inside`` shows the line of a helper where ``span`` is its call.

    >>> error = PolyvizError("`while` is not supported.", span=Span(1, 1, 1, 6), text="while x:", hint="Use for.")
    >>> print(error)
    `while` is not supported.
      1 | while x:
        | ^^^^^
      Hint: Use for.
    """

    def __init__(
        self,
        message: str,
        *,
        span: Span | None = None,
        reason: str = "",
        hint: str = "",
        text: str = "",
        inside: str = "",
    ) -> None:
        super().__init__(message)
        self.message = message
        self.span = span
        self.reason = reason
        self.hint = hint
        self.text = text
        self.inside = inside

    def __str__(self) -> str:
        lines = [self.message]
        if self.span is not None and self.text:
            lines += [caret_excerpt(self.text, self.span), self.inside]
        if self.reason:
            lines.append(f"  Why: {self.reason}")
        if self.hint:
            lines.append(f"  Hint: {self.hint}")
        return "\n".join(line for line in lines if line)

    def _render_traceback_(self) -> list[str]:
        """IPython calls this instead of printing the stack: the user sees the error, not our internals."""
        return [f"{type(self).__name__}: {self}"]

    def __reduce__(self) -> tuple[object, ...]:
        # Errors cross the process boundary of the worker; keyword-only arguments need a hand.
        told = (self.message, self.span, self.reason, self.hint, self.text, self.inside)
        return (_rebuild, (type(self), *told))


def _rebuild(
    kind: type[PolyvizError], message: str, span: Span | None, reason: str, hint: str, text: str, inside: str
) -> PolyvizError:
    return kind(message, span=span, reason=reason, hint=hint, text=text, inside=inside)


class ExtractionError(PolyvizError):
    """The source holds something that has no place in a static control part."""


class UnsupportedSyntaxError(ExtractionError):
    """A Python construct that is outside what polyviz handles."""


class NotAffineError(ExtractionError):
    """A loop bound, condition or extent that has to be affine is not, and cannot be over-approximated."""


class UnknownNameError(ExtractionError):
    """A name that is neither an argument, nor assigned before, nor known in the notebook."""


class OutOfBoundsError(PolyvizError):
    """A subscript leaves its array; the message names the iteration that does it."""


class OverlapError(PolyvizError):
    """Two arguments share memory and at least one is written."""


class OverlapWarning(UserWarning):
    """Arguments share memory, so the loop ran as written, which is slower."""


class DeviceWarning(UserWarning):
    """Arrays are to stay on a device, and there is none here: what is asked for works, and saves nothing."""


class ArgumentError(PolyvizError):
    """A call passes arguments that the kernel cannot take (number, type, rank, shape)."""


class OptionError(PolyvizError):
    """An option or value that does not exist; always one line."""


class LegalityError(PolyvizError):
    """A schedule that would change the result; the message holds the pair of instances.

    ``violation`` is that pair as a value, where a single move was refused, else None.
    """

    violation: object = None


class SchedulingError(PolyvizError):
    """A scheduler could not deliver a schedule."""


class CodegenError(PolyvizError):
    """The program cannot be expressed for this target."""


class EvaluationError(PolyvizError):
    """The loops cannot be computed with the values given: a complex number divided by zero, say."""


class EmulationError(PolyvizError):
    """A kernel would go wrong on a device: a race, a subscript out of range, a barrier not all threads reach."""


class DeviceError(PolyvizError):
    """The device failed while kernels ran: no memory left, a launch refused."""


class ToolchainError(PolyvizError):
    """A compiler is missing or failed."""


class WorkerError(PolyvizError):
    """The worker process crashed, hung or was cancelled."""


class VerificationError(PolyvizError):
    """A variant computed something else than the original loop."""
