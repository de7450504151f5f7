"""Rows that are kept in stretches side by side while sweeps go over them, in C.

    row 0:   A[1]  A[1 + rows]  A[1 + 2*rows]  …     one cell of each of the stretches
    row 1:   A[2]  A[2 + rows]  A[2 + 2*rows]  …

The neighbour of every cell of a row is in the next row. Before the first row stand the cells in front of each stretch,
which are the last of the stretch before it; behind the last row the first of the next one. Cells that fill no row, and
all sweeps over rows that are short or swept a few times only, run in the array itself.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from polyviz.codegen.bodies import placed_body
from polyviz.codegen.dtypes import C_TYPE_NAMES, type_named
from polyviz.codegen.index import simplified
from polyviz.codegen.lifted import Nest, Sweep, moved, offset_of
from polyviz.codegen.lifted_vectors_c import STEP, LiftedVectors, pairs_of, runs_in_vectors
from polyviz.codegen.loops import Block, For, Instance
from polyviz.codegen.lower import lower
from polyviz.codegen.values_c import PRODUCT, SUM
from polyviz.model.expression import Assign, Binary, Constant, Element, Name, rebuild, walk
from polyviz.model.linear import written

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from polyviz.codegen.arrays_c import ArrayPrinter
    from polyviz.codegen.expressions_c import CExpressionPrinter
    from polyviz.codegen.loops import LoopNode
    from polyviz.codegen.row_blocks import Types
    from polyviz.codegen.text import TextBuilder
    from polyviz.codegen.vectors_c import VectorFunctions
    from polyviz.model.expression import Instruction, Node
    from polyviz.model.plan import Plan
    from polyviz.model.program import ArrayType, FloatingPoint
    from polyviz.model.scop import Scop

LANES = 16
"""Stretches of a row that compilers make vectors of: two of 64 bytes in doubles, one in floats."""
ALIGNMENT = 64
"""Bytes: a cache line, and the longest vector."""
SHORTEST = 8
"""Rows of cells, and sweeps over them, below which copying them takes as long as it saves."""
SHORTEST_UNTILED = 16
"""Sweeps over rows that would else run in tiles, several steps over time together: copying saves less there."""


class LiftedPrinter:
    """Prints the nests of a plan's liftings; ``print_loop`` writes a loop as it is. ``dtypes`` gets the types of the
    copies."""

    def __init__(
        self,
        scop: Scop,
        plan: Plan,
        types: Types,
        dtypes: dict[str, str],
        arrays: ArrayPrinter,
        printer: CExpressionPrinter,
        text: TextBuilder,
        print_loop: Callable[[For, int], None],
        vectors: VectorFunctions,
        floating_point: FloatingPoint,
    ) -> None:
        self.scop = scop
        self.reorders = floating_point == "reassociate"
        self.types = types
        self.vectors = vectors
        self.dtypes = dtypes
        self.arrays = arrays
        self.printer = printer
        self.text = text
        self.print_loop = print_loop
        self.refused: list[str] = []
        self.printed: set[tuple[str, ...]] = set()
        self.arrays_of: dict[tuple[str, ...], tuple[str, ...]] = {}
        self.whole = plan.in_cache
        for lifting in (*plan.liftings, *(self.whole.liftings if self.whole else ())):
            reason = _refusal([types.arrays[name] for name in lifting.arrays])
            if reason:
                self.refused.append(f"{' and '.join(lifting.arrays)} are swept where they are: {reason}")
            else:
                self.arrays_of[lifting.statements] = lifting.arrays
        # All names are asked for now, so that no loop variable gets them.
        lifted = [name for names in self.arrays_of.values() for name in names]
        self.copies = {name: arrays.added(f"{name}_lifted") for name in lifted}
        for name in lifted:
            self.dtypes[self.copies[name]] = self.dtypes[name]
        stems = ("lifted", "lifted_start", "lifted_stop", "rows", "row", "lane", "ends") if lifted else ()
        self.names = {stem: arrays.added(stem) for stem in stems}

    def nest(self, loop: For, bodies: Mapping[str, Sequence[Instruction]]) -> Nest | None:
        """The sweeps of ``loop``, where its plan lifts their rows and nothing else happens in it."""
        inside = _loops_only(loop.body)
        names = tuple(node.body.statement for node in inside if isinstance(node.body, Instance))
        if names not in self.arrays_of or len(names) < len(inside) or loop.parallel or loop.reduced:
            return None
        if any(not node.vector or node.step != 1 or loop.iterator in _names_in(node) for node in inside):
            return None
        sweeps = [self._sweep(node, bodies) for node in inside]
        found = tuple(sweep for sweep in sweeps if sweep is not None)
        if len(found) < len(sweeps):
            return None
        reach = {array: (0, 0) for array in self.arrays_of[names]}
        for sweep in found:
            for part in walk(sweep.assign):
                if isinstance(part, Element) and part.array in reach:
                    distance = sweep.distance(part)
                    before, behind = reach[part.array]
                    reach[part.array] = (max(before, -distance), max(behind, distance))
        self.printed.add(names)
        in_vectors = self.vectors.processor is not None and runs_in_vectors(found, self.types)
        lanes = self.vectors.lanes(self.dtypes[next(iter(reach))]) if in_vectors else LANES
        return Nest(loop, found, reach, lanes, in_vectors)

    @property
    def notes(self) -> tuple[str, ...]:
        """Which rows stay where they are, and why; complete when everything is printed."""
        missed = [arrays for names, arrays in self.arrays_of.items() if names not in self.printed]
        reason = "their loops have other bounds in each iteration, or do something else besides"
        return (*self.refused, *(f"{' and '.join(names)} are swept where they are: {reason}" for names in missed))

    def write_or(
        self, bodies: Mapping[str, Sequence[Instruction]], indent: int, otherwise: Callable[[int], None]
    ) -> None:
        """The nest of the plan for short lines where a call has such, and what ``otherwise`` prints everywhere else."""
        loops = lower(self.scop, self.whole, self.arrays.taken) if self.whole is not None else None
        nest = self.nest(loops, bodies) if isinstance(loops, For) else None
        if nest is None:
            otherwise(indent)
        else:
            self.write(nest, indent, otherwise)

    def write(self, nest: Nest, indent: int, otherwise: Callable[[int], None] | None = None) -> None:
        """The nest over lifted rows where there are enough of them, and as it is everywhere else; or what ``otherwise``
        prints there, and where the first-level cache does not hold the rows."""
        self._line(indent, "{")
        self._sizes(nest, indent + 1, short=otherwise is not None)
        self._line(indent + 1, f"if ({self.names['lifted']}) {{")
        self._copies(nest, indent + 2)
        for array in nest.reach:
            self._copy(nest, array, indent + 2, back=False)
            self._ends(nest, array, indent + 2)
        loop = nest.loop
        start, stop = self.printer.expression(loop.start), self.printer.bound(loop.stop)
        advance = f"{loop.iterator}++" if loop.step == 1 else f"{loop.iterator} += {loop.step}"
        self._line(
            indent + 2, f"for (int64_t {loop.iterator} = {start}; {loop.iterator} < {stop}; {advance}) {{"
        )
        self._sweeps(nest, indent + 3)
        self._line(indent + 2, "}")
        for array in dict.fromkeys(sweep.target for sweep in nest.sweeps):
            self._copy(nest, array, indent + 2, back=True)
        self._line(indent + 2, f"free({self.names['lifted']});")
        self._line(indent + 1, "} else {")
        if otherwise is None:
            self.print_loop(loop, indent + 2)
        else:
            otherwise(indent + 2)
        self._line(indent + 1, "}")
        self._line(indent, "}")

    def _sweeps(self, nest: Nest, indent: int) -> None:
        """All sweeps of one iteration, two in one pass where vectors compute them."""
        if not nest.in_vectors:
            for sweep in nest.sweeps:
                self._rows(nest, sweep, indent)
                self._passed_on(nest, sweep, indent)
            return
        shown = (self.arrays, self.printer, self.text, self.vectors)
        used = (self.copies, self.dtypes[next(iter(nest.reach))], self.names)
        rows = LiftedVectors(nest, *shown, *used, reorders=self.reorders)
        for sweep, pair in pairs_of(nest.sweeps):
            if pair is None:
                rows.sweep(sweep, indent)
                self._passed_on(nest, sweep, indent)
                continue
            rows.pass_of(pair, indent)
            self._passed_on(nest, pair.first, indent)
            rows.left_out(pair, indent)
            self._passed_on(nest, pair.later, indent)

    def _passed_on(self, nest: Nest, sweep: Sweep, indent: int) -> None:
        """What a sweep leaves to others behind its rows: the cells that fill none, and the neighbours of the ends."""
        self._rest(nest, sweep, indent)
        self._edges(nest, sweep.target, indent)
        self._ends(nest, sweep.target, indent)

    def _sweep(self, loop: For, bodies: Mapping[str, Sequence[Instruction]]) -> Sweep | None:
        instance = loop.body
        assert isinstance(instance, Instance)
        statement = self.scop.statement(instance.statement)
        body = placed_body(statement, bodies[instance.statement], instance.arguments)
        if len(body) != 1 or not isinstance(body[0], Assign):
            return None
        shift = offset_of(body[0].target, loop.iterator)
        sweep = Sweep(loop, statement, body[0], shift or 0)
        moving = [part for part in walk(body[0]) if isinstance(part, Element) and part.array in self.copies]
        known = shift is not None and all(offset_of(part, loop.iterator) is not None for part in moving)
        return sweep if known else None

    def _sizes(self, nest: Nest, indent: int, *, short: bool) -> None:
        """Which cells are lifted, and memory for them where that pays; ``short``: where they fit into a cache, too."""
        names, reach = self.names, nest.reach.values()
        cells = Binary("-", nest.stop, Name(names["lifted_start"]))
        steps = Binary("//", simplified(cells), Constant(STEP * nest.lanes))
        rows = Binary("*", Constant(STEP), steps)
        self._line(
            indent, f"/* {nest.lanes} stretches of the row side by side: neighbours are whole vectors apart. */"
        )
        self._line(indent, f"const int64_t {names['lifted_start']} = {self.printer.expression(nest.start)};")
        self._line(indent, f"const int64_t {names['rows']} = {self.printer.expression(rows)};")
        end = f"{names['lifted_start']} + {nest.lanes} * {names['rows']}"
        self._line(indent, f"const int64_t {names['lifted_stop']} = {end};")
        kind = self._kind(nest)
        self._line(indent, f"{kind} *{names['lifted']} = NULL;")
        farthest = max(max(pair) for pair in reach)
        sweeps = self.printer.value(simplified(Binary("-", nest.loop.stop, nest.loop.start))).within(SUM)
        least = SHORTEST_UNTILED if short else SHORTEST
        enough = f"{names['rows']} >= {max(SHORTEST, farthest)} && {sweeps} >= {least * nest.loop.step}"
        if short and self.vectors.processor is not None:
            row = len(nest.reach) * nest.lanes * type_named(self.dtypes[next(iter(nest.reach))]).bits // 8
            enough += f" && {names['rows']} <= {self.vectors.processor.l1_data // row}"
        self._line(indent, f"if ({enough})")
        needed = f"{len(nest.reach)} * {names['rows']} + {sum(map(sum, reach))}"
        memory = f"aligned_alloc({self._alignment(nest)}, ({needed}) * sizeof({kind}[{nest.lanes}]))"
        self._line(indent + 1, f"{names['lifted']} = {memory};")

    def _copies(self, nest: Nest, indent: int) -> None:
        """Where the first row of each array is; rows for what is read before it and behind the last one around."""
        kind, taken, rows = self._kind(nest), 0, self.names["rows"]
        for number, (array, (before, behind)) in enumerate(nest.reach.items()):
            place = self.printer.value(written({rows: number, "": taken + before})).within(PRODUCT)
            copy = f"{self.names['lifted']} + {nest.lanes} * {place}"
            self._line(indent, f"{kind} *restrict {self.copies[array]} = {copy};")
            taken += before + behind

    def _copy(self, nest: Nest, array: str, indent: int, *, back: bool) -> None:
        """All cells of ``array`` to their places in the rows, or back."""
        row, lane, rows = (self.names[name] for name in ("row", "lane", "rows"))
        own = f"{self._array(array)}[{self.names['lifted_start']} + {lane} * {rows} + {row}]"
        copy = f"{self.copies[array]}[{nest.lanes} * {row} + {lane}]"
        self._line(indent, f"for (int64_t {row} = 0; {row} < {rows}; {row}++)")
        self._line(indent + 1, f"for (int64_t {lane} = 0; {lane} < {nest.lanes}; {lane}++)")
        self._line(indent + 2, f"{own} = {copy};" if back else f"{copy} = {own};")

    def _rows(self, nest: Nest, sweep: Sweep, indent: int) -> None:
        """One sweep over the lifted cells."""
        used = dict.fromkeys(part.array for part in walk(sweep.assign) if isinstance(part, Element))
        copies = ", ".join(self.copies[array] for array in used if array in nest.reach)
        row, rows, lane = (self.names[name] for name in ("row", "rows", "lane"))

        def lifted(node: Node) -> Node:
            if not isinstance(node, Element) or node.array not in nest.reach:
                return rebuild(node, lifted)
            place = written({row: nest.lanes, lane: 1, "": nest.lanes * sweep.distance(node)})
            return Element(self.copies[node.array], (place,))

        moved = lifted(sweep.assign)
        assert isinstance(moved, Assign)
        self._line(indent, f"for (int64_t {row} = 0; {row} < {rows}; {row} += {STEP}) {{")
        self._line(indent + 1, f"#pragma omp simd aligned({copies} : {ALIGNMENT})")
        self._line(indent + 1, f"for (int64_t {lane} = 0; {lane} < {STEP * nest.lanes}; {lane}++)")
        self.arrays.enter(sweep.statement)
        (line,) = self.printer.instructions([moved], 0)
        comment = f"  // line {sweep.statement.span.line}: {sweep.statement.headline}"
        self.text.add(indent + 2, line + comment, sweep.statement)
        self._line(indent, "}")

    def _rest(self, nest: Nest, sweep: Sweep, indent: int) -> None:
        """The cells of one sweep that fill no row."""
        start = moved(Name(self.names["lifted_start"]), -sweep.shift)
        stop = moved(Name(self.names["lifted_stop"]), -sweep.shift)
        plain = replace(sweep.loop, vector=False)
        if sweep.start != nest.start:
            self.print_loop(replace(plain, stop=start), indent)
        self.print_loop(replace(plain, start=stop), indent)

    def _edges(self, nest: Nest, array: str, indent: int) -> None:
        """The outermost lifted cells, which cells that fill no row read in the array itself."""
        name, copy, rows = self._array(array), self.copies[array], self.names["rows"]
        for place in range(max(nest.reach[array])):
            first, last = (
                _plus(self.names["lifted_start"], place),
                _plus(self.names["lifted_stop"], -place - 1),
            )
            self._line(indent, f"{name}[{first}] = {copy}[{nest.lanes * place}];")
            self._line(indent, f"{name}[{last}] = {copy}[{nest.lanes} * {_row(rows, -place)} - 1];")

    def _ends(self, nest: Nest, array: str, indent: int) -> None:
        """What stands before the first row and behind the last: the neighbours of the ends of all stretches."""
        name, copy, rows = self._array(array), self.copies[array], self.names["rows"]
        before, behind = nest.reach[array]
        for place in range(1, before + 1):
            cell = f"{name}[{_plus(self.names['lifted_start'], -place)}]"
            self._turned(nest, copy, f"-{nest.lanes * place}", f"{nest.lanes} * {_row(rows, -place)}", cell, 1, indent)
        for place in range(behind):
            cell = f"{name}[{_plus(self.names['lifted_stop'], place)}]"
            self._turned(nest, copy, f"{nest.lanes} * {_row(rows, place)}", f"{nest.lanes * place}", cell, -1, indent)

    def _turned(self, nest: Nest, copy: str, to: str, source: str, cell: str, turn: int, indent: int) -> None:
        """The row of ``copy`` at ``source`` moved on by ``turn`` lanes to ``to``, with ``cell`` in the free lane."""
        lane, ends, lanes = self.names["lane"], self.names["ends"], nest.lanes
        free = 0 if turn > 0 else lanes - 1
        if nest.in_vectors:
            dtype = self.dtypes[next(iter(nest.reach))]
            row = f"*(vector_{dtype} *)&{copy}[{source}]"
            shift = self.vectors.shift(dtype, -turn % lanes)
            self._line(indent, "{")
            self._line(indent + 1, f"vector_{dtype} {ends} = {shift}({row}, {row});")
            self._line(indent + 1, f"{ends}[{free}] = {cell};")
            self._line(indent + 1, f"*(vector_{dtype} *)&{copy}[{to}] = {ends};")
            self._line(indent, "}")
            return
        last, first = (1, 0) if turn > 0 else (0, 1)
        self._line(indent, f"for (int64_t {lane} = 0; {lane} < {lanes - 1}; {lane}++)")
        self._line(indent + 1, f"{copy}[{to} + {_plus(lane, last)}] = {copy}[{source} + {_plus(lane, first)}];")
        self._line(indent, f"{copy}[{to} + {free}] = {cell};")

    def _alignment(self, nest: Nest) -> int:
        """Bytes: what a row of vectors takes, or a cache line."""
        dtype = self.dtypes[next(iter(nest.reach))]
        return nest.lanes * type_named(dtype).bits // 8 if nest.in_vectors else ALIGNMENT

    def _kind(self, nest: Nest) -> str:
        return C_TYPE_NAMES[self.dtypes[next(iter(nest.reach))]]

    def _array(self, array: str) -> str:
        return self.arrays.identifier(array)

    def _line(self, indent: int, line: str) -> None:
        self.text.add(indent, line)


def _refusal(types: Sequence[ArrayType]) -> str:
    """Why rows of ``types`` are not lifted; empty where they can be."""
    if any(kind.layout != "C" for kind in types):
        return "their cells do not lie side by side in memory"
    if len({kind.dtype for kind in types}) > 1 or not type_named(types[0].dtype).is_real:
        return "their elements are not all real numbers of one type"
    return ""


def _loops_only(node: LoopNode) -> list[For]:
    """The loops that are all of ``node``; none where there is something else in it."""
    if isinstance(node, For):
        return [node]
    if not isinstance(node, Block) or node.declares:
        return []
    inside = [_loops_only(child) for child in node.children]
    return [loop for found in inside for loop in found] if all(inside) else []


def _names_in(loop: For) -> set[str]:
    return {part.name for bound in (loop.start, loop.stop) for part in walk(bound) if isinstance(part, Name)}


def _plus(name: str, distance: int) -> str:
    return f"{name} {'-' if distance < 0 else '+'} {abs(distance)}" if distance else name


def _row(rows: str, distance: int) -> str:
    return f"({_plus(rows, distance)})" if distance else rows
