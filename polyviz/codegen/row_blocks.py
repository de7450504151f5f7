"""What the rows of a row block read: runs of neighbouring elements, each loaded once for all rows that use it.

A row block is a loop over rows around a vector loop over columns, with one statement in it. Some of its rows are
computed together: the elements that they read along one row of an array are one *stream*, whatever row of the block and
whatever neighbour they are for. ``A[i][j - 1]``, ``A[i][j]`` and ``A[i][j + 1]`` of row ``i`` are a stream of three
offsets, and rows ``i - 1`` and ``i + 1`` find their own neighbours in it, too.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from polyviz.codegen.bodies import placed_body
from polyviz.codegen.index import simplify_subscripts
from polyviz.codegen.loops import Block, For, Instance
from polyviz.codegen.typing import Environment, infer
from polyviz.model.expression import (
    Assign,
    Binary,
    Constant,
    Element,
    Expression,
    Name,
    Unary,
    rebuild,
    substitute,
    walk,
)
from polyviz.model.linear import linear_terms, written

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from polyviz.codegen.loops import LoopNode
    from polyviz.model.expression import Instruction, Node
    from polyviz.model.program import ArrayType
    from polyviz.model.scop import Scop, Statement

VECTOR_DTYPES = ("float64", "float32")
_OPERATORS = ("+", "-", "*", "/")


@dataclass(frozen=True, slots=True)
class Stream:
    """Elements of ``array`` next to each other: ``first`` is the leftmost, ``offsets`` are distances from it."""

    first: Element
    offsets: tuple[int, ...]

    @property
    def array(self) -> str:
        """The array."""
        return self.first.array

    @property
    def span(self) -> int:
        """The distance from the first element to the last."""
        return self.offsets[-1]


@dataclass(frozen=True, slots=True)
class RowBlock:
    """The loops ``rows`` and ``columns`` around ``statement``, and what a block of rows does in one column.

    ``updates`` has one assignment per row; ``streams`` are what they read, and ``places`` tells for each element read
    along memory which stream and offset it is. ``dtype`` is the type of everything. ``repeatable``: running an
    iteration twice is the same as running it once.
    """

    rows: For
    columns: For
    statement: Statement
    dtype: str
    updates: tuple[Assign, ...]
    streams: tuple[Stream, ...]
    places: Mapping[Element, tuple[int, int]]
    repeatable: bool


@dataclass(frozen=True, slots=True)
class Types:
    """The ``arrays`` of a call with their types; ``private`` temporaries are not among what vectors hold."""

    arrays: Mapping[str, ArrayType]
    private: frozenset[str]


def row_block(
    scop: Scop, loop: For, bodies: Mapping[str, Sequence[Instruction]], types: Types
) -> RowBlock | str:
    """``loop`` as a row block; else, why it is none."""
    columns = only(loop.body)
    instance = only(columns.body) if isinstance(columns, For) and columns.vector else None
    if not isinstance(columns, For) or not isinstance(instance, Instance):
        return "they hold more than a vector loop over one statement"
    if columns.step != 1 or loop.step != 1 or _is_mentioned(loop.iterator, columns):
        return "they do not all have the same columns"
    statement = scop.statement(instance.statement)
    body = placed_body(statement, bodies[instance.statement], instance.arguments)
    if len(body) != 1 or not isinstance(body[0], Assign):
        return f"{statement.name} is more than one assignment"
    updates = tuple(written_out(in_row(body[0], loop.iterator, number)) for number in range(loop.jam))
    target = updates[0].target
    known = types.arrays.get(target.array)
    dtype = known.dtype if known is not None else ""
    if dtype not in VECTOR_DTYPES:
        return f"{target.array} does not hold {' or '.join(VECTOR_DTYPES)}"
    if not is_along(target, columns.iterator) or not is_plain(target, types):
        return f"the cells of {target.array} do not lie side by side in memory"
    if not is_vector(updates[0].value, dtype, columns.iterator, types):
        return f"not all that {statement.name} computes are {dtype} values side by side in memory"
    streams, places = _streams(updates, columns.iterator)
    read = {element.array for element in elements_of(updates[0].value)}
    return RowBlock(loop, columns, statement, dtype, updates, streams, places, target.array not in read)


def _is_mentioned(iterator: str, loop: For) -> bool:
    return any(part == Name(iterator) for bound in (loop.start, loop.stop) for part in walk(bound))


def only(node: LoopNode) -> LoopNode:
    """What is left of blocks that hold one node and declare nothing."""
    while isinstance(node, Block) and len(node.children) == 1 and not node.declares:
        node = node.children[0]
    return node


def in_row(assign: Assign, iterator: str, number: int) -> Assign:
    """``assign`` so many rows further."""
    row = Binary("+", Name(iterator), Constant(number))
    moved = simplify_subscripts(substitute(assign, {iterator: row}))
    assert isinstance(moved, Assign)
    return moved


def written_out(assign: Assign) -> Assign:
    """``assign`` with its operator written out, and with the numbers that vectors are made of."""
    numbered = _with_floats(assign.assigned)
    assert isinstance(numbered, Expression)
    return Assign(assign.target, numbered)


def _with_floats(node: Node) -> Node:
    """``node`` with whole numbers outside subscripts as floating-point numbers, which is what they become."""
    match node:
        case Element():
            return node
        case Constant(int(value)) if not isinstance(value, bool) and abs(value) < 2**53:
            return Constant(float(value))
    return rebuild(node, _with_floats)


def is_computed(
    node: Expression, dtype: str, column: str, types: Types, sum_in: Element | None = None
) -> bool:
    """Whether vectors compute ``node`` as its elements are computed one by one; ``sum_in`` is in one already."""
    environment = Environment({name: found.dtype for name, found in types.arrays.items()})
    match node:
        case Element():
            if node == sum_in:
                return True
            known = types.arrays.get(node.array)
            fits = known is not None and known.dtype == dtype and is_plain(node, types)
            return fits and (is_along(node, column) or _is_fixed(node, column))
        case Constant(float()):
            return infer(node, environment).name == dtype
        case Unary("-", operand):
            return is_computed(operand, dtype, column, types, sum_in)
        case Binary(operator, left, right) if operator in _OPERATORS:
            return all(is_computed(part, dtype, column, types, sum_in) for part in (left, right))
    return False


def is_vector(value: Expression, dtype: str, column: str, types: Types) -> bool:
    """Whether vectors compute ``value``, and it is one: what all columns have in common is a number."""
    moves = any(is_along(element, column) for element in elements_of(value))
    return moves and is_computed(value, dtype, column, types)


def is_plain(element: Element, types: Types) -> bool:
    """Whether ``element`` is where its subscripts say, in an array without gaps."""
    kind = types.arrays[element.array]
    return (
        element.affine
        and element.array not in types.private
        and (not element.subscripts or kind.layout == "C")
    )


def is_along(element: Element, column: str) -> bool:
    """Whether the next column has the next element in memory."""
    terms = [linear_terms(subscript) for subscript in element.subscripts]
    factors = [None if found is None else found.get(column, 0) for found in terms]
    return bool(factors) and factors[-1] == 1 and not any(found != 0 for found in factors[:-1])


def _is_fixed(element: Element, column: str) -> bool:
    """Whether all columns have the same element."""
    return not any(part == Name(column) for subscript in element.subscripts for part in walk(subscript))


def elements_of(value: Expression) -> Iterator[Element]:
    """The elements that ``value`` reads."""
    return (part for part in walk(value) if isinstance(part, Element))


def _streams(
    updates: Sequence[Assign], column: str
) -> tuple[tuple[Stream, ...], dict[Element, tuple[int, int]]]:
    """The streams that ``updates`` read, and the stream and the offset of each element in them."""
    found: dict[Element, dict[Element, int]] = {}
    for update in updates:
        for element in elements_of(update.value):
            if is_along(element, column):
                line, offset = line_and_offset(element)
                found.setdefault(line, {})[element] = offset
    streams, places = [], {}
    for number, (line, elements) in enumerate(found.items()):
        least = min(elements.values())
        offsets = tuple(sorted({offset - least for offset in elements.values()}))
        streams.append(Stream(moved_along(line, least), offsets))
        places.update({element: (number, offset - least) for element, offset in elements.items()})
    return tuple(streams), places


def line_and_offset(element: Element) -> tuple[Element, int]:
    """``element`` without the constant of its last subscript, and that constant."""
    terms = linear_terms(element.subscripts[-1]) or {}
    rest = {name: value for name, value in terms.items() if name}
    return replace(element, subscripts=(*element.subscripts[:-1], written(rest))), terms.get("", 0)


def moved_along(element: Element, distance: int) -> Element:
    """The element so many places further along memory."""
    terms = dict(linear_terms(element.subscripts[-1]) or {})
    terms[""] = terms.get("", 0) + distance
    return replace(element, subscripts=(*element.subscripts[:-1], written(terms)))
