"""Innermost loops that are simpler but at their ends: in parts, after the remainders that stand still in them."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from polyviz.codegen.decided import without_decided
from polyviz.codegen.loops import instances
from polyviz.codegen.quotients import quotients_in
from polyviz.codegen.wraps import fixed_remainders, parts_of, replaced
from polyviz.model.expression import Expression, Instruction, Name
from polyviz.model.unused_names import unused_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, MutableMapping, Sequence

    from polyviz.codegen.arrays_c import ArrayPrinter
    from polyviz.codegen.expressions_c import CExpressionPrinter
    from polyviz.codegen.loops import For
    from polyviz.codegen.text import TextBuilder
    from polyviz.codegen.typing import Environment
    from polyviz.codegen.wraps import Parts
    from polyviz.model.plan import Inside, Plan
    from polyviz.model.scop import Scop, Statement

    Bodies = MutableMapping[str, Sequence[Instruction]]
    Values = Mapping[str, Mapping[Expression, Expression]]


@dataclass(frozen=True, slots=True)
class Spelling:
    """How a language is written: ``environment`` types what is in bodies, ``expression`` prints a value and ``added``
    gives a name that the text has not yet. ``definition`` is the line that gives a value to a name, inside braces of
    its own if it is ``scoped``."""

    environment: Environment
    expression: Callable[[Expression], str]
    added: Callable[[str], str]
    definition: str
    scoped: bool


def spelling_of_c(printer: CExpressionPrinter, arrays: ArrayPrinter) -> Spelling:
    """The words of C."""
    words = (printer.environment, printer.expression, arrays.added)
    return Spelling(*words, definition="const int64_t {} = {};", scoped=True)


class PeriodicPrinter:
    """Prints innermost loops in parts, as the plan knows them to be simpler in between; ``plain`` and ``inside`` print
    a loop without that, with the bodies that they find changed: ``inside`` most of the iterations."""

    def __init__(
        self,
        scop: Scop,
        plan: Plan,
        text: TextBuilder,
        spelling: Spelling,
        plain: Callable[[For, int], None],
        inside: Callable[[For, int], None],
    ) -> None:
        self.scop = scop
        self.known = tuple(_as_printed(scop.statement(one.statement), one) for one in plan.periodic)
        self.text = text
        self.spelling = spelling
        self.plain = plain
        self.inside = inside

    def write(self, node: For, bodies: Bodies, indent: int) -> bool:
        """Print ``node`` in parts, where it has some."""
        names = dict.fromkeys(one.statement for one in instances(node))
        known = [one for one in self.known if one.statement in names]
        parts = parts_of(self.scop, node, known) if known and all(name in bodies for name in names) else None
        if parts is None:
            return False
        fixed = fixed_remainders(self.scop, node, bodies)
        has_braces = bool(fixed) and self.spelling.scoped
        inside = indent + has_braces
        if has_braces:
            self.text.add(indent, "{")
        with _with_values(self._named(fixed, inside), bodies):
            self._write(parts, bodies, inside)
        if has_braces:
            self.text.add(indent, "}")
        return True

    def _write(self, parts: Parts, bodies: Bodies, indent: int) -> None:
        if parts.first is not None:
            self.plain(parts.first, indent)
        with _with_values(parts.values, bodies):
            for name in parts.values:
                bodies[name] = without_decided(bodies[name], self.spelling.environment)
            self.inside(parts.inside, indent)
        if parts.last is not None:
            self.plain(parts.last, indent)

    def _named(self, fixed: Mapping[tuple[str, Expression], Expression], indent: int) -> Values:
        """Variables for remainders that stand still; the same for those that have the same value."""
        names: dict[Expression, Name] = {}
        values: dict[str, dict[Expression, Expression]] = {}
        for (statement, written), value in fixed.items():
            if value not in names:
                names[value] = Name(self._name(len(names)))
                text = self.spelling.expression(value)
                self.text.add(indent, self.spelling.definition.format(names[value].name, text))
            values.setdefault(statement, {})[written] = names[value]
        return values

    def _name(self, number: int) -> str:
        """A name that no loop has."""
        iterators = {iterator for statement in self.scop.statements for iterator in statement.iterators}
        return self.spelling.added(unused_name(f"wrapped{number}", iterators.__contains__))


def _as_printed(statement: Statement, one: Inside) -> Inside:
    """``one`` with quotients as bodies have them."""
    written, inside = (quotients_in(statement, node) for node in (one.written, one.inside))
    assert isinstance(written, Expression)
    assert isinstance(inside, Expression)
    return replace(one, written=written, inside=inside)


@contextmanager
def _with_values(values: Values, bodies: Bodies) -> Iterator[None]:
    """While this lasts, the bodies have ``values`` for what is written in them."""
    before = {name: bodies[name] for name in values}
    for name, body in before.items():
        changed = (replaced(line, values[name]) for line in body)
        bodies[name] = tuple(line for line in changed if isinstance(line, Instruction))
    yield
    bodies.update(before)
