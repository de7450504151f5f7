"""One block of register tiles at its place in the loops: what its coordinates and iterators are called there."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from polyviz.codegen.block_shape import COORDINATE_PREFIX
from polyviz.codegen.bodies import private_copies
from polyviz.codegen.index import simplified, simplify_subscripts
from polyviz.model.expression import Element, Expression, Name, substitute, walk
from polyviz.model.linear import written
from polyviz.model.unused_names import unused_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from polyviz.codegen.block_shape import BlockShape
    from polyviz.codegen.block_text import Operand
    from polyviz.model.expression import Node
    from polyviz.model.linear import Terms
    from polyviz.model.plan import Plan, RegisterTile
    from polyviz.model.scop import Scop, Statement

_BOUNDS = ("start", "stop", "count", "panel", "first", "last", "end", "shared", "padded", "later")
"""What the text of a block adds to the names of its loops."""


@dataclass(frozen=True, slots=True)
class ShapedBlock:
    """A register tile with the shape of its blocks: what every printer starts from."""

    tile: RegisterTile
    statement: Statement
    shape: BlockShape

    @property
    def parts(self) -> int:
        """How many numbers a packed value becomes."""
        return 1


def buffer_names(values: Sequence[Expression], ending: str) -> list[str]:
    """What buffers of the operands ``values`` of one tile are called: after the arrays whose values they hold.

    ``A[i, k]`` and ``A[i, k + 1]`` are two operands; ``ending`` tells rows from columns.

    >>> from polyviz.model.expression import Constant, Element
    >>> buffer_names([Element("A", (Constant(0),)), Element("B"), Element("A", (Constant(1),))], "rows")
    ['A_rows', 'B_rows', 'A_rows_2']
    """
    names: list[str] = []
    uses: Counter[str] = Counter()
    for value in values:
        name = "_".join([*sorted({part.array for part in walk(value) if isinstance(part, Element)}), ending])
        uses[name] += 1
        names.append(name if uses[name] == 1 else f"{name}_{uses[name]}")
    return names


Shaped = TypeVar("Shaped", bound=ShapedBlock)


class ArrayNames(Protocol):
    """What a place asks of the names of a function: those ``taken``, and to be told whose accesses come next."""

    @property
    def taken(self) -> frozenset[str]:
        """Everything that another variable must not be called."""

    def enter(self, statement: Statement) -> None:
        """The accesses that follow belong to ``statement``."""


class ValuePrinter(Protocol):
    """What prints values in the language of the text."""

    def expression(self, node: Expression) -> str:
        """``node`` as text."""


class BlockPlace(Generic[Shaped]):
    """Texts for one block; ``arguments`` are the values of its coordinates.

    ``row``, ``column`` and ``depth`` are the names of the three loops: the source's, unless they are taken. So is
    ``around`` that of the loop around columns, empty where there is none.
    """

    def __init__(
        self,
        scop: Scop,
        plan: Plan,
        arrays: ArrayNames,
        printer: ValuePrinter,
        block: Shaped,
        arguments: Sequence[Expression],
    ) -> None:
        self.block = block
        self._arrays = arrays
        self._printer = printer
        self._private = private_copies(scop, plan, block.statement)
        tile, iterators = block.tile, block.statement.iterators
        self.coordinates: dict[str, Expression] = {
            f"{COORDINATE_PREFIX}{position}": argument for position, argument in enumerate(arguments)
        }
        self.taken = arrays.taken.union(*map(names_in, arguments))
        names = [_unused(iterators[position], self.taken) for position in (tile.row, tile.column, tile.depth)]
        self.row, self.column, self.depth = names
        self.around = "" if tile.around is None else _unused(iterators[tile.around], self.taken)
        outer = {name: substitute(value, self.coordinates) for name, value in block.shape.outer.items()}
        loops = zip((tile.row, tile.column, tile.depth), names, strict=True)
        self._names: dict[str, Expression] = {
            **self.coordinates,
            **{name: expression_of(value) for name, value in outer.items()},
            **{iterators[position]: Name(name) for position, name in loops},
            **({} if tile.around is None else {iterators[tile.around]: Name(self.around)}),
        }

    def panel(self, operand: Operand, first: str) -> str:
        """Where the panel that begins with row or column ``first`` is packed, but for the factor of steps."""
        name = self.row if operand.is_row else self.column
        place = f"({first} - {name}_start)"
        if self.around and not operand.is_row:
            place = f"(({self.around} - {self.around}_start) * {name}_padded + {first} - {name}_start)"
        if self.block.parts > 1:
            place = f"{self.block.parts} * {place}"
        return f"{operand.buffer} + {place}"

    def expression(self, node: Expression) -> Expression:
        """``node`` with coordinates and iterators called as they are here."""
        return expression_of(simplify_subscripts(substitute(node, self._names)))

    def text(self, node: Expression) -> str:
        """``node`` as text."""
        return self._printer.expression(self.expression(node))

    def value(self, node: Expression, **iterators: Expression) -> str:
        """A part of the statement's body as text; ``iterators`` may give some of them other values."""
        self._arrays.enter(self.block.statement)
        return self.text(expression_of(substitute(self._private(node), iterators)))

    def cell(self, row: Expression, column: Expression) -> str:
        """The updated cell."""
        return self.at(self.block.tile.operands.target, row=row, column=column)

    def at(self, element: Expression, **roles: Expression) -> str:
        """``element`` with the iterators of the given roles (row, column, depth) at other values."""
        self._arrays.enter(self.block.statement)
        tile, iterators = self.block.tile, self.block.statement.iterators
        names = {iterators[getattr(tile, role)]: value for role, value in roles.items()}
        others = {name: value for name, value in self._names.items() if name not in names}
        placed = substitute(substitute(self._private(element), others), names)
        return self._printer.expression(expression_of(simplify_subscripts(placed)))

    def terms(self, terms: Terms) -> str:
        """A linear combination of iterators and coordinates as text."""
        return self.text(written(terms))

    def corner(self, terms: Terms, *, best: bool) -> str:
        """``terms`` as text at the corner of the tile where they are largest (``best``) or smallest."""
        return self._printer.expression(self.corner_expression(terms, best=best))

    def corner_expression(self, terms: Terms, *, best: bool) -> Expression:
        """``terms`` at the corner of the tile where they are largest (``best``) or smallest."""
        tile, iterators, result = self.block.tile, self.block.statement.iterators, dict(terms)
        for position, name in ((tile.row, self.row), (tile.column, self.column)):
            value = result.pop(iterators[position], 0)
            if value:
                result[f"{name}_{'last' if (value > 0) == best else 'first'}"] = value
        return simplified(self.expression(written(result)))

    def at_first(self, terms: Terms) -> str:
        """``terms`` as text for the first row and the first step of the tile."""
        tile, iterators = self.block.tile, self.block.statement.iterators
        firsts = {iterators[tile.row]: f"{self.row}_first", iterators[tile.depth]: f"{self.depth}_first"}
        placed = {firsts.get(name, name): value for name, value in terms.items()}
        return self._printer.expression(simplified(self.expression(written(placed))))


def names_in(expression: Expression) -> set[str]:
    """The names that occur in ``expression``."""
    return {part.name for part in walk(expression) if isinstance(part, Name)}


def expression_of(node: Node) -> Expression:
    """``node``, known to be an expression."""
    assert isinstance(node, Expression)
    return node


def _unused(name: str, taken: frozenset[str]) -> str:
    """``name``, or something like it, such that neither it nor a bound called after it is taken."""
    return unused_name(name, lambda one: any(other in taken for other in (one, *(f"{one}_{end}" for end in _BOUNDS))))
