"""What is computed element by element, and what depends on the place: ``np.roll``, whose elements come from elsewhere
along an axis, and ``np.triu`` and ``np.tril``, which put zeros in the place of some."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING

from polyviz.frontend.functions import PURE, named_arguments
from polyviz.frontend.parts import copy_of
from polyviz.frontend.regions import Axis, constant_of, difference, is_part

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Canonical = Callable[[ast.expr], str | None]


def elementwise_operands(node: ast.expr, canonical: Canonical) -> list[ast.expr]:
    """The parts of ``node`` that it computes with element by element; none where it is no such computation."""
    match node:
        case ast.BinOp(left=left, right=right):
            return [left, right]
        case ast.UnaryOp(operand=operand):
            return [operand]
        case ast.Compare(left=left, comparators=others):
            return [left, *others]
        case ast.Call(func=ast.Attribute(value=array, attr="copy"), args=[], keywords=[]) if is_part(array):
            return [array]
        case ast.Call(func=ast.Attribute(value=array, attr="astype"), args=[kind], keywords=[]) if (
            canonical(kind) in PURE
        ):
            return [array]
        case ast.Call(func=function, args=[array], keywords=[]) if canonical(function) == "numpy.copy":
            return [array] if is_part(array) else []
        case ast.Call(func=function, args=arguments):
            if (placed := placed_by(node, canonical)) is not None:
                return [placed.operand]
            called = canonical(function) or ""
            elementwise = called in (*PURE, "numpy.clip") and called.partition(".")[0] in ("numpy", "abs")
            is_choice = called == "numpy.where" and len(arguments) == 3
            return arguments if elementwise or is_choice else []
    return []


@dataclass(frozen=True, slots=True)
class Rolled:
    """``operand`` moved by ``shift`` along ``axis``, around the end; without an axis, a vector."""

    operand: ast.expr
    shift: ast.expr
    axis: int | None

    def element(
        self, element: ast.expr, count: int, axes: Sequence[Axis], names: Sequence[str]
    ) -> ast.expr | None:
        """``element``, one of an operand with ``count`` dimensions, from where it was; None where that is not known."""
        axis = 0 if self.axis is None else self.axis
        if (self.axis is None and count != 1) or not -count <= axis < count or count > len(axes):
            return None
        place = len(axes) - count + axis % count
        along, name = axes[place], names[place]
        if along.step != 1:
            return None
        moved = difference(difference(ast.Name(name, ast.Load()), along.start), self.shift)
        around: ast.expr = ast.BinOp(moved, ast.Mod(), along.length)
        if constant_of(along.start) != 0:
            around = ast.BinOp(along.start, ast.Add(), around)
        found: ast.expr = _At(name, around).visit(copy_of(element))
        return found


@dataclass(frozen=True, slots=True)
class Triangle:
    """``operand`` with zeros below its diagonal number ``diagonal``, or above."""

    operand: ast.expr
    diagonal: ast.expr
    is_upper: bool

    def element(self, element: ast.expr, count: int, axes: Sequence[Axis], names: Sequence[str]) -> ast.expr | None:
        """``element``, one of a matrix, or zero; None where its place is not known."""
        if count != 2 or len(axes) < 2 or any(axis.step != 1 for axis in axes[-2:]):
            return None
        row, column = (
            difference(ast.Name(name, ast.Load()), axis.start) for axis, name in zip(axes[-2:], names[-2:], strict=True)
        )
        first = row if constant_of(self.diagonal) == 0 else ast.BinOp(row, ast.Add(), copy_of(self.diagonal))
        kept = ast.Compare(column, [ast.GtE() if self.is_upper else ast.LtE()], [first])
        return ast.IfExp(kept, element, ast.Constant(0))


def placed_by(node: ast.expr, canonical: Canonical) -> Rolled | Triangle | None:
    """What ``node`` takes elements of by their places; None for anything else."""
    called = canonical(node.func) if isinstance(node, ast.Call) else None
    if not isinstance(node, ast.Call) or called not in ("numpy.triu", "numpy.tril"):
        return rolled_by(node, canonical)
    given = named_arguments(("m", "k"), node)
    is_known = given.keys() <= {"m", "k"} and "m" in given and len(node.args) <= 2
    return Triangle(given["m"], given.get("k", ast.Constant(0)), called == "numpy.triu") if is_known else None


def rolled_by(node: ast.expr, canonical: Canonical) -> Rolled | None:
    """What ``node`` rolls by how many places, one axis at a time.

    >>> node = ast.parse("np.roll(A, -1, axis=0)", mode="eval").body
    >>> rolled_by(node, lambda function: "numpy.roll").axis
    0
    """
    if not isinstance(node, ast.Call) or canonical(node.func) != "numpy.roll":
        return None
    given = named_arguments(("a", "shift", "axis"), node)
    axis = constant_of(given["axis"]) if "axis" in given else None
    is_known = given.keys() - {"axis"} == {"a", "shift"} and (axis is not None or "axis" not in given)
    if not is_known or isinstance(given["shift"], ast.Tuple | ast.List):
        return None
    return Rolled(given["a"], given["shift"], axis)


class _At(ast.NodeTransformer):
    """Puts ``place`` where ``name`` is."""

    def __init__(self, name: str, place: ast.expr) -> None:
        self._name = name
        self._place = place

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return copy_of(self._place) if node.id == self._name else node
