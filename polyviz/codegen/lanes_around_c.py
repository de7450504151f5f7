"""Vector loops in C around loops whose lengths only the call tells: strips of lanes go through these together.

    for (; j < j_stop - 31; j += 32) {
        double total_strip[32];
        for (int64_t lane = 0; lane < 32; lane++) {
            total_strip[lane] = 0.0;
        }
        for (int64_t k = -reach; k < reach + 1; k++) {
            for (int64_t lane = 0; lane < 32; lane++) {
                total_strip[lane] += x[j + lane + k];
            }
        }
        …
    }

A compiler makes vectors of an outer loop only where it can write out the loops inside. What is left of the loop behind
the strips runs one by one. Each lane does what its iteration does, in the same order.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from polyviz.codegen.bodies import placed_body, private_name
from polyviz.codegen.dtypes import C_TYPE_NAMES
from polyviz.codegen.index import simplify_subscripts
from polyviz.codegen.local_names import LocalNames
from polyviz.codegen.loops import Block, For, Instance, descendants, instances
from polyviz.model.expression import (
    Assign,
    Binary,
    Constant,
    Element,
    Instruction,
    Name,
    rebuild,
    substitute,
    walk,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from polyviz.codegen.arrays_c import ArrayPrinter
    from polyviz.codegen.expressions_c import CExpressionPrinter
    from polyviz.codegen.loops import LoopNode
    from polyviz.codegen.text import TextBuilder
    from polyviz.model.expression import Node
    from polyviz.model.plan import Plan
    from polyviz.model.scop import Scop

    Bodies = Mapping[str, Sequence[Instruction]]

LANES = 32
"""Iterations that go through the loops inside together: in doubles four vectors of 64 bytes or eight of 32, enough to
wait for no addition."""


@dataclass(frozen=True, slots=True)
class _Strip:
    """The vector ``loop`` in strips: what its variables and its temporaries, by their names, are called there."""

    loop: For
    lane: str
    stop: str
    copies: Mapping[str, str]


class LanesAroundPrinter:
    """Prints such loops; ``print_node`` prints what an iteration behind the strips does, at an indentation."""

    def __init__(
        self,
        scop: Scop,
        plan: Plan,
        dtypes: dict[str, str],
        arrays: ArrayPrinter,
        printer: CExpressionPrinter,
        text: TextBuilder,
        print_node: Callable[[LoopNode, int], None],
    ) -> None:
        self.scop = scop
        self.windows = {expansion.array for expansion in plan.expansions}
        self.dtypes = dtypes
        self.arrays = arrays
        self.printer = printer
        self.text = text
        self.print_node = print_node

    def write(self, loop: For, bodies: Bodies, indent: int) -> bool:
        """Print the vector ``loop``, if it has other loops inside whose lengths are not known."""
        below = list(descendants(loop.body))
        open_ones = [one for one in below if isinstance(one, For) and not _is_constant(one)]
        if not open_ones or loop.step != 1 or loop.width or not all(self._fits(one, loop, bodies) for one in below):
            return False
        declared = [name for one in below if isinstance(one, Block) for name in one.declares]
        placed = [line for one in instances(loop.body) for line in self._placed(one, bodies)]
        bounds = [bound for one in (loop, *open_ones) for bound in (one.start, one.stop)]
        names = LocalNames(self.arrays, (*placed, *bounds))
        copies = {}
        for name in (private_name(self.scop, name) for name in declared):
            copies[name] = names.of(f"{name}_strip")
            self.dtypes[copies[name]] = self.dtypes[name]
        written = {one.target.array for line in placed for one in walk(line) if isinstance(one, Assign)}
        if any(not self._has_cells(name) and name not in copies for name in written):
            return False
        self._write(_Strip(loop, names.of("lane"), names.of(f"{loop.iterator}_stop"), copies), bodies, indent)
        return True

    def _fits(self, node: LoopNode, around: For, bodies: Bodies) -> bool:
        """Whether all lanes run ``node`` together."""
        match node:
            case Block(_, declares, team):
                return not team and not self.windows.intersection(declares)
            case For():
                bounds = (part for bound in (node.start, node.stop) for part in walk(bound))
                return node.step == 1 and not node.width and Name(around.iterator) not in bounds
            case Instance(statement):
                body = bodies.get(statement, ())
                return bool(body) and all(isinstance(line, Assign) for line in body)
        return False

    def _has_cells(self, array: str) -> bool:
        known = {one.name: one.rank for one in self.scop.arrays}
        return known.get(array, 0) > 0

    def _placed(self, instance: Instance, bodies: Bodies) -> list[Instruction]:
        return placed_body(self.scop.statement(instance.statement), bodies[instance.statement], instance.arguments)

    def _write(self, strip: _Strip, bodies: Bodies, indent: int) -> None:
        loop, name = strip.loop, strip.loop.iterator
        self.text.add(indent, "{")
        self.text.add(indent + 1, f"const int64_t {strip.stop} = {self.printer.expression(loop.stop)};")
        self.text.add(indent + 1, f"int64_t {name} = {self.printer.expression(loop.start)};")
        self.text.add(indent + 1, f"for (; {name} < {strip.stop} - {LANES - 1}; {name} += {LANES}) {{")
        for private, copy in strip.copies.items():
            self.text.add(indent + 2, f"{C_TYPE_NAMES[self.dtypes[private]]} {copy}[{LANES}];")
        self._node(loop.body, strip, bodies, indent + 2)
        self.text.add(indent + 1, "}")
        self.text.add(indent + 1, f"for (; {name} < {strip.stop}; {name}++) {{")
        self.print_node(loop.body, indent + 2)
        self.text.add(indent + 1, "}")
        self.text.add(indent, "}")

    def _node(self, node: LoopNode, strip: _Strip, bodies: Bodies, indent: int) -> None:
        """What all lanes do at ``node``: statements that follow each other are in one loop over the lanes."""
        if isinstance(node, For):
            name, stop = node.iterator, self.printer.bound(node.stop)
            start = self.printer.expression(node.start)
            self.text.add(indent, f"for (int64_t {name} = {start}; {name} < {stop}; {name}++) {{")
            self._node(node.body, strip, bodies, indent + 1)
            self.text.add(indent, "}")
            return
        row: list[Instance] = []
        for one in _flat(node):
            if isinstance(one, Instance):
                row.append(one)
                continue
            self._lanes(row, strip, bodies, indent)
            row = []
            self._node(one, strip, bodies, indent)
        self._lanes(row, strip, bodies, indent)

    def _lanes(self, row: Sequence[Instance], strip: _Strip, bodies: Bodies, indent: int) -> None:
        if not row:
            return
        self.text.add(indent, "#pragma omp simd")
        self.text.add(indent, f"for (int64_t {strip.lane} = 0; {strip.lane} < {LANES}; {strip.lane}++) {{")
        place = {strip.loop.iterator: Binary("+", Name(strip.loop.iterator), Name(strip.lane))}
        for instance in row:
            statement = self.scop.statement(instance.statement)
            self.arrays.enter(statement)
            lines = [_in_lane(line, strip, place) for line in self._placed(instance, bodies)]
            comment = f"  // line {statement.span.line}: {statement.headline}"
            for number, line in enumerate(self.printer.instructions(lines, 0)):
                self.text.add(indent + 1, line + ("" if number else comment), statement)
        self.text.add(indent, "}")


def _in_lane(instruction: Instruction, strip: _Strip, place: Mapping[str, Binary]) -> Instruction:
    """``instruction`` in one lane: of its iteration, with its cell of each temporary."""

    def own(node: Node) -> Node:
        if isinstance(node, Element) and node.array in strip.copies:
            return Element(strip.copies[node.array], (Name(strip.lane),))
        return rebuild(node, own)

    moved = own(simplify_subscripts(substitute(instruction, dict(place))))
    assert isinstance(moved, Instruction)
    return moved


def _flat(node: LoopNode) -> list[LoopNode]:
    """What stands in ``node`` one after the other."""
    if isinstance(node, Block):
        return [one for child in node.children for one in _flat(child)]
    return [node]


def _is_constant(loop: For) -> bool:
    return isinstance(loop.start, Constant) and isinstance(loop.stop, Constant)
