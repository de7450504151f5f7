"""Arrays of places as subscripts, ``x[idx]`` and ``A[idx, :]``: one element, or row, for each place.

Read, they are a new array for NumPy; set, they are set one after the other. Whether an array holds places or truth
values, its type says: for an argument, a call or the head tells it.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING

from polyviz.frontend.array_parts import listed_indices
from polyviz.frontend.functions import INTEGER_TYPES
from polyviz.frontend.regions import Axis, Region, filled_up, is_new_axis, together
from polyviz.frontend.usage import subscript_chain

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from polyviz.frontend.program import Program

_ARITHMETIC = ast.Add | ast.Sub | ast.Mult | ast.FloorDiv | ast.Mod
_FUNCTIONS = ("numpy.minimum", "numpy.maximum", "numpy.clip", "numpy.mod", "numpy.remainder")


def is_places(
    node: ast.expr, is_known: Callable[[str], bool], canonical: Callable[[ast.expr], str | None]
) -> bool:
    """Whether ``node`` is computed of places; ``is_known`` says of a name that it stands for no truth values.

    >>> texts = ("k", "(k + 1) % n", "col[a:b]", "k > 1", "np.abs(k)")
    >>> [is_places(ast.parse(text, mode="eval").body, lambda name: True, lambda node: None) for text in texts]
    [True, True, True, False, False]
    """
    match node:
        case ast.Name(id=name) | ast.Subscript(value=ast.Name(id=name)):
            return is_known(name)
        case ast.Constant(value=value):
            return type(value) is int
        case ast.UnaryOp(op=ast.USub() | ast.Invert(), operand=operand):
            return is_places(operand, is_known, canonical)
        case ast.BinOp(left=left, op=operator, right=right) if isinstance(operator, _ARITHMETIC):
            return all(is_places(one, is_known, canonical) for one in (left, right))
        case ast.Call(func=ast.Attribute(attr="astype"), args=[kind]) if (canonical(kind) or "") in INTEGER_TYPES:
            return True
        case ast.Call(func=ast.Attribute(attr="argmax" | "argmin" | "arange")):
            return True
        case ast.Call(func=function, args=[_, first, second], keywords=[]) if canonical(function) == "numpy.where":
            return all(is_places(one, is_known, canonical) for one in (first, second))
        case ast.Call(func=function, args=args, keywords=[]) if canonical(function) in _FUNCTIONS:
            return all(is_places(one, is_known, canonical) for one in args)
    return False


@dataclass(frozen=True, slots=True)
class Gathered:
    """Elements of the array called ``base``: per dimension a place, an array of places, or an axis walked along.

    All places go together, along ``depth`` axes from axis ``first`` of the result on: where they stand side by side,
    and in front where slices stand between them.
    """

    base: ast.Name
    parts: tuple[ast.expr | Axis, ...]
    along: tuple[Axis, ...]
    first: int

    @property
    def depth(self) -> int:
        """How many dimensions the places have together."""
        return len(self.along)

    @property
    def last(self) -> int:
        """The axis behind those of the places."""
        return self.first + self.depth

    @property
    def slices(self) -> tuple[Axis, ...]:
        """The dimensions that are walked along."""
        return tuple(part for part in self.parts if isinstance(part, Axis))

    @property
    def axes(self) -> tuple[Axis, ...]:
        """The dimensions of the result."""
        return (*self.slices[: self.first], *self.along, *self.slices[self.first :])

    @property
    def places(self) -> list[ast.expr]:
        """What stands in the subscript, slices aside."""
        return [part for part in self.parts if isinstance(part, ast.expr)]


class Gatherer:
    """Finds arrays of places in subscripts.

    ``axes`` tells those of an expression, ``region`` which part of an array a subscript without places means.
    """

    def __init__(
        self,
        program: Program,
        canonical: Callable[[ast.expr], str | None],
        axes: Callable[[ast.expr], list[Axis]],
        region: Callable[[ast.expr], Region | None],
    ) -> None:
        self._program = program
        self._canonical = canonical
        self._axes = axes
        self._region = region
        self._known = program.symbols.no_masks

    def of(self, node: ast.expr) -> Gathered | None:
        """The elements that ``node`` means where some of its subscripts are arrays of places; None for others."""
        base, indices = subscript_chain(node) if isinstance(node, ast.Subscript) else (node, ())
        rank = self._program.rank(base.id) if isinstance(base, ast.Name) else None
        if rank is None or not isinstance(node, ast.Subscript) or not isinstance(base, ast.Name):
            return None
        inner = len(indices) - len(listed_indices(node.slice))
        filled = filled_up(indices, rank)
        fixed = [(place, one) for place, one in enumerate(filled) if not isinstance(one, ast.Slice)]
        if len(filled) != rank or any(is_new_axis(one) for _, one in fixed):
            return None
        several = {place: axes for place, one in fixed if (axes := self._axes(one))}
        if not several or not all(is_places(filled[one], self._is_no_mask, self._canonical) for one in several):
            return None
        # What stands in brackets before chooses a part first, by numbers; all of the last brackets go together.
        numbers, places = fixed[:inner], fixed[inner:]
        if any(place in several or place >= inner for place, _ in numbers):
            return None
        first, last = places[0][0], places[-1][0]
        is_apart = last - first + 1 > len(places)
        parts = self._parts(node, base, filled, several)
        return Gathered(base, parts, tuple(together(list(several.values()))), 0 if is_apart else first - inner)

    def _parts(
        self, node: ast.Subscript, base: ast.Name, indices: Sequence[ast.expr], several: dict[int, list[Axis]]
    ) -> tuple[ast.expr | Axis, ...]:
        """``indices`` with axes in the place of slices."""
        plain: list[ast.expr] = [ast.Constant(0) if place in several else one for place, one in enumerate(indices)]
        without = ast.copy_location(ast.Subscript(base, ast.Tuple(plain, ast.Load()), ast.Load()), node)
        region = self._region(without)
        if region is None:
            return tuple(indices)
        return tuple(indices[place] if place in several else part for place, part in enumerate(region.parts))

    def walked(self, found: Gathered) -> Region | None:
        """A part of the array with the axes that ``found`` has, in their order; None where there is none."""
        ends = list(accumulate((isinstance(part, Axis) for part in found.parts), initial=0))
        first = next(place for place, part in enumerate(found.parts) if isinstance(part, ast.expr))
        array = self._program.array(found.base.id)
        if array is None or found.depth != 1 or ends[first] != found.first:
            return None
        parts = [found.along[0] if place == first else part for place, part in enumerate(found.parts)]
        return Region(array, found.base, tuple(parts))

    def given(self, name: str, value: ast.expr) -> None:
        """Take notice of a new array ``name`` that is made of ``value``."""
        is_known = is_places(value, self._is_no_mask, self._canonical)
        self._known = self._known - {name} | ({name} if is_known else set())

    def _is_no_mask(self, name: str) -> bool:
        """Whether ``name`` stands for a number, or for an array that is known to hold no truth values."""
        array = self._program.array(name) if self._program.rank(name) is not None else None
        creation = None if array is None else array.creation
        if creation is None or creation.of_values:
            return array is None or name in self._known
        if creation.like is not None:
            return self._is_no_mask(creation.like)
        return (creation.dtype or "").startswith(("int", "uint"))


def listed(indices: list[ast.expr]) -> ast.expr:
    """The subscript of ``indices``.

    >>> ast.unparse(listed([ast.Name("i"), ast.Constant(0)]))
    '(i, 0)'
    """
    return indices[0] if len(indices) == 1 else ast.Tuple(indices, ast.Load())
