"""What all lanes of a vector loop read in the short loops inside it, in C: loaded once, before the vector loop.

    if (1 < n) {
        double w_kept[3];
        for (int64_t k = 0; k < 3; k++)
            w_kept[k] = w[k];
        #pragma omp simd
        for (int64_t j = 1; j < n; j++) {
            double s = 0;
            for (int64_t k = 0; k < 3; k++)
                s += A[i][j + k] * w_kept[k];
            B[i][j] = s;
        }
    }

The weights of a window are the same for all cells. In a loop that threads share, compilers forget that arrays do not
overlap, and load every weight again for each vector of cells, since one might have been stored over it.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING

from polyviz.codegen.bodies import placed_body
from polyviz.codegen.calling import is_checked
from polyviz.codegen.dtypes import C_TYPE_NAMES
from polyviz.codegen.loops import Block, For, Instance, instances
from polyviz.codegen.values_c import SUM
from polyviz.codegen.wraps import replaced
from polyviz.model.expression import Assign, Binary, Constant, Element, Instruction, Name, walk

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, MutableMapping, Sequence

    from polyviz.codegen.arrays_c import ArrayPrinter
    from polyviz.codegen.expressions_c import CExpressionPrinter
    from polyviz.codegen.loops import LoopNode
    from polyviz.codegen.text import TextBuilder
    from polyviz.model.expression import Expression
    from polyviz.model.program import ArrayType
    from polyviz.model.scop import Scop, Statement

MOST = 16
"""Values of one window: more of them are not all in registers."""


@dataclass(frozen=True, slots=True)
class Kept:
    """The variable ``name`` with what ``element`` of ``statement`` is in the iterations of ``loops``, whose iterators
    the statement calls ``iterators``; ``placed`` is the element as the loops call them."""

    name: str
    statement: Statement
    element: Element
    placed: Element
    loops: tuple[For, ...]
    iterators: tuple[str, ...]

    def at(self, iterators: Sequence[str]) -> Element:
        """One of its values, by what the ``iterators`` of the loops are called."""
        return Element(self.name, tuple(map(_from_zero, self.loops, iterators)))


class WindowPrinter:
    """Prints what stands before such loops; ``dtypes`` gets the types of the variables that it adds."""

    def __init__(
        self,
        scop: Scop,
        types: Mapping[str, ArrayType],
        dtypes: dict[str, str],
        arrays: ArrayPrinter,
        printer: CExpressionPrinter,
        text: TextBuilder,
    ) -> None:
        self.scop = scop
        self.types = types
        self.dtypes = dtypes
        self.arrays = arrays
        self.printer = printer
        self.text = text

    @contextmanager
    def kept(
        self, loop: For, bodies: MutableMapping[str, Sequence[Instruction]], indent: int
    ) -> Iterator[int]:
        """While this lasts, ``loop`` is printed with what its windows share in variables; how far it is indented."""
        found = self._found(loop, bodies)
        if not found:
            yield indent
            return
        start, stop = (self.printer.value(bound).within(SUM) for bound in (loop.start, loop.stop))
        # Where there are no cells the window may not be there.
        self.text.add(indent, f"if ({start} < {stop}) {{")
        for one in found:
            self._load(one, indent + 1)
        before = {one.statement.name: bodies[one.statement.name] for one in found}
        for one in found:
            body = bodies[one.statement.name]
            bodies[one.statement.name] = _with(body, one.element, one.at(one.iterators))
        yield indent + 1
        bodies.update(before)
        self.text.add(indent, "}")

    def _load(self, one: Kept, indent: int) -> None:
        dtype = self.dtypes[one.element.array]
        sizes = "".join(f"[{_length(loop)}]" for loop in one.loops)
        self.text.add(indent, f"{C_TYPE_NAMES[dtype]} {one.name}{sizes};")
        for depth, loop in enumerate(one.loops):
            name, start, stop = loop.iterator, *map(self.printer.expression, (loop.start, loop.stop))
            self.text.add(indent + depth, f"for (int64_t {name} = {start}; {name} < {stop}; {name}++)")
        self.arrays.enter(one.statement)
        target = self.printer.expression(one.at([loop.iterator for loop in one.loops]))
        self.text.add(indent + len(one.loops), f"{target} = {self.printer.expression(one.placed)};")

    def _found(self, loop: For, bodies: Mapping[str, Sequence[Instruction]]) -> list[Kept]:
        names = [instance.statement for instance in instances(loop)]
        if len(set(names)) < len(names):
            return []  # a body stands for one place only
        written = {
            part.target.array
            for name in names
            for line in bodies[name]
            for part in walk(line)
            if isinstance(part, Assign)
        }
        found: list[Kept] = []
        for instance, around in _placed(loop.body, ()):
            found += self._of(instance, around, loop.iterator, bodies[instance.statement], written, len(found))
        return found

    def _of(
        self,
        instance: Instance,
        around: tuple[For, ...],
        lane: str,
        body: Sequence[Instruction],
        written: set[str],
        number: int,
    ) -> list[Kept]:
        """What ``instance`` reads in the short loops ``around`` it whatever ``lane`` it is in."""
        statement = self.scop.statement(instance.statement)
        found: list[Kept] = []
        for element in dict.fromkeys(part for line in body for part in walk(line) if isinstance(part, Element)):
            if element.array in written or element.array not in self.types or not self._is_there(element, statement):
                continue
            (placed,) = placed_body(statement, (Assign(Element(""), element),), instance.arguments)
            assert isinstance(placed, Assign)
            mentioned = {part.name for part in walk(placed.value) if isinstance(part, Name)}
            loops = tuple(one for one in around if one.iterator in mentioned)
            known = all(Name(one.iterator) in instance.arguments for one in loops)
            if not loops or lane in mentioned or not known or prod(map(_length, loops)) > MOST:
                continue
            assert isinstance(placed.value, Element)
            name = self.arrays.added(f"{element.array}_kept{number + len(found) or ''}")
            self.dtypes[name] = self.dtypes[element.array]
            own = [statement.iterators[instance.arguments.index(Name(one.iterator))] for one in loops]
            found.append(Kept(name, statement, element, placed.value, loops, tuple(own)))
        return found

    def _is_there(self, element: Element, statement: Statement) -> bool:
        """Whether ``element`` is one of an array, wherever its loops run, and needs no test."""
        return bool(element.subscripts) and element.affine and not is_checked(self.scop, element, statement)


def _placed(node: LoopNode, around: tuple[For, ...]) -> Iterator[tuple[Instance, tuple[For, ...]]]:
    """The instances below ``node``, each with the loops around it there; none in loops of unknown length, or where a
    condition stands around them."""
    match node:
        case Instance():
            yield node, around
        case For() if _length(node):
            yield from _placed(node.body, (*around, node))
        case Block(nodes):
            for child in nodes:
                yield from _placed(child, around)


def _length(loop: For) -> int:
    """How many iterations ``loop`` has, all of them in a row; 0 where that is not known."""
    match loop.start, loop.stop:
        case Constant(int(start)), Constant(int(stop)) if loop.step == 1:
            return max(0, stop - start)
    return 0


def _from_zero(loop: For, iterator: str) -> Expression:
    """The place of an iteration of ``loop`` among all of them."""
    return Name(iterator) if loop.start == Constant(0) else Binary("-", Name(iterator), loop.start)


def _with(body: Sequence[Instruction], element: Element, kept: Element) -> tuple[Instruction, ...]:
    changed = (replaced(line, {element: kept}) for line in body)
    return tuple(line for line in changed if isinstance(line, Instruction))
