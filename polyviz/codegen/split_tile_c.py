"""The function that updates one register tile of complex cells: real and imaginary parts in vectors of their own.

Side by side in memory, the two parts of a number would have to change places for every product. Operands are packed
apart already; the cells are taken apart when a tile begins, and put together when its sum is done.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from polyviz.codegen.dtypes import C_TYPE_NAMES
from polyviz.codegen.register_tiles import named_operands, part_type, reads_ahead
from polyviz.model.expression import Binary, Name
from polyviz.model.plan import COLUMNS, ROWS, SCALARS

if TYPE_CHECKING:
    from polyviz.codegen.register_tile_c import TileSize
    from polyviz.codegen.text import TextBuilder
    from polyviz.model.expression import Expression
    from polyviz.model.plan import RegisterTile
    from polyviz.model.scop import Statement

Parts = tuple[str, str]
"""The texts of a real and an imaginary part."""
_SUMS = ("sum[r][c]", "imaginary[r][c]")


def print_split_tile(
    tile: RegisterTile,
    statement: Statement,
    dtype: str,
    size: TileSize,
    name: str,
    text: TextBuilder,
    *,
    fused: bool,
) -> None:
    """The function called ``name``: it takes packed operands, the cells and the stride of their rows.

    ``fused``: the two products of a part may be added one after the other, in half as many instructions.
    """
    kind, part = C_TYPE_NAMES[dtype], part_type(dtype)
    number = C_TYPE_NAMES[part]
    text.add(0, f"/* A tile of {size.rows} x {size.columns} cells of {tile.operands.target.array}, kept in")
    text.add(0, f"   {2 * size.rows * size.vectors} vector registers: half of them hold imaginary parts. */")
    text.add(0, f"static void {name}(")
    for parameter in _parameters(tile, kind, number, ahead=reads_ahead(tile) and not size.beside):
        text.add(1, f"{parameter},")
    text.add(1, f"{kind} *restrict cells, int64_t stride)")
    text.add(0, "{")
    for scalar in named_operands(tile, SCALARS):
        text.add(1, f"const {number} {scalar}_real = __real__ {scalar}, {scalar}_imaginary = __imag__ {scalar};")
    text.add(1, f"vector_{part} sum[{size.rows}][{size.vectors}], imaginary[{size.rows}][{size.vectors}];")
    _print_cells(size, part, text, store=False)
    text.add(1, "for (int64_t k = 0; k < count; k++) {")
    _print_step(tile, statement, part, size, text, fused=fused)
    text.add(1, "}")
    _print_cells(size, part, text, store=True)
    text.add(0, "}")


def _parameters(tile: RegisterTile, kind: str, number: str, *, ahead: bool) -> list[str]:
    rows, columns = named_operands(tile, ROWS), named_operands(tile, COLUMNS)
    soon = [f"const {number} *ahead_{name}" for name in columns] if ahead else []
    packed = [f"const {number} *restrict packed_{name}" for name in (*rows, *columns)]
    scalars = [f"const {kind} {name}" for name in named_operands(tile, SCALARS)]
    return ["int64_t count", *packed, *soon, *scalars]


def _print_cells(size: TileSize, part: str, text: TextBuilder, *, store: bool) -> None:
    """The cells taken apart, or put together, row by row."""
    number = C_TYPE_NAMES[part]
    text.add(1, f"#pragma GCC unroll {size.rows}")
    text.add(1, f"for (int r = 0; r < {size.rows}; r++) {{")
    text.add(2, f"{number} parts[2][{size.columns}] __attribute__((aligned(64)));")
    pointer = f"{number} *" if store else f"const {number} *"
    text.add(2, f"{pointer}cell = ({pointer})(cells + r * stride);")
    moves = [
        (f"*(vector_{part} *)&parts[{one}][{size.lanes} * c]", sums) for one, sums in enumerate(_SUMS)
    ]
    if store:
        _print_moves(size, text, moves)
    text.add(2, f"for (int j = 0; j < {size.columns}; j++) {{")
    for one in range(2):
        sides = (f"parts[{one}][j]", f"cell[2 * j + {one}]" if one else "cell[2 * j]")
        target, source = reversed(sides) if store else sides
        text.add(3, f"{target} = {source};")
    text.add(2, "}")
    if not store:
        _print_moves(size, text, [(sums, place) for place, sums in moves])
    text.add(1, "}")


def _print_moves(size: TileSize, text: TextBuilder, moves: list[Parts]) -> None:
    text.add(2, f"#pragma GCC unroll {size.vectors}")
    text.add(2, f"for (int c = 0; c < {size.vectors}; c++) {{")
    for target, source in moves:
        text.add(3, f"{target} = {source};")
    text.add(2, "}")


def _print_step(
    tile: RegisterTile, statement: Statement, part: str, size: TileSize, text: TextBuilder, *, fused: bool
) -> None:
    """One step of the sum: each value of a row meets all vectors of the columns."""
    vector, number = f"const vector_{part} *", C_TYPE_NAMES[part]
    names: dict[str, Parts] = {}
    for name in named_operands(tile, COLUMNS):
        text.add(2, f"{vector}{name} = ({vector})(packed_{name} + {2 * size.panel} * k);")
        if reads_ahead(tile) and not size.beside:
            text.add(2, f"__builtin_prefetch(ahead_{name} + {size.lanes} * k, 0, 2);")
        names[name] = (f"{name}[c]", f"{name}[{size.vectors + size.beside} + c]")
    text.add(2, f"#pragma GCC unroll {size.rows}")
    text.add(2, f"for (int r = 0; r < {size.rows}; r++) {{")
    for name in named_operands(tile, ROWS):
        at = f"packed_{name}[{2 * size.rows} * k"
        text.add(3, f"const {number} {name}_real = {at} + r], {name}_imaginary = {at} + {size.rows} + r];")
    for name in (*named_operands(tile, ROWS), *named_operands(tile, SCALARS)):
        names[name] = (f"{name}_real", f"{name}_imaginary")
    text.add(3, f"#pragma GCC unroll {size.vectors}")
    text.add(3, f"for (int c = 0; c < {size.vectors}; c++) {{")
    text.add(4, f"// line {statement.span.line}: {statement.headline}", statement)
    update = tile.operands.update
    assert isinstance(update, Binary)
    for line in _update(update, names, fused=fused):
        text.add(4, line, statement)
    text.add(3, "}")
    text.add(2, "}")


def _update(update: Binary, names: dict[str, Parts], *, fused: bool) -> list[str]:
    """What is added to the two sums, or taken from them."""
    real, imaginary = _SUMS
    add, subtract = ("+=", "-=") if update.operator == "+" else ("-=", "+=")
    value = update.right
    if fused and isinstance(value, Binary) and value.operator == "*":
        (a, b), (p, q) = (_side(side, names) for side in (value.left, value.right))
        return [
            f"{real} {add} {a} * {p};",
            f"{imaginary} {add} {a} * {q};",
            f"{real} {subtract} {b} * {q};",
            f"{imaginary} {add} {b} * {p};",
        ]
    return [f"{one} {add} {text};" for one, text in zip(_SUMS, _split(value, names), strict=True)]


def _split(node: Expression, names: dict[str, Parts]) -> Parts:
    """The parts of ``node``, with the operations of a complex one in their order."""
    if isinstance(node, Name):
        return names[node.name]
    assert isinstance(node, Binary)
    (a, b), (p, q) = (_side(side, names) for side in (node.left, node.right))
    if node.operator == "*":
        return f"{a} * {p} - {b} * {q}", f"{a} * {q} + {b} * {p}"
    return f"{a} {node.operator} {p}", f"{b} {node.operator} {q}"


def _side(node: Expression, names: dict[str, Parts]) -> Parts:
    """The parts of ``node`` as operands."""
    if isinstance(node, Name):
        return names[node.name]
    real, imaginary = _split(node, names)
    return f"({real})", f"({imaginary})"
