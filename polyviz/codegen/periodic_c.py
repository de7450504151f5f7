"""Vector loops over periodic subscripts in C: three parts, after the remainders that stand still in them."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from polyviz.codegen.bodies import placed_body
from polyviz.codegen.loops import instances
from polyviz.codegen.wraps import fixed_remainders, parts_of, replaced, wraps_in
from polyviz.model.expression import Name
from polyviz.model.unused_names import unused_name

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from polyviz.codegen.arrays_c import ArrayPrinter
    from polyviz.codegen.expressions_c import CExpressionPrinter
    from polyviz.codegen.loops import For, Instance
    from polyviz.codegen.text import TextBuilder
    from polyviz.model.expression import Expression, Instruction
    from polyviz.model.scop import Scop


class PeriodicPrinter:
    """Prints vector loops over ``statements``, whose subscripts wrap around; ``plain`` and ``vector`` print a loop
    without that, ``bodies`` tells what a statement does at this place: threads that add into copies do it to theirs."""

    def __init__(
        self,
        scop: Scop,
        statements: tuple[str, ...],
        bodies: Callable[[str], Sequence[Instruction]],
        arrays: ArrayPrinter,
        printer: CExpressionPrinter,
        text: TextBuilder,
        plain: Callable[[For, int], None],
        vector: Callable[..., None],
    ) -> None:
        self.scop = scop
        self.statements = frozenset(statements)
        self.bodies = bodies
        self.arrays = arrays
        self.printer = printer
        self.text = text
        self.plain = plain
        self.vector = vector
        self.values: dict[Expression, Expression] = {}

    def body(self, node: Instance) -> list[Instruction]:
        """What one instance does at its place, with what is known of the remainders in its subscripts."""
        statement = self.scop.statement(node.statement)
        body = placed_body(statement, self.bodies(node.statement), node.arguments)
        return [cast("Instruction", replaced(line, self.values)) for line in body] if self.values else body

    def write(self, node: For, indent: int) -> bool:
        """Print ``node`` in parts if it is a vector loop, or one that threads share, whose subscripts wrap around."""
        wanted = (node.vector or node.parallel) and any(one.statement in self.statements for one in instances(node))
        wraps = wraps_in(node, self.body) if wanted else ()
        if not wraps:
            return False
        fixed = fixed_remainders(node, self.body)
        first, inside, last = parts_of(node, wraps)
        self.text.add(indent, "{")
        self.values = {value: Name(self._named(number)) for number, value in enumerate(fixed)}
        for value, name in self.values.items():
            line = f"const int64_t {self.printer.expression(name)} = {self.printer.expression(value)};"
            self.text.add(indent + 1, line)
        known = dict(self.values)
        self.plain(first, indent + 1)
        self.values |= {wrap.remainder: wrap.value for wrap in wraps}
        self.vector(inside, indent + 1, regular=True)
        self.values = known
        self.plain(last, indent + 1)
        self.values = {}
        self.text.add(indent, "}")
        return True

    def _named(self, number: int) -> str:
        """A name that no loop has."""
        iterators = {iterator for statement in self.scop.statements for iterator in statement.iterators}
        return self.arrays.added(unused_name(f"wrapped{number}", iterators.__contains__))
