"""Loops that threads share although their iterations add into the same cells, in C.

The first thread adds into the array itself, every other one into a copy that starts with zeros. Behind the loop the
copies are added in the order of the threads, so that a run with as many threads gives the same bits again. A single
number is summed up in a variable of each thread, which is written down once, behind its share of the loop.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING

from polyviz.codegen.bodies import bound_expression, box_size
from polyviz.codegen.dtypes import C_TYPE_NAMES
from polyviz.codegen.redirect import into_copy
from polyviz.codegen.values_c import SUM
from polyviz.model.expression import Assign, Name

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from polyviz.codegen.accumulate_c import AccumulationPrinter
    from polyviz.codegen.arrays_c import ArrayPrinter
    from polyviz.codegen.expressions_c import CExpressionPrinter
    from polyviz.codegen.loops import For
    from polyviz.codegen.text import TextBuilder
    from polyviz.model.expression import Element, Instruction
    from polyviz.model.plan import ArraySum, Plan
    from polyviz.model.program import ArrayType, FloatingPoint

WORTH = 16
"""How many updates a cell of a copy must get on the average for the copy to pay."""
PITCH = 16
"""Copies begin this many cells apart or a multiple, so that no two threads write to one line of the cache."""
Bodies = dict[str, "Sequence[Instruction]"]
_Cells = tuple[str, str, str]
"""An array with the first of the cells that a loop adds into and their number: loops may differ in them."""


@dataclass(frozen=True, slots=True)
class _Copies:
    """The C names around the copies of one array."""

    array: str
    own: str
    copies: str
    pitch: str
    kind: str
    lower: str
    extent: str
    is_single: bool

    def copy(self, thread: str) -> str:
        """Where the copy of ``thread`` begins; the first one has none."""
        return f"{self.copies} + ({thread} - 1) * {self.pitch}"


class ArraySumPrinter:
    """Prints the ``reduced`` loops of a plan; ``dtypes`` gets the types of the copies.

    ``notes`` says which of them stay on one thread. ``smallest_work``: below so many instances threads do not pay.
    """

    def __init__(
        self,
        plan: Plan,
        types: Mapping[str, ArrayType],
        dtypes: dict[str, str],
        arrays: ArrayPrinter,
        printer: CExpressionPrinter,
        text: TextBuilder,
        floating_point: FloatingPoint,
        smallest_work: int,
        bodies: Mapping[str, Sequence[Instruction]],
    ) -> None:
        self.plan = plan
        self.bodies = bodies
        self.dtypes = dtypes
        self.arrays = arrays
        self.printer = printer
        self.text = text
        self.smallest_work = smallest_work
        self.notes: list[str] = []
        self.used = False
        self.sums: dict[str, list[ArraySum]] = {}
        for found in plan.array_sums:
            self.sums.setdefault(found.mark, []).append(found)
        for mark, sums in list(self.sums.items()):
            reason = _refusal(sums, types, floating_point, bodies)
            if reason:
                del self.sums[mark]
                names = " and ".join(found.array for found in sums)
                self.notes.append(f"the loop that adds into {names} runs on one thread: {reason}")
        self.names: dict[_Cells, _Copies] = {}
        for found in chain.from_iterable(self.sums.values()):
            if _cells(found) not in self.names:
                self.names[_cells(found)] = self._names(found)
        self.threads = arrays.added("threads") if self.sums else ""
        self.thread = arrays.added("thread") if self.sums else ""
        self.cell = arrays.added("cell") if self.sums else ""
        self.share = tuple(arrays.added(f"{end}_of_share") for end in ("start", "stop")) if self.sums else ()

    def write(
        self,
        loop: For,
        bodies: Bodies,
        indent: int,
        scheduling: str,
        print_loop: Callable[[Bodies, For, int], None],
        folds: AccumulationPrinter,
    ) -> None:
        """The team of threads around ``loop``, which ``print_loop`` writes with other ``bodies``; or, of what ``folds``
        knows, the share of one thread."""
        self.used = True
        sums = self.sums[loop.reduced]
        self._line(indent, "{")
        self._allocate(loop.reduced, sums, indent + 1)
        self._line(indent + 1, f"#pragma omp parallel num_threads({self.threads})")
        self._line(indent + 1, "{")
        self._line(indent + 2, f"const int64_t {self.thread} = omp_get_thread_num();")
        for names in map(self._of, sums):
            self._line(indent + 2, self._own(names))
        own = {
            found.statement: into_copy(found, bodies[found.statement], self._of(found).own) for found in sums
        }
        inside = {**bodies, **own}
        if (share := self._own_share(loop, inside, folds)) is not None:
            self._divide(loop, indent + 2)
            print_loop(inside, share, indent + 2)
        else:
            self._line(indent + 2, f"#pragma omp for schedule({scheduling})")
            print_loop(inside, loop, indent + 2)
        for names in map(self._of, sums):
            if names.is_single:
                self._line(indent + 2, f"if ({self.thread}) *({names.copy(self.thread)}) = {names.own};")
                self._line(indent + 2, f"else {names.array} += {names.own};")
        self._line(indent + 1, "}")
        self._combine(sums, indent + 1)
        self._line(indent, "}")

    def _own(self, names: _Copies) -> str:
        """What a thread adds into."""
        if names.is_single:
            return f"{names.kind} {names.own} = 0;"
        first = f"{names.array} + {names.lower}" if names.lower != "0" else names.array
        return f"{names.kind} *restrict {names.own} = {self.thread} ? {names.copy(self.thread)} : {first};"

    def _own_share(self, loop: For, bodies: Bodies, folds: AccumulationPrinter) -> For | None:
        """What one thread runs, where the loop only folds: neighbouring iterations, one by one."""
        start, stop = self.share
        alone = replace(loop, start=Name(start), stop=Name(stop), reduced="")
        return alone if loop.step == 1 and folds.fold(alone, bodies) is not None else None

    def _divide(self, loop: For, indent: int) -> None:
        """Where the share of a thread starts and stops."""
        start, stop = (self.printer.value(bound).within(SUM) for bound in (loop.start, loop.stop))
        taken = self.printer.value(loop.start).within(SUM + 1)  # a sum that is taken away stays together
        length = f"({stop} > {start} ? {stop} - {taken} : 0)" if start != "0" else f"({stop} > 0 ? {stop} : 0)"
        for name, turn in zip(self.share, (self.thread, f"({self.thread} + 1)"), strict=True):
            part = f"{length} * {turn} / omp_get_num_threads()"
            self._line(indent, f"const int64_t {name} = {part if start == '0' else f'{start} + {part}'};")

    def _allocate(self, mark: str, sums: Sequence[ArraySum], indent: int) -> None:
        for names in map(self._of, sums):
            if names.is_single:
                continue
            self._line(
                indent, f"const int64_t {names.pitch} = ({names.extent} + {PITCH - 1}) / {PITCH} * {PITCH};"
            )
        work = self._work(mark)
        enough = [f"{work} > {self.smallest_work}"]
        enough += [f"{work} > {WORTH} * {names.pitch}" for names in map(self._of, sums) if not names.is_single]
        condition = " && ".join(enough)
        self._line(indent, f"int64_t {self.threads} = {condition} ? omp_get_max_threads() : 1;")
        for names in map(self._of, sums):
            size = f"({self.threads} - 1) * {names.pitch}"
            memory = f"calloc({size}, sizeof({names.kind}))"
            self._line(indent, f"{names.kind} *{names.copies} = {self.threads} > 1 ? {memory} : NULL;")
        missing = " || ".join(f"!{names.copies}" for names in map(self._of, sums))
        self._line(indent, f"if ({missing}) {self.threads} = 1;")

    def _combine(self, sums: Sequence[ArraySum], indent: int) -> None:
        for names in map(self._of, sums):
            first = f"{names.lower} + {self.cell}" if names.lower != "0" else self.cell
            copy = f"{names.copies}[({self.thread} - 1) * {names.pitch} + {self.cell}]"
            outer = f"int64_t {self.thread} = 1; {self.thread} < {self.threads}; {self.thread}++"
            if names.is_single:
                self._line(indent, f"for ({outer})")
                self._line(indent + 1, f"{names.array} += *({names.copy(self.thread)});")
                self._line(indent, f"free({names.copies});")
                continue
            inner = f"int64_t {self.cell} = 0; {self.cell} < {names.extent}; {self.cell}++"
            self._line(indent, f"for ({outer})")
            self._line(indent + 1, f"for ({inner})")
            self._line(indent + 2, f"{names.array}[{first}] += {copy};")
            self._line(indent, f"free({names.copies});")

    def _work(self, mark: str) -> str:
        extents = [extent for work in self.plan.work if work.mark == mark for extent in work.extents]
        return self.printer.expression(box_size(extents))

    def _of(self, found: ArraySum) -> _Copies:
        return self.names[_cells(found)]

    def _names(self, found: ArraySum) -> _Copies:
        own = self.arrays.added(f"{found.array}_own")
        self.dtypes[own] = self.dtypes[found.array]
        if found.rank:
            self.arrays.stands_for[own] = found.array
        lower = self.printer.value(bound_expression(found.lower))
        bound = None if found.extent is None else self.printer.value(bound_expression(found.extent))
        return _Copies(
            array=self.arrays.identifier(_target(found, self.bodies).array),
            own=own,
            copies=self.arrays.added(f"{found.array}_copies"),
            pitch=self.arrays.added(f"{found.array}_pitch") if found.rank else str(PITCH),
            kind=C_TYPE_NAMES[self.dtypes[found.array]],
            lower=lower.within(13),
            extent=self.arrays.extent(found.array) if bound is None else bound.within(13),
            is_single=found.rank == 0,
        )

    def _line(self, indent: int, line: str) -> None:
        self.text.add(indent, line)


def _cells(found: ArraySum) -> _Cells:
    return found.array, str(found.lower), str(found.extent)


def _target(found: ArraySum, bodies: Mapping[str, Sequence[Instruction]]) -> Element:
    """What the sum is added into, a private copy perhaps."""
    update = bodies[found.statement][0]
    assert isinstance(update, Assign)
    return update.target


def _is_kept(found: ArraySum, bodies: Mapping[str, Sequence[Instruction]]) -> bool:
    """Whether a single number has a cell for every iteration of a loop around, or more than adding happens to it."""
    return not found.rank and (len(bodies[found.statement]) > 1 or bool(_target(found, bodies).subscripts))


def _refusal(
    sums: Sequence[ArraySum],
    types: Mapping[str, ArrayType],
    floating_point: FloatingPoint,
    bodies: Mapping[str, Sequence[Instruction]],
) -> str:
    """Why threads cannot add into copies; empty where they can."""
    if floating_point == "strict":
        return "the strict contract keeps the order of sums"
    if any(_is_kept(found, bodies) for found in sums):
        return "values of several iterations of a loop around it are kept"
    strided = [found.array for found in sums if found.rank and types[found.array].layout != "C"]
    return f"the cells of {' and '.join(strided)} do not lie side by side in memory" if strided else ""
