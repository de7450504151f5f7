"""Values that an assignment asks for several times, in C: constants in front of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from polyviz.codegen.dtypes import C_TYPE_NAMES
from polyviz.codegen.shared_values import share_values
from polyviz.codegen.typing import infer
from polyviz.model.expression import Binary, Expression, NotNegative
from polyviz.model.unused_names import unused_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from polyviz.codegen.arrays_c import ArrayPrinter
    from polyviz.codegen.expressions_c import CExpressionPrinter
    from polyviz.codegen.text import TextBuilder
    from polyviz.model.expression import Assign, Instruction
    from polyviz.model.scop import Scop, Statement


class SharedValuePrinter:
    """Prints bodies with such values named; ``dtypes`` gets the types of the constants that it adds."""

    def __init__(
        self,
        scop: Scop,
        dtypes: dict[str, str],
        arrays: ArrayPrinter,
        printer: CExpressionPrinter,
        text: TextBuilder,
    ) -> None:
        self.iterators = {iterator for statement in scop.statements for iterator in statement.iterators}
        self.dtypes = dtypes
        self.arrays = arrays
        self.printer = printer
        self.text = text

    def write(self, statement: Statement, body: Sequence[Instruction], indent: int) -> None:
        """``body``, which is what one instance of ``statement`` does."""
        self.arrays.enter(statement)
        self.printer.shared, before = self._constants, self.printer.shared
        comment = f"  // line {statement.span.line}: {statement.headline}"
        for number, line in enumerate(self.printer.instructions(body, 0)):
            self.text.add(indent, line + (comment if number == 0 else ""), statement)
        self.printer.shared = before

    def _constants(self, assign: Assign) -> tuple[list[str], Assign]:
        values, changed = share_values(assign, self._name, self._is_choice)
        lines = []
        for name, value in values.items():
            self.dtypes[name] = infer(value, self.printer.environment).name
            lines.append(f"const {C_TYPE_NAMES[self.dtypes[name]]} {name} = {self.printer.expression(value)};")
        return lines, changed

    def _name(self, number: int) -> str:
        """A name that no loop has."""
        return self.arrays.added(unused_name(f"shared{number}", self.iterators.__contains__))

    def _is_choice(self, node: Expression) -> bool:
        """Whether quotients and remainders are asked for that are corrected by a test of their signs."""
        return isinstance(node, Binary) and node.operator in ("//", "%") and not isinstance(node, NotNegative)
