"""Vector loops without branches, in C: both values of a choice, and a store that keeps what was there.

    if (0 < n) {
        const double D_value = D[i][k];
        #pragma omp simd
        for (int64_t j = 0; j < n; j++) {
            D[i][j] = D_value + D[k][j] < D[i][j] ? D_value + D[k][j] : D[i][j];
        }
    }

A cell that is compared is there, and its statement counts as writing it whatever the comparison says: no other
iteration may touch it. Compilers leave a loop alone whose branch reads an array that it also stores to; for the same
reason cells of that array that stay where they are throughout the loop are loaded before it. No iteration writes them:
the others, which read them, would depend on it.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from polyviz.codegen.bodies import placed_body
from polyviz.codegen.dtypes import BOOL, C_TYPE_NAMES, type_named
from polyviz.codegen.loops import Block, Instance
from polyviz.codegen.steady_cells_c import SteadyCellPrinter
from polyviz.codegen.typing import infer
from polyviz.codegen.values_c import SUM
from polyviz.model.expression import Assign, Conditional, Element, Expression, Name, rebuild, walk
from polyviz.model.select import selection

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, MutableMapping, Sequence

    from polyviz.codegen.arrays_c import ArrayPrinter
    from polyviz.codegen.expressions_c import CExpressionPrinter
    from polyviz.codegen.loops import For, LoopNode
    from polyviz.codegen.text import TextBuilder
    from polyviz.model.expression import Instruction, Node
    from polyviz.model.plan import Plan
    from polyviz.model.scop import Scop


@dataclass(frozen=True, slots=True)
class Choice:
    """A vector loop that does nothing but ``body``; ``steady`` are the cells it loads before, by their variables."""

    instance: Instance
    body: Assign
    steady: Mapping[str, Element]


class SelectPrinter:
    """Finds the vector loops that choose; ``dtypes`` gets the types of the variables it adds."""

    def __init__(
        self,
        scop: Scop,
        plan: Plan,
        dtypes: dict[str, str],
        arrays: ArrayPrinter,
        printer: CExpressionPrinter,
        text: TextBuilder,
    ) -> None:
        self.scop = scop
        self.dtypes = dtypes
        self.arrays = arrays
        self.printer = printer
        self.text = text
        self.steady = SteadyCellPrinter(scop, dtypes, arrays, printer, text)
        self.wanted = plan.selects or ()
        for name in self.wanted:  # All names are asked for now, so that no loop variable gets them.
            for node in (part for line in scop.statement(name).body for part in walk(line)):
                if isinstance(node, Element) and node.subscripts:
                    self._variable(node.array, 0)

    def choice(self, loop: For, bodies: Mapping[str, Sequence[Instruction]]) -> Choice | None:
        """What the vector ``loop`` chooses, where that is all it does and is free to compute."""
        instance = _only_instance(loop.body)
        if instance is None or instance.statement not in self.wanted:
            return None
        statement = self.scop.statement(instance.statement)
        self.arrays.enter(statement)
        body = placed_body(statement, bodies[instance.statement], instance.arguments)
        chosen = selection(body[0]) if len(body) == 1 else None
        if chosen is None or not self._is_free(chosen):
            return None
        steady = self._steady(chosen, loop.iterator)
        if isinstance(body[0], Assign) and not steady:
            return None  # nothing to load before: a minimum is as well as it stands
        return Choice(instance, _with_variables(chosen, steady), steady)

    def free_choice(self, loop: For, bodies: Mapping[str, Sequence[Instruction]]) -> Choice | None:
        """The same for a loop that threads share, in front of which nothing can be loaded."""
        found = self.choice(loop, bodies)
        return None if found is None or found.steady else found

    @contextmanager
    def opened(
        self, loop: For, choice: Choice | None, bodies: MutableMapping[str, Sequence[Instruction]], indent: int
    ) -> Iterator[int]:
        """What stands around the loop, in braces of its own: where it is empty the cells may not even exist; how far
        the loop is indented. One that does not choose finds in ``bodies`` what it loads before."""
        if choice is None:
            with self.steady.loaded(loop, bodies, indent) as inside:
                yield inside
            return
        if not choice.steady:
            yield indent
            return
        start, stop = (self.printer.value(bound).within(SUM) for bound in (loop.start, loop.stop))
        self.text.add(indent, f"if ({start} < {stop}) {{")
        for name, cell in choice.steady.items():
            self.dtypes[name] = self.dtypes[cell.array]
            kind = C_TYPE_NAMES[self.dtypes[cell.array]]
            self.text.add(indent + 1, f"const {kind} {name} = {self.printer.expression(cell)};")
        yield indent + 1
        self.text.add(indent, "}")

    def _is_free(self, chosen: Assign) -> bool:
        """Whether the value may be computed in any case, and the cell's own value comes back as it was."""
        value = chosen.value
        assert isinstance(value, Conditional)
        parts = _parts(value)
        if not all(map(self.arrays.is_free, (chosen.target, *parts))):
            return False
        target = type_named(self.dtypes[chosen.target.array])
        both = infer(value, self.printer.environment)
        values = [infer(part, self.printer.environment) for part in parts[1::2]]
        if BOOL in (target, *values) or not all(one.is_real for one in (target, *values)):
            return all(found == target for found in values) and target.is_real
        # The type of all holds every value of the cell's, and numbers of one kind come back from it as they were.
        return all(target.is_integral == found.is_integral for found in (*values, both))

    def _steady(self, chosen: Assign, iterator: str) -> dict[str, Element]:
        array = chosen.target.array
        if not _mentions(chosen.target, iterator):
            return {}
        cells = {
            replace(node, span=None): node
            for node in walk(chosen.value)
            if isinstance(node, Element) and node.array == array and not _mentions(node, iterator)
        }
        return {self._variable(array, number): cell for number, cell in enumerate(cells)}

    def _variable(self, array: str, number: int) -> str:
        return self.arrays.added(f"{array}_value{number + 1 if number else ''}")


def _parts(value: Conditional) -> list[Expression]:
    """Each condition of a chain with the value it gives, and what comes of it where none holds twice."""
    other = value.otherwise
    rest = _parts(other) if isinstance(other, Conditional) else [other, other]
    return [value.condition, value.body, *rest]


def _with_variables(chosen: Assign, steady: Mapping[str, Element]) -> Assign:
    names = {cell: Element(name) for name, cell in steady.items()}

    def place(node: Node) -> Node:
        found = names.get(node) if isinstance(node, Element) else None
        return found if found is not None else rebuild(node, place)

    value = place(chosen.value)
    assert isinstance(value, Expression)
    return replace(chosen, value=value)


def _only_instance(node: LoopNode) -> Instance | None:
    while isinstance(node, Block) and len(node.children) == 1 and not node.declares:
        node = node.children[0]
    return node if isinstance(node, Instance) else None


def _mentions(element: Element, iterator: str) -> bool:
    return any(isinstance(part, Name) and part.name == iterator for part in walk(element))
