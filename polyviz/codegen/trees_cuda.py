"""A shared accumulation in CUDA: every thread makes a part, shared memory joins the parts in a tree.

Source of the tree: Harris, *Optimizing parallel reduction in CUDA* (2007), the variant with sequential addressing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from polyviz.model.device import coordinate
from polyviz.model.expression import (
    Assign,
    Binary,
    Call,
    Constant,
    Element,
    Expression,
    Instruction,
    Name,
    Node,
    rebuild,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from polyviz.model.device import SpaceAxis, TreeReduction
    from polyviz.model.scop import Statement

_IDENTITY: dict[str, int | float] = {"+": 0, "*": 1, "min": math.inf, "max": -math.inf}


def can_be_joined(tree: TreeReduction, dtype: str) -> bool:
    """Whether the parts of ``tree`` have something to begin with in ``dtype``."""
    return tree.operator in ("+", "*") or (tree.operator in _IDENTITY and dtype.startswith("float"))


@dataclass(frozen=True, slots=True)
class TreeText:
    """The pieces of one shared accumulation: ``part`` is each thread's variable, ``shared`` the array of all parts."""

    tree: TreeReduction
    statement: Statement
    part: str
    shared: str
    threads: tuple[SpaceAxis, ...]

    @property
    def extents(self) -> tuple[int, ...]:
        """How many threads there are along the axes, outermost first."""
        return tuple(axis.size for axis in self.threads)

    @property
    def size(self) -> int:
        """How many threads share the accumulation."""
        return next(axis.size for axis in self.threads if axis.axis == self.tree.axis)

    def begin(self) -> Instruction:
        """The part before anything was added to it."""
        return Assign(Element(self.part), Constant(float(_IDENTITY[self.tree.operator])))

    def accumulate(self, body: Sequence[Instruction]) -> list[Instruction]:
        """``body`` with the part in place of the accumulating cell; what hands a last value over is for ``finish``."""
        instruction = body[0]
        assert isinstance(instruction, Assign)
        target = instruction.target

        def place(node: Node) -> Node:
            return Element(self.part) if node == target else rebuild(node, place)

        changed = place(instruction)
        assert isinstance(changed, Instruction)
        return [changed]

    def store(self) -> Instruction:
        """The part becomes visible to the other threads."""
        return Assign(self._cell(Constant(0)), Element(self.part))

    def step(self, width: str) -> Instruction:
        """One thread takes the part ``width`` threads further."""
        return self._joined(self._cell(Constant(0)), self._cell(Name(width)))

    def finish(self, body: Sequence[Instruction]) -> list[Instruction]:
        """The accumulating cell takes the joined parts, which the first thread holds; then it may be handed over."""
        instruction, *handed_over = body
        assert isinstance(instruction, Assign)
        return [self._joined(instruction.target, self._cell(Constant(0))), *handed_over]

    @property
    def coordinate(self) -> str:
        """The parameter of the thread along the axis."""
        return coordinate("thread", self.tree.axis)

    def _cell(self, further: Expression) -> Element:
        places: list[Expression] = []
        for axis in self.threads:
            here: Expression = Name(coordinate("thread", axis.axis))
            moved = axis.axis == self.tree.axis and further != Constant(0)
            places.append(Binary("+", here, further) if moved else here)
        return Element(self.shared, tuple(places))

    def _joined(self, target: Element, value: Element) -> Instruction:
        if self.tree.operator in ("+", "*"):
            return Assign(target, value, self.tree.operator)
        return Assign(target, Call(self.tree.operator, (target, value)))
