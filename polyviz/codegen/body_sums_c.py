"""Loops inside a statement that stays whole that do nothing but add, in C: in lanes, as in ``accumulate_c``.

    {
        int64_t k = 0;
        const int64_t k_end = n;
        if (k_end - k >= 64) {
            double s_lanes[32] = {0};
            for (; k < k_end - 31; k += 32) {
                for (int64_t lane = 0; lane < 32; lane++)
                    s_lanes[lane] += A[i][k + lane] * p[k + lane];
            }
            for (int64_t lane = 0; lane < 32; lane++)
                s += s_lanes[lane];
            for (; k < k_end; k++) {
                s += A[i][k] * p[k];
            }
        } else {
            …
        }
    }

Compilers make one vector of such a sum, which waits for each addition.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from polyviz.analysis.inner_sums import inner_sums
from polyviz.codegen.calling import is_checked
from polyviz.codegen.dtypes import C_TYPE_NAMES, type_named
from polyviz.codegen.index import simplify_subscripts
from polyviz.codegen.local_names import LocalNames
from polyviz.codegen.text import INDENT
from polyviz.codegen.typing import infer
from polyviz.mapping.accumulate import LANES
from polyviz.mapping.body_sums import LEAST
from polyviz.model.expression import Assign, Binary, Element, Name, substitute, walk

if TYPE_CHECKING:
    from collections.abc import Iterable

    from polyviz.codegen.arrays_c import ArrayPrinter
    from polyviz.codegen.expressions_c import CExpressionPrinter
    from polyviz.model.expression import Loop
    from polyviz.model.plan import Plan
    from polyviz.model.scop import Scop


class BodySums:
    """Knows which loops of the statement that is printed add in lanes; ``dtypes`` gets the types of these."""

    def __init__(
        self, scop: Scop, plan: Plan, dtypes: dict[str, str], arrays: ArrayPrinter, printer: CExpressionPrinter
    ) -> None:
        self.scop = scop
        self.wanted = () if plan.scalar else plan.body_sums
        self.dtypes = dtypes
        self.arrays = arrays
        self.printer = printer

    def lines(self, loop: Loop, indent: int) -> list[str]:
        """The text of ``loop`` in lanes; none where it has another form."""
        sums = self._sums(loop)
        if not sums:
            return []
        names = LocalNames(self.arrays, [loop])
        lane, stop = names.of("lane"), names.of(f"{loop.iterator}_end")
        parts = [names.of(f"{one.target.array}_lanes") for one in sums]
        self.dtypes.update(zip(parts, (self.dtypes[one.target.array] for one in sums), strict=True))
        iterator = self.printer.names.get(loop.iterator, loop.iterator)
        start, end = self.printer.expression(loop.start), self.printer.expression(loop.stop)
        every = f"for (int64_t {lane} = 0; {lane} < {LANES}; {lane}++)"
        cells = [Element(part, (Name(lane),)) for part in parts]
        beside = [_in_lane(one, loop.iterator, cell) for one, cell in zip(sums, cells, strict=True)]
        joined = [Assign(one.target, cell, "+") for one, cell in zip(sums, cells, strict=True)]
        kinds = [C_TYPE_NAMES[self.dtypes[part]] for part in parts]
        rest = [f"for (; {iterator} < {stop}; {iterator}++) {{", *self.printer.instructions(sums, 1), "}"]
        lines = [
            f"int64_t {iterator} = {start};",
            f"const int64_t {stop} = {end};",
            f"if ({stop} - {iterator} >= {LEAST}) {{",
            *_inside(f"{kind} {part}[{LANES}] = {{0}};" for kind, part in zip(kinds, parts, strict=True)),
            *_inside([f"for (; {iterator} < {stop} - {LANES - 1}; {iterator} += {LANES}) {{"]),
            *_inside(_inside(self._each(every, beside))),
            *_inside(["}", *self._each(every, joined), *rest]),
            "} else {",
            *_inside(rest),
            "}",
        ]
        return [INDENT * indent + line for line in ("{", *_inside(lines), "}")]

    def _sums(self, loop: Loop) -> tuple[Assign, ...]:
        """What ``loop`` adds up, if these are real fractions and no subscript is tested on the way."""
        statement = self.arrays.statement
        if statement is None or statement.name not in self.wanted:
            return ()
        sums = inner_sums(loop, LEAST)
        known = self.arrays.untested or self.arrays.in_range
        elements = [node for one in sums for node in walk(one) if isinstance(node, Element)]
        if not known and any(is_checked(self.scop, one, statement) for one in elements):
            return ()
        kinds = [type_named(self.dtypes[one.target.array]) for one in sums]
        values = [infer(one.value, self.printer.environment) for one in sums]
        return sums if all(kind.kind == "f" for kind in kinds) and all(value.is_real for value in values) else ()

    def _each(self, every: str, assigns: Iterable[Assign]) -> list[str]:
        """A loop of its own over the lanes for each of ``assigns``, which keeps all its sums in registers."""
        return [line for one in assigns for line in (every, *self.printer.instructions([one], 1))]


def _in_lane(one: Assign, iterator: str, lane: Element) -> Assign:
    """``one`` in one lane of a group of iterations."""
    beside = Binary("+", Name(iterator), lane.subscripts[0])
    moved = simplify_subscripts(substitute(one, {iterator: beside}))
    assert isinstance(moved, Assign)
    return replace(moved, target=lane)


def _inside(lines: Iterable[str]) -> list[str]:
    return [INDENT + line for line in lines]
