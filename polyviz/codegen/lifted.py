"""Sweeps over rows that are kept in stretches side by side: what they write, and how far from it they read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from polyviz.codegen.index import simplified
from polyviz.codegen.row_blocks import elements_of, written_out
from polyviz.model.expression import Binary, Call, Constant
from polyviz.model.linear import linear_terms

if TYPE_CHECKING:
    from collections.abc import Sequence

    from polyviz.codegen.loops import For
    from polyviz.model.expression import Assign, Element, Expression
    from polyviz.model.scop import Statement


@dataclass(frozen=True, slots=True)
class Sweep:
    """One loop over a row: ``assign`` sets the cell ``shift`` places behind the value of its iterator."""

    loop: For
    statement: Statement
    assign: Assign
    shift: int

    @property
    def target(self) -> str:
        """The array it writes."""
        return self.assign.target.array

    def distance(self, element: Element) -> int:
        """How far behind the cell that the sweep writes the cell ``element`` lies."""
        offset = offset_of(element, self.loop.iterator)
        assert offset is not None
        return offset - self.shift

    def distances(self, array: str) -> set[int]:
        """How far behind the cell that it writes the cells of ``array`` lie that it reads."""
        return {self.distance(part) for part in elements_of(written_out(self.assign).value) if part.array == array}

    @property
    def start(self) -> Expression:
        """The first cell it writes."""
        return moved(self.loop.start, self.shift)

    @property
    def stop(self) -> Expression:
        """The cell behind the last one it writes."""
        return moved(self.loop.stop, self.shift)


@dataclass(frozen=True, slots=True)
class Nest:
    """``loop`` around nothing but ``sweeps``.

    ``reach`` holds, for each of the lifted arrays, how far before and behind the written cell it is read; a row has a
    cell of each of ``lanes`` stretches. ``in_vectors``: they are the lanes of a vector, which computes all of it.
    """

    loop: For
    sweeps: tuple[Sweep, ...]
    reach: dict[str, tuple[int, int]]
    lanes: int
    in_vectors: bool

    @property
    def start(self) -> Expression:
        """The first cell that all sweeps write."""
        return _combined("max", [sweep.start for sweep in self.sweeps])

    @property
    def stop(self) -> Expression:
        """The cell behind the last one that all sweeps write."""
        return _combined("min", [sweep.stop for sweep in self.sweeps])


def offset_of(element: Element, iterator: str) -> int | None:
    """How far behind the cell ``iterator`` the cell ``element`` lies; None where that is no number."""
    if len(element.subscripts) != 1:
        return None
    terms = dict(linear_terms(element.subscripts[0]) or {})
    constant = terms.pop("", 0)
    return constant if {name: factor for name, factor in terms.items() if factor} == {iterator: 1} else None


def moved(bound: Expression, shift: int) -> Expression:
    """``bound`` so many cells further."""
    return simplified(Binary("+", bound, Constant(shift)))


def _combined(function: str, bounds: Sequence[Expression]) -> Expression:
    different = tuple(dict.fromkeys(bounds))
    return Call(function, different) if len(different) > 1 else different[0]
