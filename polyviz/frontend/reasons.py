"""Why something is only approximated, in words: the parts of the sentences that errors, accesses and notes share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from polyviz.frontend.integers import reads_data
from polyviz.frontend.spelling import spelled
from polyviz.model.words import listed

if TYPE_CHECKING:
    from collections.abc import Iterable

    from polyviz.frontend.affine import NotAffine
    from polyviz.model.expression import Expression
    from polyviz.model.scop import Access


def why(subject: str, expression: Expression, problem: NotAffine) -> str:
    """What keeps ``expression`` from being affine, as a clause about ``subject``.

    >>> from polyviz.frontend.affine import NotAffine
    >>> from polyviz.model.expression import Binary, Element, Name
    >>> cell = Element("k", (Name("i"),))
    >>> why("the subscript", cell, NotAffine("`k[i]` depends on data"))
    'the subscript `k[i]` depends on data'
    >>> why("the subscript", Binary("+", cell, Name("j")), NotAffine("`k[i]` depends on data"))
    'the subscript `k[i] + j` depends on data'
    """
    whole = f"`{spelled(expression)}`"
    if reads_data(expression):
        return f"{subject} {whole} depends on data"
    if problem.reason.startswith(whole):
        return f"{subject} {problem.reason}"
    return f"{subject} {whole} is not affine: {problem.reason}"


def why_range(iterator: str, bounds: Iterable[Expression], problem: NotAffine) -> str:
    """What keeps the range of a loop from being affine."""
    if any(reads_data(bound) for bound in bounds):
        return f"the range of loop `{iterator}` depends on data"
    return f"the range of loop `{iterator}` is not affine: {problem.reason}"


_EVEN = (
    "the loops keep each part of {} within its stride, so two iterations meet in a cell only where all parts are "
    "equal: dependences are known although the subscript is not affine."
)
_GROWING = (
    "{} goes through rows that get longer or shorter by the same number, one behind the other, so two iterations meet "
    "in a cell only at the same place of the same row: dependences are known although the subscript is not affine."
)


def sentence(clause: str) -> str:
    """A clause as a sentence; nothing stays nothing."""
    return clause and f"{clause[0].upper()}{clause[1:]}."


def approximation_notes(statement: str, accesses: Iterable[Access]) -> list[str]:
    """One note per reason: which references of a statement may or may not happen, or lead to cells not known exactly.

    Not of linearised subscripts that are told apart, which have notes of their own.
    """
    texts: dict[str, dict[str, dict[str, None]]] = {}
    for access in accesses:
        if not access.exact and not access.is_numbered:
            texts.setdefault(access.reason, {}).setdefault(access.kind, {})[_quoted(access.text)] = None
    return [
        f"{statement} may {' and '.join(f'{kind} {listed(found)}' for kind, found in kinds.items())}: {reason}"
        for reason, kinds in texts.items()
    ]


def _quoted(text: str) -> str:
    """``text`` as code; of several lines, as those of a loop that was taken apart, the first.

    >>> _quoted("A[i]"), _quoted("for k in K:\\n    s += k")
    ('`A[i]`', '`for k in K: …`')
    """
    first, *more = text.splitlines() or [""]
    return f"`{first} …`" if more else f"`{first}`"


def linearised_notes(statement: str, accesses: Iterable[Access]) -> list[str]:
    """That references with linearised subscripts count as exact where only equal cells matter."""
    kinds: dict[str, dict[str, None]] = {_EVEN: {}, _GROWING: {}}
    for access in accesses:
        if access.apart is not None and not access.exact:
            kinds[_EVEN if access.starts is None else _GROWING][f"`{access.text}`"] = None
    return [f"{statement}: {text.format(listed(found))}" for text, found in kinds.items() if found]
