"""Loops that threads share although their iterations add into the same cells, for numba.

``prange`` runs over the threads; each takes a run of neighbouring iterations and adds into its own row of a table of
copies. Behind the loop the rows are added in the order of the threads.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from polyviz.codegen.bodies import bound_expression
from polyviz.codegen.dtypes import numpy_name
from polyviz.codegen.redirect import into_copy
from polyviz.model.expression import Binary, Call, Constant, Expression, Name

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from polyviz.codegen.expressions_python import PythonExpressionPrinter
    from polyviz.codegen.identifiers import Identifiers
    from polyviz.codegen.loops import For
    from polyviz.codegen.text import TextBuilder
    from polyviz.model.expression import Instruction
    from polyviz.model.plan import ArraySum, Plan


class NumbaArraySums:
    """Prints what stands around the ``reduced`` loops of a plan; ``sums`` holds them by mark."""

    def __init__(
        self,
        plan: Plan,
        dtypes: Mapping[str, str],
        identifiers: Identifiers,
        printer: PythonExpressionPrinter,
        text: TextBuilder,
    ) -> None:
        self.dtypes = dtypes
        self.identifiers = identifiers
        self.printer = printer
        self.text = text
        self.sums: dict[str, list[ArraySum]] = {}
        for found in plan.array_sums:
            self.sums.setdefault(found.mark, []).append(found)
        # All names are asked for now, so that no loop variable gets them.
        self.names = {
            found.array: tuple(identifiers.derived(f"{found.array}_{ending}") for ending in ("own", "copies"))
            for found in plan.array_sums
        }
        words = ("threads", "thread", "number", "cell") if self.sums else ()
        self.words = {word: identifiers.derived(word) for word in words}

    def start(self, loop: For, indent: int) -> None:
        """The copies, and the two loops that share out the iterations of ``loop``."""
        threads, thread, number = (self.words[word] for word in ("threads", "thread", "number"))
        sums = self.sums[loop.reduced]
        self._line(indent, f"{threads} = numba.get_num_threads()")
        for found in sums:
            own, copies = self.names[found.array]
            kind = numpy_name(self.dtypes[found.array])
            self._line(indent, f"{copies} = np.zeros(({threads}, {self._extent(found)}), dtype=np.{kind})")
        self._line(indent, f"for {number} in numba.prange({threads}):")
        self._line(indent + 1, f"{thread} = np.int64({number})")
        for found in sums:
            own, copies = self.names[found.array]
            self._line(indent + 1, f"{own} = {copies}[{thread}]")
        after: Expression = Binary("+", Name(thread), Constant(1))
        first, last = (self._share(loop, share) for share in (Name(thread), after))
        self._line(indent + 1, f"for {loop.iterator} in range({first}, {last}):")

    def finish(self, loop: For, indent: int) -> None:
        """The copies added up."""
        threads, thread, cell = (self.words[word] for word in ("threads", "thread", "cell"))
        for found in self.sums[loop.reduced]:
            lower = bound_expression(found.lower)
            place: Expression = Name(cell) if lower == Constant(0) else Binary("+", lower, Name(cell))
            array = self.identifiers.of(found.array)
            self._line(indent, f"for {thread} in range({threads}):")
            self._line(indent + 1, f"for {cell} in range({self._extent(found)}):")
            copy = f"{self.names[found.array][1]}[{thread}, {cell}]"
            self._line(indent + 2, f"{array}[{self.printer.expression(place)}] += {copy}")

    def bodies(
        self, loop: For, bodies: Mapping[str, Sequence[Instruction]]
    ) -> dict[str, Sequence[Instruction]]:
        """``bodies`` inside ``loop``, where sums go into a thread's own copies."""
        own = {
            found.statement: into_copy(found, bodies[found.statement], self.names[found.array][0])
            for found in self.sums[loop.reduced]
        }
        return {**bodies, **own}

    def _share(self, loop: For, number: Expression) -> str:
        """Where the share of one thread begins."""
        length = loop.stop if loop.start == Constant(0) else Binary("-", loop.stop, loop.start)
        positive = Call("max", (Constant(0), length))
        share = Binary("//", Binary("*", positive, number), Name(self.words["threads"]))
        return self.printer.expression(share if loop.start == Constant(0) else Binary("+", loop.start, share))

    def _extent(self, found: ArraySum) -> str:
        if found.extent is None:
            return f"{self.identifiers.of(found.array)}.shape[0]"
        return self.printer.expression(Call("max", (Constant(0), bound_expression(found.extent))))

    def _line(self, indent: int, line: str) -> None:
        self.text.add(indent, line)


def copies_allowed(loop: For, known: Mapping[str, Sequence[ArraySum]]) -> bool:
    """Whether ``loop`` can be cut into one run of iterations per thread."""
    return loop.reduced in known and loop.step == 1
