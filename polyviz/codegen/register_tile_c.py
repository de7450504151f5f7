"""The function that updates one register tile: cells in vector registers while the sum runs over packed operands."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from polyviz.codegen.dtypes import C_TYPE_NAMES
from polyviz.codegen.expressions_c import CExpressionPrinter
from polyviz.codegen.typing import Environment, infer
from polyviz.model.expression import Binary, Element, Expression, Name, walk
from polyviz.model.plan import COLUMNS, ROWS, SCALARS, SUM

if TYPE_CHECKING:
    from collections.abc import Mapping

    from polyviz.model.plan import RegisterTile
    from polyviz.model.program import ArrayType
    from polyviz.model.scop import Statement

_VECTOR_DTYPES = ("float64", "float32")
_MOST_ROWS = 8


@dataclass(frozen=True, slots=True)
class TileSize:
    """A register tile: ``rows`` times ``vectors`` registers of ``lanes`` elements each."""

    rows: int
    vectors: int
    lanes: int

    @property
    def columns(self) -> int:
        """Cells in one row of the tile."""
        return self.vectors * self.lanes


def tile_size(tile: RegisterTile, dtype: str) -> TileSize:
    """The largest tile whose sums fit the registers together with one step's operands."""
    registers = tile.processor.vector_registers
    lanes = tile.processor.lanes(_bytes(dtype))
    vectors = 3 if registers >= 32 else 2
    operands = vectors * len(tile.operands.columns) + len(tile.operands.rows)
    rows = (registers - operands) // vectors
    return TileSize(max(1, min(rows, _MOST_ROWS)), vectors, lanes)


def _bytes(dtype: str) -> int:
    return 8 if dtype == "float64" else 4


def refusal(tile: RegisterTile, types: Mapping[str, ArrayType], environment: Environment) -> str | None:
    """Why the types of this call rule the register tile out; None when they do not."""
    operands = tile.operands
    dtype = types[operands.target.array].dtype
    if dtype not in _VECTOR_DTYPES:
        return f"{operands.target.array} holds {dtype}, not floating point numbers"
    values = (*operands.rows, *operands.columns, *operands.scalars)
    parts = [part for part in walk(operands.update) if isinstance(part, Expression)]
    here = Environment({name: dtype for name in operand_names(tile)})
    found = [infer(value, environment) for value in values] + [infer(part, here) for part in parts]
    other = next((scalar.name for scalar in found if scalar.name != dtype), None)
    return None if other is None else f"{other} and {dtype} meet in one value"


def operand_names(tile: RegisterTile) -> list[str]:
    """The names that stand for operands in the update."""
    operands = tile.operands
    counted = ((ROWS, operands.rows), (COLUMNS, operands.columns), (SCALARS, operands.scalars))
    return [SUM, *(f"{stem}{number}" for stem, parts in counted for number in range(len(parts)))]


def vector_types(dtype: str, tile: RegisterTile) -> list[str]:
    """The vector type of ``dtype``, aligned for packed operands and loose for rows of an array."""
    kind, size = C_TYPE_NAMES[dtype], tile.processor.vector_bytes
    return [
        f"typedef {kind} vector_{dtype} __attribute__((vector_size({size}), may_alias));",
        f"typedef {kind} loose_{dtype} "
        f"__attribute__((vector_size({size}), aligned({_bytes(dtype)}), may_alias));",
    ]


def tile_function(tile: RegisterTile, statement: Statement, dtype: str, name: str) -> list[str]:
    """The C text of the function called ``name``: packed operands, scalars, cells and the stride of their rows."""
    size = tile_size(tile, dtype)
    kind, vector = C_TYPE_NAMES[dtype], f"vector_{dtype}"
    rows, columns = [f"{ROWS}{n}" for n in range(len(tile.operands.rows))], _columns(tile)
    packed = "".join(f"const {kind} *restrict packed_{part}, " for part in (*rows, *columns))
    scalars = "".join(f"const {kind} {SCALARS}{n}, " for n in range(len(tile.operands.scalars)))
    cell = f"cells + {{r}} * stride + {size.lanes} * {{c}}".format(r="r", c="c")
    source = " ".join(statement.source.split())
    every = f"for (int r = 0; r < {size.rows}; r++)", f"for (int c = 0; c < {size.vectors}; c++)"
    return [
        f"/* A tile of {size.rows} x {size.columns} cells of {tile.operands.target.array}, "
        f"kept in {size.rows * size.vectors} vector registers while it adds up. */",
        f"static void {name}(int64_t count, {packed}{scalars}{kind} *restrict cells, int64_t stride)",
        "{",
        f"    {vector} sum[{size.rows}][{size.vectors}];",
        f"    {every[0]}",
        f"        {every[1]}",
        f"            sum[r][c] = *(const loose_{dtype} *)({cell});",
        "    for (int64_t k = 0; k < count; k++) {",
        *(
            f"        const {vector} *{part} = (const {vector} *)packed_{part} + {size.vectors} * k;"
            for part in columns
        ),
        f"        #pragma GCC unroll {size.rows}",
        f"        {every[0]} {{",
        *(f"            const {kind} {part} = packed_{part}[{size.rows} * k + r];" for part in rows),
        f"            #pragma GCC unroll {size.vectors}",
        f"            {every[1]}",
        f"                {_update(tile, dtype)}  // line {statement.span.line}: {source}",
        "        }",
        "    }",
        f"    {every[0]}",
        f"        {every[1]}",
        f"            *(loose_{dtype} *)({cell}) = sum[r][c];",
        "}",
    ]


def _columns(tile: RegisterTile) -> list[str]:
    return [f"{COLUMNS}{number}" for number in range(len(tile.operands.columns))]


def _update(tile: RegisterTile, dtype: str) -> str:
    names = {SUM: "sum[r][c]", **{part: f"{part}[c]" for part in _columns(tile)}}
    types = {name: dtype for name in operand_names(tile)}
    printer = CExpressionPrinter(types, names, _no_element)
    match tile.operands.update:
        case Binary("+" | "-" as operator, Name(name), value) if name == SUM:
            return f"sum[r][c] {operator}= {printer.expression(value)};"
    return f"sum[r][c] = {printer.expression(tile.operands.update)};"


def _no_element(element: Element, printer: CExpressionPrinter) -> str:
    raise AssertionError(f"{element.array} is no operand")


