"""Temporaries with copies: variables and windows that a block declares, and arrays of one copy per iteration."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from polyviz.codegen.bodies import bound_expression, private_name
from polyviz.codegen.dtypes import C_TYPE_NAMES
from polyviz.codegen.loops import instances
from polyviz.codegen.ranges import narrowest
from polyviz.codegen.windows import counted_from
from polyviz.model.expression import Call, Constant, Element, walk
from polyviz.model.program import NO_MEMORY

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from polyviz.codegen.arrays_c import ArrayPrinter
    from polyviz.codegen.expressions_c import CExpressionPrinter
    from polyviz.codegen.loops import Block, For
    from polyviz.model.expression import Instruction
    from polyviz.model.plan import Expansion, Plan
    from polyviz.model.scop import Scop


class TemporaryPrinter:
    """Prints how the temporaries of one function come and go; ``bodies`` are its statements by name."""

    def __init__(
        self,
        scop: Scop,
        plan: Plan,
        bodies: dict[str, Sequence[Instruction]],
        dtypes: Mapping[str, str],
        arrays: ArrayPrinter,
        printer: CExpressionPrinter,
    ) -> None:
        self.scop = scop
        self.windows = {expansion.array: expansion.window for expansion in plan.expansions}
        self.windowed = [expansion for expansion in plan.expansions if expansion.window]
        self.expansions = [expansion for expansion in plan.expansions if not expansion.window]
        self.bodies = bodies
        self.dtypes = dtypes
        self.arrays = arrays
        self.printer = printer

    @contextmanager
    def inside(self, loop: For) -> Iterator[None]:
        """While what is below ``loop`` is printed, cells of windows count from its iterator where they may."""
        changed = counted_from(loop, self.scop, self.windowed, self.bodies)
        before = {name: self.bodies[name] for name in changed}
        self.bodies.update(changed)
        yield
        self.bodies.update(before)

    def declarations(self, block: Block) -> list[str]:
        """A line for each private copy that ``block`` declares and that some statement in it uses."""
        used = {
            part.array
            for instance in instances(block)
            if instance.statement in self.bodies
            for instruction in self.bodies[instance.statement]
            for part in walk(instruction)
            if isinstance(part, Element)
        }
        copies = [(name, private_name(self.scop, name)) for name in block.declares]
        return [self._declaration(name, copy) for name, copy in copies if copy in used]

    def _declaration(self, name: str, copy: str) -> str:
        values = self.printer.ranges.get(copy)
        kind = C_TYPE_NAMES[self.dtypes[copy] if values is None else narrowest(values).name]
        window = self.windows.get(name, 0)
        return f"{kind} {self.arrays.identifier(copy)}{f'[{window}]' if window else ''};"

    def allocations(self) -> list[str]:
        """Lines that ask for all the memory; the first line that can give up comes after them."""
        names = [self._copies(expansion) for expansion in self.expansions]
        lines = [line for expansion in self.expansions for line in self._allocation(expansion)]
        if len(names) < 2:
            return [*lines, *(f"if (!{name}) return {NO_MEMORY};" for name in names)]
        lines.append(f"if ({' || '.join(f'!{name}' for name in names)}) {{")
        lines += [f"    {release}" for release in self.releases()]
        return [*lines, f"    return {NO_MEMORY};", "}"]

    def releases(self) -> list[str]:
        """Lines that give it back."""
        names = [self._copies(expansion) for expansion in self.expansions]
        return [f"leave_memory(&{self._kept(name)}, {name});" for name in names]

    def _kept(self, name: str) -> str:
        """What keeps the memory of the copies called ``name`` from one call to the next."""
        return self.arrays.added(f"{name}_kept")

    def _copies(self, expansion: Expansion) -> str:
        return self.arrays.identifier(private_name(self.scop, expansion.array))

    def _allocation(self, expansion: Expansion) -> list[str]:
        name = self._copies(expansion)
        kind = C_TYPE_NAMES[self.dtypes[private_name(self.scop, expansion.array)]]
        lines, extents = [], []
        for axis, extent in enumerate(expansion.extents):
            # C has no arrays without elements.
            count = self.printer.expression(Call("max", (bound_expression(extent), Constant(1))))
            extents.append(self.arrays.added(f"{name}_extent{axis}"))
            lines.append(f"const int64_t {extents[-1]} = {count};")
        sizes = "".join(f"[{extent}]" for extent in extents)
        inner = "".join(f"[{extent}]" for extent in extents[1:])
        declared = f"(*restrict {name}){inner}" if inner else f"*restrict {name}"
        kept = self._kept(name)
        self.printer.helpers.update(("kept_memory", "leave_memory"))
        memory = f"kept_memory(&{kept}, sizeof({kind}{sizes}))"
        return [f"static void *{kept};", *lines, f"{kind} {declared} = {memory};  // one copy per iteration"]
