"""Which calls add up arrays, or look for their extremes, and along which axes: ``np.sum(A, axis=1)``, ``A.max()``."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING

from polyviz.frontend.regions import Axis, constant_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

SUMS = ("sum", "mean", "var", "std")
COUNTS = ("any", "all", "count_nonzero")
EXTREMES = {"max": "maximum", "amax": "maximum", "min": "minimum", "amin": "minimum"}
PLACES = {"argmax": ast.Gt(), "argmin": ast.Lt()}
"""What looks for the place of an element, and how one is better than another."""
NORM = "linalg.norm"


@dataclass(frozen=True, slots=True)
class Summed:
    """The sum, mean, largest or smallest, or the place of that (``kind``), of ``operand``, along some ``axes``.

    ``axes`` is None where all elements count. ``keeps``: each axis that is summed along stays, with one position.
    """

    kind: str
    operand: ast.expr
    axes: tuple[int, ...] | None
    keeps: bool = False
    mask: ast.expr | None = None
    """Which elements count; for None, all."""

    def is_along(self, position: int, count: int) -> bool:
        """Whether the axis at ``position`` of ``count`` is summed along."""
        return self.axes is None or position in (axis % count for axis in self.axes)

    def fits(self, count: int) -> bool:
        """Whether an operand with ``count`` dimensions has the axes, each of them once."""
        axes = self.axes or ()
        return all(-count <= axis < count for axis in axes) and len({axis % count for axis in axes}) == len(axes)

    def result(self, inside: Sequence[Axis]) -> list[Axis]:
        """The axes of the result, for an operand with the axes ``inside``."""
        kept = Axis(ast.Constant(0), ast.Constant(1), 1, is_new=True)
        along = [self.is_along(position, len(inside)) for position in range(len(inside))]
        pairs = zip(inside, along, strict=True)
        return [kept if summed else axis for axis, summed in pairs if self.keeps or not summed]


def summed_by(node: ast.expr, canonical: Callable[[ast.expr], str | None]) -> Summed | None:
    """What ``node`` adds up; None where it is no such call, or one with more than axes.

    >>> node = ast.parse("np.sum(A, axis=(0, 2), keepdims=True)", mode="eval").body
    >>> found = summed_by(node, lambda function: "numpy.sum")
    >>> found.axes, found.keeps
    ((0, 2), True)
    """
    match node:
        case ast.Call(func=function, args=[operand, *rest], keywords=keywords) if (
            canonical(function) or ""
        ).startswith("numpy."):
            kind, is_method = (canonical(function) or "").partition(".")[2], False
        case ast.Call(func=ast.Attribute(value=operand, attr=kind), args=rest, keywords=keywords):
            is_method = True
        case _:
            return None
    known = (*SUMS, *EXTREMES, *PLACES, *(COUNTS[:2] if is_method else COUNTS))
    given = {"axis": rest[0]} if rest else {}
    given |= {one.arg or "": one.value for one in keywords}
    axes, keeps = _axes(given.get("axis")), _truth(given.get("keepdims"))
    if len(rest) > 1 or len(given) < len(rest) + len(keywords) or not given.keys() <= {"axis", "keepdims"}:
        return None
    if isinstance(axes, bool) or keeps is None or (kind in COUNTS and keeps):
        return None
    if kind in PLACES and len(axes or ()) > 1:
        return None
    if kind == NORM and not is_method:
        return None if given else Summed(kind, operand, None)
    return Summed(kind, operand, axes, keeps) if kind in known else None


def _axes(node: ast.expr | None) -> tuple[int, ...] | bool | None:
    """The axes that are given as ``node``; None for all of them, False where they are not known."""
    if node is None or (isinstance(node, ast.Constant) and node.value is None):
        return None
    parts = node.elts if isinstance(node, ast.Tuple) else [node]
    known = [constant_of(part) for part in parts]
    axes = tuple(axis for axis in known if axis is not None)
    return axes if axes and len(axes) == len(known) else False


def _truth(node: ast.expr | None) -> bool | None:
    """What a literal ``node`` says, False where there is none; None where it is no literal."""
    if node is None:
        return False
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, bool) else None
