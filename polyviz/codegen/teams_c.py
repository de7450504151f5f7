"""Teams of threads in C: parallel loops whose threads keep buffers and copies of arrays of their own.

    float (*t_shared)[n] = t;
    float (*t_copies)[n] = …;  // one after the other
    #pragma omp parallel num_threads(threads)
    {
        #pragma omp for schedule(dynamic)
        for (int64_t r = 0; r < m; r++) {
            float (*restrict t)[n] = t_copies && r + 1 < m ? t_copies + omp_get_thread_num() * t_copy_rows : t_shared;
            …
        }
    }

Inside the loop the array has its own name, and whatever is printed there uses the copy. The last iteration works on the
array itself. So does a single thread, or one for which there was no memory.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from polyviz.codegen.bodies import bound_expression, work_of
from polyviz.codegen.loops import Block
from polyviz.model.program import ProgramArgument

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from polyviz.codegen.arrays_c import ArrayPrinter
    from polyviz.codegen.blocks_c import BlockPrinter
    from polyviz.codegen.expressions_c import CExpressionPrinter
    from polyviz.codegen.loops import For, LoopNode
    from polyviz.codegen.text import TextBuilder
    from polyviz.model.plan import Plan
    from polyviz.model.scop import Scop

APART = 16
"""Copies are this many rows longer than the array, so that no two threads write to one line of the cache."""


@dataclass(frozen=True, slots=True)
class _Copies:
    """The C names around the copies of one array; ``pointer`` declares what points to one, around its name."""

    array: str
    shared: str
    copies: str
    rows: str
    pointer: tuple[str, str]
    extent: str

    def declared(self, name: str) -> str:
        """The declaration of ``name`` as a pointer to such cells."""
        return name.join(self.pointer)


class TeamPrinter:
    """Prints the parallel loops of a plan whose threads keep something of their own; ``used``: some have copies of
    arrays, and need to know which thread they are."""

    def __init__(
        self,
        scop: Scop,
        plan: Plan,
        dtypes: dict[str, str],
        arrays: ArrayPrinter,
        printer: CExpressionPrinter,
        text: TextBuilder,
        blocks: BlockPrinter,
    ) -> None:
        self.scop = scop
        self.plan = plan
        self.dtypes = dtypes
        self.arrays = arrays
        self.printer = printer
        self.text = text
        self.blocks = blocks
        self.used = False
        found = {work.mark: work.copies for work in plan.work if work.copies}
        self.copies = {mark: [self._names(array) for array in names] for mark, names in found.items()}
        self.threads = arrays.added("threads") if found else ""

    def together(
        self, node: Block | For, least: int, indent: int, print_node: Callable[[LoopNode, int], None]
    ) -> None:
        """All threads run the loops of ``node`` together, pack what they share, and divide the blocks."""
        mark = self.blocks.team(node)
        assert mark is not None
        condition = self.blocks.team_condition(mark, least)
        own = [] if mark in self.blocks.lasting else [mark]
        self.text.add(indent, "{")
        self.blocks.allocate(own, indent + 1, shared=True)
        comment = "/* All threads run these loops: they pack together what all blocks read. */"
        for line in (comment, f"#pragma omp parallel if ({condition})", "{"):
            self.text.add(indent + 1, line)
        self.blocks.allocate([mark], indent + 2, shared=False)
        for child in node.children if isinstance(node, Block) else (node,):
            print_node(child, indent + 2)
        self.blocks.release([mark], indent + 2, shared=False)
        self.text.add(indent + 1, "}")
        self.blocks.release(own, indent + 1, shared=True)
        self.text.add(indent, "}")

    def write(
        self,
        loop: For,
        marks: Sequence[str],
        scheduling: str,
        least: int,
        indent: int,
        print_loop: Callable[[For, int], None],
    ) -> None:
        """The team that shares ``loop``, which ``print_loop`` writes; ``marks`` are the blocks in it.

        Where it has no more than ``least`` statement instances one thread does them all.
        """
        copies = self.copies.get(loop.parallel, [])
        size = work_of(self.plan, loop.parallel)
        enough = "" if size is None else f"{self.printer.expression(size)} > {least}"
        clause = f" if ({enough})" if enough else ""
        if copies:
            self.used = True
            self.text.add(indent, "{")
            indent += 1
            self._allocate(copies, enough, indent)
            clause = f" num_threads({self.threads})"
        self.text.add(indent, f"#pragma omp parallel{clause}")
        self.text.add(indent, "{")
        self.blocks.allocate(marks, indent + 1)
        self.text.add(indent + 1, f"#pragma omp for schedule({scheduling})")
        print_loop(loop, indent + 1)
        self.blocks.release(marks, indent + 1)
        self.text.add(indent, "}")
        for names in copies:
            self.text.add(indent, f"free({names.copies});")
        if copies:
            self.text.add(indent - 1, "}")

    def own_arrays(self, loop: For) -> list[str]:
        """Lines at the top of the body of ``loop``: what a thread works on in this iteration."""
        if loop.parallel not in self.copies:
            return []
        others = f"{loop.iterator} + {loop.step} < {self.printer.bound(loop.stop)}"
        return [
            f"{names.declared(f'restrict {names.array}')} = {names.copies} && {others} ? "
            f"{names.copies} + omp_get_thread_num() * {names.rows} : {names.shared};"
            for names in self.copies[loop.parallel]
        ]

    def _allocate(self, copies: Sequence[_Copies], enough: str, indent: int) -> None:
        self.printer.helpers.add("memory_for")
        several = f"{enough} ? omp_get_max_threads() : 1" if enough else "omp_get_max_threads()"
        self.text.add(indent, f"int64_t {self.threads} = {several};")
        for names in copies:
            size = f"{self.threads} * {names.rows} * sizeof(*{names.copies})"
            self.text.add(indent, f"{names.declared(names.shared)} = {names.array};")
            self.text.add(indent, f"const int64_t {names.rows} = {names.extent} + {APART};")
            memory = f"{self.threads} > 1 ? memory_for({size}) : NULL"
            self.text.add(indent, f"{names.declared(names.copies)} = {memory};  // one for each thread")
        missing = " || ".join(f"!{names.copies}" for names in copies)
        self.text.add(indent, f"if ({missing}) {self.threads} = 1;")

    def _names(self, name: str) -> _Copies:
        array = self.scop.array(name)
        declared = self.arrays.declaration(ProgramArgument("array", name, self.dtypes[name]))
        spelled = self.arrays.identifier(name)
        before, _, after = declared.partition(f"restrict {spelled}")
        extent = array.extents[0]
        assert extent is not None
        return _Copies(
            array=spelled,
            shared=self.arrays.added(f"{name}_shared"),
            copies=self.arrays.added(f"{name}_copies"),
            rows=self.arrays.added(f"{name}_copy_rows"),
            pointer=(before, after),
            extent=self.printer.value(bound_expression(extent)).within(13),
        )
