"""Rows that are kept in stretches side by side while sweeps go over them, in C.

    row 0:   A[1]  A[1 + rows]  A[1 + 2*rows]  …     one cell of each of the stretches
    row 1:   A[2]  A[2 + rows]  A[2 + 2*rows]  …

The neighbour of every cell of a row is in the next row. Before the first row stand the cells in front of each stretch,
which are the last of the stretch before it; behind the last row the first of the next one. Cells that fill no row, and
all sweeps over rows that are short or swept a few times only, run in the array itself.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from polyviz.codegen.bodies import placed_body
from polyviz.codegen.dtypes import C_TYPE_NAMES, type_named
from polyviz.codegen.index import simplified, written
from polyviz.codegen.loops import Block, For, Instance
from polyviz.codegen.values_c import PRODUCT, SUM
from polyviz.model.expression import Assign, Binary, Call, Constant, Element, Name, rebuild, walk
from polyviz.model.linear import linear_terms

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from polyviz.codegen.arrays_c import ArrayPrinter
    from polyviz.codegen.expressions_c import CExpressionPrinter
    from polyviz.codegen.loops import LoopNode
    from polyviz.codegen.text import TextBuilder
    from polyviz.model.expression import Expression, Instruction, Node
    from polyviz.model.plan import Plan
    from polyviz.model.program import ArrayType
    from polyviz.model.scop import Scop, Statement

LANES = 16
"""Stretches of a row: two vectors of 64 bytes in doubles, one in floats."""
STEP = 4
"""Rows in one step, a loop of constant length that compilers unroll: neighbours are loaded once for all of them."""
ALIGNMENT = 64
"""Bytes: a cache line, and the longest vector."""
SHORTEST = 8
"""Rows of cells, and sweeps over them, below which copying them takes as long as it saves."""


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

    @property
    def start(self) -> Expression:
        """The first cell it writes."""
        return _moved(self.loop.start, self.shift)

    @property
    def stop(self) -> Expression:
        """The cell behind the last one it writes."""
        return _moved(self.loop.stop, self.shift)


@dataclass(frozen=True, slots=True)
class Nest:
    """``loop`` around nothing but ``sweeps``.

    ``reach`` holds, for each of the lifted arrays, how far before and behind the written cell it is read.
    """

    loop: For
    sweeps: tuple[Sweep, ...]
    reach: dict[str, tuple[int, int]]

    @property
    def start(self) -> Expression:
        """The first cell that all sweeps write."""
        return _combined("max", [sweep.start for sweep in self.sweeps])

    @property
    def stop(self) -> Expression:
        """The cell behind the last one that all sweeps write."""
        return _combined("min", [sweep.stop for sweep in self.sweeps])


class LiftedPrinter:
    """Prints the nests of a plan's liftings; ``print_loop`` writes a loop as it is. ``dtypes`` gets the types of the
    copies."""

    def __init__(
        self,
        scop: Scop,
        plan: Plan,
        types: Mapping[str, ArrayType],
        dtypes: dict[str, str],
        arrays: ArrayPrinter,
        printer: CExpressionPrinter,
        text: TextBuilder,
        print_loop: Callable[[For, int], None],
    ) -> None:
        self.scop = scop
        self.dtypes = dtypes
        self.arrays = arrays
        self.printer = printer
        self.text = text
        self.print_loop = print_loop
        self.refused: list[str] = []
        self.printed: set[tuple[str, ...]] = set()
        self.arrays_of: dict[tuple[str, ...], tuple[str, ...]] = {}
        for lifting in plan.liftings:
            reason = _refusal([types[name] for name in lifting.arrays])
            if reason:
                self.refused.append(f"{' and '.join(lifting.arrays)} are swept where they are: {reason}")
            else:
                self.arrays_of[lifting.statements] = lifting.arrays
        # All names are asked for now, so that no loop variable gets them.
        lifted = [name for names in self.arrays_of.values() for name in names]
        self.copies = {name: arrays.added(f"{name}_lifted") for name in lifted}
        for name in lifted:
            self.dtypes[self.copies[name]] = self.dtypes[name]
        stems = ("lifted", "lifted_start", "lifted_stop", "rows", "row", "lane") if lifted else ()
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
                    distance = _distance(part, sweep)
                    before, behind = reach[part.array]
                    reach[part.array] = (max(before, -distance), max(behind, distance))
        self.printed.add(names)
        return Nest(loop, found, reach)

    @property
    def notes(self) -> tuple[str, ...]:
        """Which rows stay where they are, and why; complete when everything is printed."""
        missed = [arrays for names, arrays in self.arrays_of.items() if names not in self.printed]
        reason = "their loops have other bounds in each iteration, or do something else besides"
        return (*self.refused, *(f"{' and '.join(names)} are swept where they are: {reason}" for names in missed))

    def write(self, nest: Nest, indent: int) -> None:
        """The nest over lifted rows where there are enough of them, and as it is everywhere else."""
        self._line(indent, "{")
        self._sizes(nest, indent + 1)
        self._line(indent + 1, f"if ({self.names['lifted']}) {{")
        self._copies(nest, indent + 2)
        for array in nest.reach:
            self._copy(array, indent + 2, back=False)
            self._ends(nest, array, indent + 2)
        loop = nest.loop
        start, stop = self.printer.expression(loop.start), self.printer.bound(loop.stop)
        advance = f"{loop.iterator}++" if loop.step == 1 else f"{loop.iterator} += {loop.step}"
        self._line(
            indent + 2, f"for (int64_t {loop.iterator} = {start}; {loop.iterator} < {stop}; {advance}) {{"
        )
        for sweep in nest.sweeps:
            self._rows(nest, sweep, indent + 3)
            self._rest(nest, sweep, indent + 3)
            self._edges(nest, sweep.target, indent + 3)
            self._ends(nest, sweep.target, indent + 3)
        self._line(indent + 2, "}")
        for array in dict.fromkeys(sweep.target for sweep in nest.sweeps):
            self._copy(array, indent + 2, back=True)
        self._line(indent + 2, f"free({self.names['lifted']});")
        self._line(indent + 1, "} else {")
        self.print_loop(loop, indent + 2)
        self._line(indent + 1, "}")
        self._line(indent, "}")

    def _sweep(self, loop: For, bodies: Mapping[str, Sequence[Instruction]]) -> Sweep | None:
        instance = loop.body
        assert isinstance(instance, Instance)
        statement = self.scop.statement(instance.statement)
        body = placed_body(statement, bodies[instance.statement], instance.arguments)
        if len(body) != 1 or not isinstance(body[0], Assign):
            return None
        shift = _offset(body[0].target, loop.iterator)
        sweep = Sweep(loop, statement, body[0], shift or 0)
        moving = [part for part in walk(body[0]) if isinstance(part, Element) and part.array in self.copies]
        known = shift is not None and all(_offset(part, loop.iterator) is not None for part in moving)
        return sweep if known else None

    def _sizes(self, nest: Nest, indent: int) -> None:
        """Which cells are lifted, and memory for them where that pays."""
        names, reach = self.names, nest.reach.values()
        cells = Binary("-", nest.stop, Name(names["lifted_start"]))
        steps = Binary("//", simplified(cells), Constant(STEP * LANES))
        rows = Binary("*", Constant(STEP), steps)
        self._line(
            indent, f"/* {LANES} stretches of the row side by side: neighbours are whole vectors apart. */"
        )
        self._line(indent, f"const int64_t {names['lifted_start']} = {self.printer.expression(nest.start)};")
        self._line(indent, f"const int64_t {names['rows']} = {self.printer.expression(rows)};")
        end = f"{names['lifted_start']} + {LANES} * {names['rows']}"
        self._line(indent, f"const int64_t {names['lifted_stop']} = {end};")
        kind = self._kind(nest)
        self._line(indent, f"{kind} *{names['lifted']} = NULL;")
        farthest = max(max(pair) for pair in reach)
        sweeps = self.printer.value(simplified(Binary("-", nest.loop.stop, nest.loop.start))).within(SUM)
        enough = f"{names['rows']} >= {max(SHORTEST, farthest)} && {sweeps} >= {SHORTEST * nest.loop.step}"
        self._line(indent, f"if ({enough})")
        needed = f"{len(nest.reach)} * {names['rows']} + {sum(map(sum, reach))}"
        memory = f"aligned_alloc({ALIGNMENT}, ({needed}) * sizeof({kind}[{LANES}]))"
        self._line(indent + 1, f"{names['lifted']} = {memory};")

    def _copies(self, nest: Nest, indent: int) -> None:
        """Where the first row of each array is; rows for what is read before it and behind the last one around."""
        kind, taken, rows = self._kind(nest), 0, self.names["rows"]
        for number, (array, (before, behind)) in enumerate(nest.reach.items()):
            place = self.printer.value(written({rows: number, "": taken + before})).within(PRODUCT)
            copy = f"{self.names['lifted']} + {LANES} * {place}"
            self._line(indent, f"{kind} *restrict {self.copies[array]} = {copy};")
            taken += before + behind

    def _copy(self, array: str, indent: int, *, back: bool) -> None:
        """All cells of ``array`` to their places in the rows, or back."""
        row, lane, rows = (self.names[name] for name in ("row", "lane", "rows"))
        own = f"{self._array(array)}[{self.names['lifted_start']} + {lane} * {rows} + {row}]"
        copy = f"{self.copies[array]}[{LANES} * {row} + {lane}]"
        self._line(indent, f"for (int64_t {row} = 0; {row} < {rows}; {row}++)")
        self._line(indent + 1, f"for (int64_t {lane} = 0; {lane} < {LANES}; {lane}++)")
        self._line(indent + 2, f"{own} = {copy};" if back else f"{copy} = {own};")

    def _rows(self, nest: Nest, sweep: Sweep, indent: int) -> None:
        """One sweep over the lifted cells."""
        used = dict.fromkeys(part.array for part in walk(sweep.assign) if isinstance(part, Element))
        copies = ", ".join(self.copies[array] for array in used if array in nest.reach)
        row, rows, lane = (self.names[name] for name in ("row", "rows", "lane"))

        def lifted(node: Node) -> Node:
            if not isinstance(node, Element) or node.array not in nest.reach:
                return rebuild(node, lifted)
            place = written({row: LANES, lane: 1, "": LANES * _distance(node, sweep)})
            return Element(self.copies[node.array], (place,))

        moved = lifted(sweep.assign)
        assert isinstance(moved, Assign)
        self._line(indent, f"for (int64_t {row} = 0; {row} < {rows}; {row} += {STEP}) {{")
        self._line(indent + 1, f"#pragma omp simd aligned({copies} : {ALIGNMENT})")
        self._line(indent + 1, f"for (int64_t {lane} = 0; {lane} < {STEP * LANES}; {lane}++)")
        self.arrays.enter(sweep.statement)
        (line,) = self.printer.instructions([moved], 0)
        comment = f"  // line {sweep.statement.span.line}: {sweep.statement.headline}"
        self.text.add(indent + 2, line + comment, sweep.statement)
        self._line(indent, "}")

    def _rest(self, nest: Nest, sweep: Sweep, indent: int) -> None:
        """The cells of one sweep that fill no row."""
        start = _moved(Name(self.names["lifted_start"]), -sweep.shift)
        stop = _moved(Name(self.names["lifted_stop"]), -sweep.shift)
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
            self._line(indent, f"{name}[{first}] = {copy}[{LANES * place}];")
            self._line(indent, f"{name}[{last}] = {copy}[{LANES} * {_row(rows, -place)} - 1];")

    def _ends(self, nest: Nest, array: str, indent: int) -> None:
        """What stands before the first row and behind the last: the neighbours of the ends of all stretches."""
        name, copy, rows, lane = (
            self._array(array),
            self.copies[array],
            self.names["rows"],
            self.names["lane"],
        )
        before, behind = nest.reach[array]
        header = f"for (int64_t {lane} = 0; {lane} < {LANES - 1}; {lane}++)"
        for place in range(1, before + 1):
            self._line(
                indent, f"{copy}[-{LANES * place}] = {name}[{_plus(self.names['lifted_start'], -place)}];"
            )
            self._line(indent, header)
            own = f"{copy}[{lane} - {LANES * place - 1}]"
            self._line(indent + 1, f"{own} = {copy}[{LANES} * {_row(rows, -place)} + {lane}];")
        for place in range(behind):
            self._line(indent, header)
            own = f"{copy}[{LANES} * {_row(rows, place)} + {lane}]"
            self._line(indent + 1, f"{own} = {copy}[{lane} + {LANES * place + 1}];")
            last = f"{copy}[{LANES} * {_row(rows, place)} + {LANES - 1}]"
            self._line(indent, f"{last} = {name}[{_plus(self.names['lifted_stop'], place)}];")

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


def _offset(element: Element, iterator: str) -> int | None:
    """How far behind the cell ``iterator`` the cell ``element`` lies; None where that is no number."""
    if len(element.subscripts) != 1:
        return None
    terms = dict(linear_terms(element.subscripts[0]) or {})
    constant = terms.pop("", 0)
    return constant if {name: factor for name, factor in terms.items() if factor} == {iterator: 1} else None


def _distance(element: Element, sweep: Sweep) -> int:
    """How far behind the cell that ``sweep`` writes the cell ``element`` lies."""
    offset = _offset(element, sweep.loop.iterator)
    assert offset is not None
    return offset - sweep.shift


def _moved(bound: Expression, shift: int) -> Expression:
    return simplified(Binary("+", bound, Constant(shift)))


def _combined(function: str, bounds: Sequence[Expression]) -> Expression:
    different = tuple(dict.fromkeys(bounds))
    return Call(function, different) if len(different) > 1 else different[0]


def _plus(name: str, distance: int) -> str:
    return f"{name} {'-' if distance < 0 else '+'} {abs(distance)}" if distance else name


def _row(rows: str, distance: int) -> str:
    return f"({_plus(rows, distance)})" if distance else rows
