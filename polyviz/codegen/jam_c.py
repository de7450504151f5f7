"""Rows together in C: each iteration of a vector loop over columns does the same for several rows.

    for (; i < i_stop - 3; i += 4) {
        #pragma omp simd
        for (int64_t j = j_start; j < j_stop; j++) {
            s[j] = s[j] + r[i] * A[i][j];
            s[j] = s[j] + r[i + 1] * A[i + 1][j];
            …
        }
    }

The compiler keeps ``s[j]`` in a register from one line to the next. Rows that do not fill a block run one by one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from polyviz.codegen.bodies import placed_body
from polyviz.codegen.index import simplify_subscripts
from polyviz.codegen.local_names import LocalNames
from polyviz.codegen.loops import Block, For, Instance, is_whole
from polyviz.codegen.row_blocks import only
from polyviz.model.expression import Binary, Constant, Instruction, Name, substitute, walk

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from polyviz.codegen.arrays_c import ArrayPrinter
    from polyviz.codegen.expressions_c import CExpressionPrinter
    from polyviz.codegen.loops import LoopNode
    from polyviz.codegen.text import TextBuilder
    from polyviz.model.expression import Expression
    from polyviz.model.scop import Scop, Statement


@dataclass(frozen=True, slots=True)
class JammedRows:
    """The loop ``rows`` around the vector loop ``columns``, and what one column of one row does, in order."""

    rows: For
    columns: For
    updates: tuple[Instance, ...]


class JamPrinter:
    """Prints the rows of a plan that run together; ``print_loops`` prints loop IR at an indentation."""

    def __init__(
        self,
        scop: Scop,
        arrays: ArrayPrinter,
        printer: CExpressionPrinter,
        text: TextBuilder,
        print_loops: Callable[[LoopNode, int], None],
    ) -> None:
        self.scop = scop
        self.arrays = arrays
        self.printer = printer
        self.text = text
        self.print_loops = print_loops

    def rows(self, loop: For) -> JammedRows | None:
        """``loop`` as rows that run together, where its plan lets it be that."""
        columns = only(loop.body) if loop.unroll_jam > 1 else None
        if not isinstance(columns, For) or loop.step != 1 or columns.step != 1:
            return None
        if any(part == Name(loop.iterator) for bound in (columns.start, columns.stop) for part in walk(bound)):
            return None
        nodes = tuple(_nodes(columns.body))
        updates = tuple(node for node in nodes if isinstance(node, Instance))
        return JammedRows(loop, columns, updates) if len(updates) == len(nodes) else None

    def write(self, found: JammedRows, bodies: Mapping[str, Sequence[Instruction]], indent: int) -> None:
        """The loops of ``found``: whole blocks of rows, then the rows that are left."""
        rows, columns = found.rows, found.columns
        names = LocalNames(self.arrays, (rows.start, rows.stop, columns.start, columns.stop))
        row, column, count = rows.iterator, columns.iterator, rows.unroll_jam
        stop = names.of(f"{row}_stop")
        self._line(indent, "{")
        self._line(indent + 1, f"const int64_t {stop} = {self._text(rows.stop)};")
        self._line(indent + 1, f"int64_t {row} = {self._text(rows.start)};")
        self._line(indent + 1, f"for (; {row} < {stop} - {count - 1}; {row} += {count}) {{")
        self._line(indent + 2, "#pragma omp simd")
        bounds = f"int64_t {column} = {self._text(columns.start)}; {column} < {self.printer.bound(columns.stop)}"
        self._line(indent + 2, f"for ({bounds}; {column}++) {{")
        for number in range(count):
            for update in found.updates:
                self._update(update, bodies, row, number, indent + 3)
        self._line(indent + 2, "}")
        self._line(indent + 1, "}")
        if not is_whole(rows, count):
            self._line(indent + 1, f"for (; {row} < {stop}; {row}++) {{")
            self.print_loops(columns, indent + 2)
            self._line(indent + 1, "}")
        self._line(indent, "}")

    def _update(
        self, update: Instance, bodies: Mapping[str, Sequence[Instruction]], row: str, number: int, indent: int
    ) -> None:
        """What ``update`` does so many rows further."""
        statement = self.scop.statement(update.statement)
        self.arrays.enter(statement)
        placed = placed_body(statement, bodies[update.statement], update.arguments)
        moved = [_in_row(part, row, number) for part in placed]
        comment = "" if number else _comment(statement)
        for position, line in enumerate(self.printer.instructions(moved, 0)):
            self.text.add(indent, line + ("" if position else comment), statement)

    def _text(self, node: Expression) -> str:
        return self.printer.expression(node)

    def _line(self, indent: int, line: str) -> None:
        self.text.add(indent, line)


def _comment(statement: Statement) -> str:
    return f"  // line {statement.span.line}: {statement.headline}"


def _in_row(instruction: Instruction, iterator: str, number: int) -> Instruction:
    further = Binary("+", Name(iterator), Constant(number))
    moved = simplify_subscripts(substitute(instruction, {iterator: further})) if number else instruction
    assert isinstance(moved, Instruction)
    return moved


def _nodes(node: LoopNode) -> Iterator[LoopNode]:
    """What stands in ``node`` one after the other, without the blocks around it that declare nothing."""
    if isinstance(node, Block) and not node.declares and not node.team:
        for child in node.children:
            yield from _nodes(child)
    else:
        yield node
