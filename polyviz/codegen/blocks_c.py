"""Blocks of register tiles in C: packing, the loops over tiles, edges, and the plain loops where there is no memory."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING

import islpy as isl

from polyviz.codegen.block_shape import COORDINATE_PREFIX, BlockShape, Range, block_shape
from polyviz.codegen.bodies import bound_expression
from polyviz.codegen.dtypes import C_TYPE_NAMES
from polyviz.codegen.index import simplify_subscripts, simplified, written
from polyviz.codegen.loops import LoopNode
from polyviz.codegen.naming import inline_single_iterations, name_loops, substituted
from polyviz.codegen.register_tile_c import (
    TileSize,
    refusal,
    tile_function,
    tile_size,
    vector_types,
)
from polyviz.codegen.scan import scan_schedule
from polyviz.model.expression import Binary, Call, Constant, Expression, Name, substitute, walk
from polyviz.model.plan import COLUMNS, ROWS, VECTOR

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from polyviz.codegen.arrays_c import ArrayPrinter
    from polyviz.codegen.expressions_c import CExpressionPrinter
    from polyviz.codegen.index import Terms
    from polyviz.codegen.text import TextBuilder
    from polyviz.model.plan import Plan, RegisterTile
    from polyviz.model.program import ArrayType
    from polyviz.model.scop import Scop, Statement

SMALLEST_PACKED_WORK = 20_000
"""Statement instances of a nest below which copying its operands costs more than it gives."""
_ALIGNMENT = 64


@dataclass(frozen=True, slots=True)
class Operand:
    """A packed operand: the value, its buffer, and whether it belongs to the rows."""

    value: Expression
    buffer: str
    is_row: bool


@dataclass(frozen=True, slots=True)
class BlockText:
    """What stays the same for every block of one register tile: its size, shape, operands and names."""

    tile: RegisterTile
    statement: Statement
    dtype: str
    size: TileSize
    shape: BlockShape
    function: str
    operands: tuple[Operand, ...]

    @property
    def kind(self) -> str:
        """The C type of the cells."""
        return C_TYPE_NAMES[self.dtype]

    def iterator(self, position: int) -> str:
        """The name of an iterator of the statement."""
        return self.statement.iterators[position]

    def panel(self, operand: Operand) -> int:
        """How many values of ``operand`` one step of a tile reads."""
        return self.size.rows if operand.is_row else self.size.columns

    def capacity(self, operand: Operand) -> int:
        """Elements of the buffer of ``operand``."""
        extent = self.tile.sizes[0 if operand.is_row else 1]
        panel = self.panel(operand)
        return -(-extent // panel) * panel * self.tile.sizes[2]

    def is_shared(self, operand: Operand) -> bool:
        """Whether the packed operand serves all blocks of the innermost loop."""
        return self.tile.shared_rows if operand.is_row else self.tile.shared_columns


class BlockPrinter:
    """Prints the blocks of a plan's register tiles; ``blocks`` holds those that the types allow, by mark.

    ``notes`` says why others are left out. ``print_loops`` prints loop IR at an indentation.
    """

    def __init__(
        self,
        scop: Scop,
        plan: Plan,
        types: Mapping[str, ArrayType],
        arrays: ArrayPrinter,
        printer: CExpressionPrinter,
        text: TextBuilder,
        print_loops: Callable[[LoopNode, int], None],
    ) -> None:
        self.scop = scop
        self.types = types
        self.arrays = arrays
        self.printer = printer
        self.text = text
        self.print_loops = print_loops
        self.notes: list[str] = []
        self.blocks: dict[str, BlockText] = {}
        for tile in plan.register_tiles:
            reason = refusal(tile, types, printer.environment)
            if reason is None:
                self.blocks[tile.mark] = self._block(tile)
            else:
                self.notes.append(f"{tile.statement} runs without tiles in registers: {reason}.")

    def _block(self, tile: RegisterTile) -> BlockText:
        statement = self.scop.statement(tile.statement)
        dtype = self.types[tile.operands.target.array].dtype
        added = self.arrays.added
        parts = [(value, True) for value in tile.operands.rows] + [(value, False) for value in tile.operands.columns]
        counts = {True: 0, False: 0}
        operands = []
        for value, is_row in parts:
            stem = f"{tile.statement}_{ROWS if is_row else COLUMNS}{counts[is_row]}"
            counts[is_row] += 1
            operands.append(Operand(value, added(stem), is_row))
        return BlockText(
            tile,
            statement,
            dtype,
            tile_size(tile, dtype),
            block_shape(self.scop, statement, tile),
            added(f"update_{tile.statement}"),
            tuple(operands),
        )

    def functions(self) -> list[str]:
        """The types and functions that stand before the kernel."""
        lines: dict[str, None] = {}
        for block in self.blocks.values():
            lines.update(dict.fromkeys(vector_types(block.dtype, block.tile)))
        result = list(lines)
        for block in self.blocks.values():
            result += ["", *tile_function(block.tile, block.statement, block.dtype, block.function)]
        return result

    def allocate(self, marks: Sequence[str], indent: int) -> None:
        """Buffers for the blocks ``marks``, for one thread; none for little work."""
        for block in map(self.blocks.__getitem__, marks):
            work = [bound_expression(extent) for extent in block.tile.extents]
            size = self._index(reduce(lambda left, right: Binary("*", left, right), work))
            for operand in block.operands:
                self._line(
                    indent,
                    f"{block.kind} *restrict {operand.buffer} = {size} > {SMALLEST_PACKED_WORK} "
                    f"? aligned_alloc({_ALIGNMENT}, sizeof({block.kind}[{block.capacity(operand)}])) : NULL;",
                )

    def release(self, marks: Sequence[str], indent: int) -> None:
        """Give the buffers back."""
        for block in map(self.blocks.__getitem__, marks):
            for operand in block.operands:
                self._line(indent, f"free({operand.buffer});")

    def block(self, mark: str, arguments: Sequence[Expression], indent: int, *, shared: bool) -> None:
        """One block at the coordinates ``arguments``; operands that it shares are packed already when ``shared``."""
        _BlockPrinting(self, self.blocks[mark], arguments).write(indent, shared=shared)

    def pack_shared(self, mark: str, arguments: Sequence[Expression], loop: tuple[Expression, Expression], indent: int) -> bool:
        """Pack what all blocks of the innermost loop around them share, before that loop; False where nothing is."""
        block = self.blocks[mark]
        operands = [operand for operand in block.operands if block.is_shared(operand)]
        if not operands:
            return False
        start, stop = map(self._index, loop)
        buffers = " && ".join(operand.buffer for operand in block.operands)
        self._line(indent, f"if ({buffers} && {start} < {stop}) {{")
        _BlockPrinting(self, block, arguments).pack(operands, indent + 1)
        self._line(indent, "}")
        return True

    def _index(self, node: Expression) -> str:
        return self.printer.expression(node)

    def _line(self, indent: int, line: str) -> None:
        self.text.add(indent, line)


class _BlockPrinting:
    """The text of one block; ``arguments`` are the values of its coordinates."""

    def __init__(self, parent: BlockPrinter, block: BlockText, arguments: Sequence[Expression]) -> None:
        self.parent = parent
        self.block = block
        self.coordinates: dict[str, Expression] = {
            f"{COORDINATE_PREFIX}{position}": argument for position, argument in enumerate(arguments)
        }
        tile = block.tile
        used = {name for argument in arguments for name in _names(argument)}
        self.names: dict[str, Expression] = {
            name: Name(_unused(name, used | parent.arrays.taken - {name}))
            for name in map(block.iterator, (tile.row, tile.column, tile.depth))
        }
        self.row, self.column, self.depth = (
            self._text(Name(block.iterator(position))) for position in (tile.row, tile.column, tile.depth)
        )

    def write(self, indent: int, *, shared: bool) -> None:
        """The whole block: packed where there are buffers, plain loops where not."""
        block = self.block
        missing = [operand for operand in block.operands if not (shared and block.is_shared(operand))]
        buffers = " && ".join(operand.buffer for operand in block.operands)
        self._line(indent, f"if ({buffers}) {{")
        self.pack(missing, indent + 1)
        if len(missing) < len(block.operands):
            self._bounds([self.row, self.column], indent + 1, skip=self._bounded(missing))
        self._tiles(indent + 1)
        self._line(indent, "} else {")
        self._plain(self.block.shape.domain, indent + 1)
        self._line(indent, "}")

    def _bounded(self, operands: Sequence[Operand]) -> set[str]:
        return {self.row if operand.is_row else self.column for operand in operands}

    def pack(self, operands: Sequence[Operand], indent: int) -> None:
        """Copy ``operands`` into their buffers, declaring the bounds of the loops they move in."""
        self._bounds([self.depth, *sorted(self._bounded(operands))], indent)
        for operand in operands:
            self._pack(operand, indent)

    def _bounds(self, names: Sequence[str], indent: int, skip: Collection[str] = ()) -> None:
        shape = self.block.shape
        ranges = {self.row: shape.row, self.column: shape.column, self.depth: shape.depth}
        for name in names:
            if name not in skip:
                start, stop = self._range(ranges[name])
                self._line(indent, f"const int64_t {name}_start = {start}, {name}_stop = {stop};")

    def _range(self, bounds: Range) -> tuple[str, str]:
        return self._text(bounds.start), self._text(bounds.stop)

    def _pack(self, operand: Operand, indent: int) -> None:
        """Panels of a tile's rows or columns, one step of the sum after the other."""
        block = self.block
        name = self.row if operand.is_row else self.column
        panel = block.panel(operand)
        guard = block.shape.row_guard if operand.is_row else block.shape.column_guard
        source = f"{block.kind} *restrict next_{operand.buffer} = {operand.buffer};"
        self._line(indent, source)
        first = f"{name}_panel"
        self._line(indent, f"for (int64_t {first} = {name}_start; {first} < {name}_stop; {first} += {panel}) {{")
        value = self._value(operand.value)
        if guard is not None:
            value = f"{self._text(guard)} ? {value} : 0"
        self._line(indent + 1, f"if ({first} + {panel} <= {name}_stop) {{")
        self._copy(operand, indent + 2, name, f"{first} + {panel}", value)
        self._line(indent + 1, "} else {")
        self._copy(operand, indent + 2, name, f"{name}_stop", value)
        self._line(indent + 1, "}")
        self._line(indent, "}")

    def _copy(self, operand: Operand, indent: int, name: str, stop: str, value: str) -> None:
        """One panel, its rows or columns from ``stop`` on filled with zeros."""
        first, step, last = f"{name}_panel", self.depth, self.block.panel(operand)
        full = stop == f"{first} + {last}"
        opening = "" if full else " {"
        self._line(
            indent, f"for (int64_t {step} = {step}_start; {step} < {step}_stop; {step}++){opening}"
        )
        self._line(indent + 1, f"for (int64_t {name} = {first}; {name} < {stop}; {name}++)")
        self.parent.text.add(indent + 2, f"*next_{operand.buffer}++ = {value};", self.block.statement)
        if full:
            return
        self._line(indent + 1, f"for (int64_t {name} = {stop}; {name} < {first} + {last}; {name}++)")
        self._line(indent + 2, f"*next_{operand.buffer}++ = 0;")
        self._line(indent, "}")

    def _tiles(self, indent: int) -> None:
        block, row, column = self.block, self.row, self.column
        size = block.size
        self._line(indent, f"const int64_t {self.depth}_count = {self.depth}_stop - {self.depth}_start;")
        for name, step in ((column, size.columns), (row, size.rows)):
            self._line(
                indent,
                f"for (int64_t {name}_first = {name}_start; {name}_first < {name}_stop; {name}_first += {step}) {{",
            )
            indent += 1
            self.parent.printer.helpers.add("min_i64")
            self._line(indent, f"const int64_t {name}_last = min_i64({name}_first + {step}, {name}_stop) - 1;")
        self._tile(indent)
        self._line(indent - 1, "}")
        self._line(indent - 2, "}")

    def _tile(self, indent: int) -> None:
        shape = self.block.shape
        if shape.masks:
            reached = [self._corner(mask, best=True) for mask in shape.masks]
            self._line(indent, f"if ({' || '.join(f'{text} < 0' for text in reached)})")
            self._line(indent + 1, "continue;")
        if shape.cuts:
            self._cut(indent)
            return
        self._update(indent, f"{self.depth}_count", "")

    def _cut(self, indent: int) -> None:
        """The steps that all cells of the tile share, between those of single cells."""
        lower, upper = [], []
        depth = self.block.iterator(self.block.tile.depth)
        for cut in self.block.shape.cuts:
            rest = {name: value for name, value in cut.items() if name != depth}
            worst = self._corner_terms(rest, best=False)
            factor = cut[depth]
            bound = simplified(self._placed(_bound(worst, factor)))
            (lower if factor > 0 else upper).append(bound)
        first, end = f"{self.depth}_first", f"{self.depth}_end"
        low = reduce(lambda left, right: Call("max", (left, right)), lower, Name(f"{self.depth}_start"))
        high = reduce(lambda left, right: Call("min", (left, right)), upper, Name(f"{self.depth}_stop"))
        stop = Name(f"{self.depth}_stop")
        low = Call("min", (low, stop)) if lower else low
        high = Call("max", (Call("min", (high, stop)), Name(first)))
        self._line(indent, f"const int64_t {first} = {self.parent._index(low)};")
        self._line(indent, f"const int64_t {end} = {self.parent._index(high)};")
        if lower:
            self._remainder(indent, lambda space: _beyond(space, self._depth_position, below=True))
        self._line(indent, f"if ({first} < {end}) {{")
        self._update(indent + 1, f"{end} - {first}", f"({first} - {self.depth}_start)")
        self._line(indent, "}")
        self._remainder(indent, lambda space: _beyond(space, self._depth_position, below=False))

    @property
    def _depth_position(self) -> int:
        return self.block.tile.depth

    def _update(self, indent: int, count: str, offset: str) -> None:
        """One call for whole tiles, one by way of a buffer for tiles at an edge."""
        block = self.block
        arguments = [count]
        for operand in block.operands:
            panel = block.panel(operand)
            name = self.row if operand.is_row else self.column
            shift = f" + {panel} * {offset}" if offset else ""
            arguments.append(
                f"{operand.buffer} + ({name}_first - {name}_start) * {self.depth}_count{shift}"
            )
        arguments += [self._value(value) for value in block.tile.operands.scalars]
        whole = self._whole()
        if whole is not None:
            cell = self._cell(f"{self.row}_first", f"{self.column}_first")
            below = self._cell(f"{self.row}_first + 1", f"{self.column}_first")
            self._line(indent, f"if ({whole}) {{")
            self._call(indent + 1, [*arguments, f"&{cell}", f"&{below} - &{cell}"])
            self._line(indent, "} else {")
            indent += 1
        self._edge(indent, arguments)
        if whole is not None:
            self._line(indent - 1, "}")

    def _call(self, indent: int, arguments: Sequence[str]) -> None:
        call = f"{self.block.function}({', '.join(arguments)});"
        self.parent.text.add(indent, call, self.block.statement)

    def _whole(self) -> str | None:
        """When every cell of the tile is updated and lies where vectors can be loaded."""
        block = self.block
        if self.parent.types[block.tile.operands.target.array].layout != "C":
            return None
        tests = [
            f"{self.row}_last - {self.row}_first == {block.size.rows - 1}",
            f"{self.column}_last - {self.column}_first == {block.size.columns - 1}",
            *(f"{self._corner(mask, best=False)} >= 0" for mask in block.shape.masks),
        ]
        return " && ".join(tests)

    def _edge(self, indent: int, arguments: Sequence[str]) -> None:
        block, size = self.block, self.block.size
        self._line(
            indent,
            f"{block.kind} edge[{size.rows}][{size.columns}] __attribute__((aligned({_ALIGNMENT}))) = {{{{0}}}};",
        )
        inside = " && ".join(f"{self._terms(mask)} >= 0" for mask in block.shape.masks)
        edge = f"edge[{self.row} - {self.row}_first][{self.column} - {self.column}_first]"
        cell = self._cell(self.row, self.column)
        self._cells(indent, inside, f"{edge} = {cell};")
        self._call(indent, [*arguments, "&edge[0][0]", str(size.columns)])
        self._cells(indent, inside, f"{cell} = {edge};")

    def _cells(self, indent: int, condition: str, line: str) -> None:
        for name in (self.row, self.column):
            self._line(indent, f"for (int64_t {name} = {name}_first; {name} <= {name}_last; {name}++)")
            indent += 1
        if condition:
            self._line(indent, f"if ({condition})")
            indent += 1
        self.parent.text.add(indent, line, self.block.statement)

    def _remainder(self, indent: int, part: Callable[[isl.Set], isl.Set]) -> None:
        """The instances of this tile in ``part`` of the block, one by one."""
        self._plain(part(_inside_tile(self.block, self.block.shape.domain)), indent)

    def _plain(self, domain: isl.Set, indent: int) -> None:
        """Ordinary loops over the instances in ``domain``."""
        block, tile = self.block, self.block.tile
        tree = _plain_tree(domain, (tile.row, tile.depth, tile.column), vector=tile.parallel_columns)
        context = domain.params()
        loops = inline_single_iterations(scan_schedule(tree, context))
        values = {
            **self.coordinates,
            **{f"{COORDINATE_PREFIX}_{name}": Name(name) for name in self._tile_names()},
        }
        loops = substituted(loops, values)
        taken = self.parent.arrays.taken | {name for value in values.values() for name in _names(value)}
        named = name_loops(loops, {block.statement.name: block.statement.iterators}, taken)
        self.parent.print_loops(named, indent)

    def _tile_names(self) -> list[str]:
        bounds = [f"{name}_{end}" for name in (self.row, self.column) for end in ("first", "last")]
        return [*bounds, f"{self.depth}_first", f"{self.depth}_end"]

    def _value(self, value: Expression) -> str:
        """An operand at the loops of the block."""
        self.parent.arrays.enter(self.block.statement)
        return self._text(value)

    def _cell(self, row: str, column: str) -> str:
        tile, statement = self.block.tile, self.block.statement
        names: dict[str, Expression] = {
            **{name: self._placed(value) for name, value in self.block.shape.outer.items()},
            statement.iterators[tile.row]: Name(row),
            statement.iterators[tile.column]: Name(column),
        }
        self.parent.arrays.enter(statement)
        target = simplify_subscripts(substitute(tile.operands.target, names))
        assert isinstance(target, Expression)
        return self.parent.printer.expression(target)

    def _corner(self, terms: Terms, *, best: bool) -> str:
        return self.parent._index(simplified(self._placed(written(self._corner_terms(terms, best=best)))))

    def _corner_terms(self, terms: Terms, *, best: bool) -> Terms:
        """``terms`` at the corner of the tile where they are largest (``best``) or smallest."""
        tile, result = self.block.tile, dict(terms)
        for position, text in ((tile.row, self.row), (tile.column, self.column)):
            value = result.pop(self.block.iterator(position), 0)
            if value:
                result[f"{text}_{'last' if (value > 0) == best else 'first'}"] = value
        return result

    def _terms(self, terms: Terms) -> str:
        return self._text(written(terms))

    def _placed(self, expression: Expression) -> Expression:
        """``expression`` with coordinates and iterators replaced by what they are called here."""
        outer = {
            name: _expression(substitute(value, self.coordinates))
            for name, value in self.block.shape.outer.items()
        }
        return _expression(substitute(expression, {**self.coordinates, **outer, **self.names}))

    def _text(self, expression: Expression) -> str:
        placed = simplify_subscripts(self._placed(expression))
        return self.parent._index(_expression(placed))

    def _line(self, indent: int, line: str) -> None:
        self.parent.text.add(indent, line)


def _bound(rest: Terms, factor: int) -> Expression:
    """From ``factor * k + rest >= 0``: the first ``k`` (positive factor) or the one after the last."""
    if factor == 1:
        return written({name: -value for name, value in rest.items()})
    if factor == -1:
        return written({**rest, "": rest.get("", 0) + 1})
    quotient = Binary("//", written(rest), Constant(abs(factor)))
    return Binary("+", quotient, Constant(1)) if factor < 0 else Binary("-", Constant(0), quotient)


def _inside_tile(block: BlockText, domain: isl.Set) -> isl.Set:
    """The instances in one register tile, its first and last row and column as parameters."""
    for position in (block.tile.row, block.tile.column):
        name = block.iterator(position)
        for end, sign in (("first", 1), ("last", -1)):
            domain = _limited(domain, position, f"{COORDINATE_PREFIX}_{name}_{end}", sign)
    return domain


def _beyond(domain: isl.Set, position: int, *, below: bool) -> isl.Set:
    """The instances before (or from) the bound of the steps that the whole tile shares."""
    name = domain.get_dim_name(isl.dim_type.set, position)
    if below:
        return _limited(domain, position, f"{COORDINATE_PREFIX}_{name}_first", -1, offset=-1)
    return _limited(domain, position, f"{COORDINATE_PREFIX}_{name}_end", 1)


def _limited(domain: isl.Set, position: int, parameter: str, sign: int, offset: int = 0) -> isl.Set:
    """``sign * (iterator - parameter) + offset >= 0``."""
    count = domain.dim(isl.dim_type.param)
    domain = domain.add_dims(isl.dim_type.param, 1).set_dim_name(isl.dim_type.param, count, parameter)
    constraint = isl.Constraint.inequality_alloc(isl.LocalSpace.from_space(domain.get_space()))
    constraint = constraint.set_coefficient_val(isl.dim_type.set, position, isl.Val(sign))
    constraint = constraint.set_coefficient_val(isl.dim_type.param, count, isl.Val(-sign))
    return domain.add_constraint(constraint.set_constant_val(isl.Val(offset)))


def _plain_tree(domain: isl.Set, order: Sequence[int], *, vector: bool) -> isl.Schedule:
    """Loops over the iterators in ``order``, those that are not in it around them."""
    count = domain.dim(isl.dim_type.set)
    outer = [position for position in range(count) if position not in order]
    tree = isl.Schedule.from_domain(isl.UnionSet.from_set(domain))
    for level, position in enumerate(reversed([*outer, *order])):
        local = isl.LocalSpace.from_space(domain.get_space())
        row = isl.PwAff.from_aff(isl.Aff.var_on_domain(local, isl.dim_type.set, position))
        partial = isl.MultiUnionPwAff.from_union_pw_aff(isl.UnionPwAff.from_pw_aff(row))
        tree = tree.insert_partial_schedule(partial)
        if level == 0 and vector:
            tree = tree.get_root().child(0).insert_mark(isl.Id(VECTOR)).get_schedule()
    return tree


def _names(expression: Expression) -> set[str]:
    return {part.name for part in walk(expression) if isinstance(part, Name)}


def _unused(name: str, taken: set[str] | frozenset[str]) -> str:
    while name in taken:
        name += "_"
    return name


def _expression(node: object) -> Expression:
    assert isinstance(node, Expression)
    return node
