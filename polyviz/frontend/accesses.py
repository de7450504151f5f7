"""The accesses of one statement: which cells its instances read and write, exactly or at most.

A statement that stays whole may hold conditions and loops of its own. Affine ones are followed exactly; where one
depends on data, everything below it *may* happen. Reads of cells that the same instance wrote before are left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import islpy as isl

from polyviz.frontend.affine import AffineReader, NotAffine
from polyviz.frontend.integers import constant_integer
from polyviz.frontend.reasons import why_range
from polyviz.model.expression import (
    Assign,
    Branch,
    Break,
    Conditional,
    Element,
    Expression,
    Instruction,
    Logical,
    Loop,
    Node,
    While,
    rebuild,
)

if TYPE_CHECKING:
    from polyviz.errors import Span
    from polyviz.frontend.cells import Cells
    from polyviz.frontend.parameters import ParameterTable
    from polyviz.frontend.place import Place
    from polyviz.model.scop import AccessKind

Written = Mapping[str, isl.Map]


@dataclass(frozen=True, slots=True)
class Reference:
    """One reference: ``relation`` maps the points of ``place`` to cells; exact when ``reason`` is empty.

    ``written`` is the element as the user wrote it, before negative subscripts were counted from the end. ``sure``
    tells that it happens at every point of ``place``, known exactly or not.
    """

    kind: AccessKind
    element: Element
    written: Element
    relation: isl.Map
    reason: str
    place: Place
    sure: bool = True

    @property
    def span(self) -> Span | None:
        """Where it stands in the user's text."""
        return self.element.span


@dataclass(frozen=True, slots=True)
class Body:
    """Instructions with their elements marked affine or not, their references, and what they surely write."""

    instructions: tuple[Instruction, ...]
    references: tuple[Reference, ...]
    written: Written


class AccessReader:
    """Reads the body of a statement."""

    def __init__(self, cells: Cells, parameters: ParameterTable) -> None:
        self._cells = cells
        self._parameters = parameters

    def body(self, instructions: Iterable[Instruction], place: Place, written: Written) -> Body:
        """All references of ``instructions``, executed one after the other at ``place``."""
        results: list[Instruction] = []
        references: list[Reference] = []
        for instruction in instructions:
            part = self._instruction(instruction, place, written)
            results += part.instructions
            references += part.references
            written = part.written
        return Body(tuple(results), tuple(references), written)

    def _instruction(self, instruction: Instruction, place: Place, written: Written) -> Body:
        match instruction:
            case Assign():
                return self._assign(instruction, place, written)
            case Branch():
                return self._branch(instruction, place, written)
            case Loop():
                return self._loop(instruction, place, written)
            case While():
                return self._while(instruction, place, written)
            case Break():
                return Body((instruction,), (), written)
            case _:
                raise TypeError(f"unknown instruction {type(instruction).__name__}")

    def _assign(self, instruction: Assign, place: Place, written: Written) -> Body:
        reads: list[Reference] = []
        target = self._element(instruction.target, place, reads, is_target=True)
        if instruction.operator is not None:
            reads.append(self._reference("read", target, instruction.target, place))
        value = self._expression(instruction.value, place, reads)
        write = self._reference("write", target, instruction.target, place)
        exposed = [read for read in reads if not _covered(read, written)]
        after = written if write.reason else _with(written, write)
        return Body((replace(instruction, target=target, value=value),), (*exposed, write), after)

    def _branch(self, instruction: Branch, place: Place, written: Written) -> Body:
        reads: list[Reference] = []
        condition = self._expression(instruction.condition, place, reads)
        exposed = [read for read in reads if not _covered(read, written)]
        arms = [place.within(condition), place.without(condition)]
        then = self.body(instruction.then, replace(arms[0], reason=place.reason), written)
        otherwise = self.body(instruction.otherwise, replace(arms[1], reason=place.reason), written)
        references = (*then.references, *otherwise.references)
        reason = "" if place.reason else arms[0].reason
        if reason:
            depth = len(place.affine.iterators)
            references = (
                *_downgraded(then, otherwise, reason, depth),
                *_downgraded(otherwise, then, reason, depth),
            )
            after = _both(then.written, otherwise.written)
        else:
            after = _either(then.written, otherwise.written)
        result = replace(
            instruction, condition=condition, then=then.instructions, otherwise=otherwise.instructions
        )
        return Body((result,), (*exposed, *references), after)

    def _loop(self, instruction: Loop, place: Place, written: Written) -> Body:
        reads: list[Reference] = []
        start, stop, step = (
            self._expression(bound, place, reads)
            for bound in (instruction.start, instruction.stop, instruction.step)
        )
        exposed = [read for read in reads if not _covered(read, written)]
        inner, reason = self._below(instruction, place)
        extended = {name: relation.add_dims(isl.dim_type.in_, 1) for name, relation in written.items()}
        body = self.body(instruction.body, inner, extended)
        references = tuple(
            replace(reference, reason=reference.reason or reason, sure=reference.sure and not reason)
            for reference in body.references
        )
        after = written if reason else {name: _projected(relation) for name, relation in body.written.items()}
        loop = Loop(instruction.iterator, start, stop, step, body.instructions)
        return Body((loop,), (*exposed, *references), after)

    def _while(self, instruction: While, place: Place, written: Written) -> Body:
        """Nothing counts the iterations: what is inside may happen, and happens where the condition stands."""
        reads: list[Reference] = []
        condition = self._expression(instruction.condition, place, reads)
        exposed = [read for read in reads if not _covered(read, written)]
        body = self.body(instruction.body, place, written)
        reason = "how often the `while` loop runs depends on data"
        references = tuple(
            replace(reference, reason=reference.reason or reason, sure=False) for reference in body.references
        )
        return Body((While(condition, body.instructions),), (*exposed, *references), written)

    def _below(self, instruction: Loop, place: Place) -> tuple[Place, str]:
        """The place inside a loop, with one more dimension, and why it is not exact."""
        affine = AffineReader((*place.affine.iterators, instruction.iterator), self._parameters)
        domain = place.domain.add_dims(isl.dim_type.set, 1)
        try:
            domain = domain.intersect(
                affine.loop(instruction.iterator, instruction.start, instruction.stop, instruction.step)
            )
        except NotAffine as problem:
            domain = domain.intersect(_known_bounds(affine.at(domain), instruction, domain))
            bounds = (instruction.start, instruction.stop, instruction.step)
            reason = why_range(instruction.iterator, bounds, problem)
            return replace(place, affine=affine.at(domain), domain=domain, bounded=False), reason
        reason = "`break` may end its loop early" if instruction.ends_early else ""
        return replace(place, affine=affine.at(domain), domain=domain), reason

    def _expression(self, expression: Expression, place: Place, reads: list[Reference]) -> Expression:
        match expression:
            case Element():
                element = self._element(expression, place, reads)
                reads.append(self._reference("read", element, expression, place))
                return element
            case Conditional(condition, body, otherwise):
                first = self._expression(condition, place, reads)
                return Conditional(
                    first,
                    self._expression(body, place.within(first), reads),
                    self._expression(otherwise, place.without(first), reads),
                )
            case Logical(operator, operands):
                return Logical(operator, self._operands(operator, operands, place, reads))
            case _:
                return _expression(rebuild(expression, lambda node: self._child(node, place, reads)))

    def _child(self, node: Node, place: Place, reads: list[Reference]) -> Node:
        return self._expression(_expression(node), place, reads)

    def _operands(
        self, operator: str, operands: tuple[Expression, ...], place: Place, reads: list[Reference]
    ) -> tuple[Expression, ...]:
        """Each operand is evaluated only where those before it do not decide."""
        results: list[Expression] = []
        for operand in operands:
            result = self._expression(operand, place, reads)
            results.append(result)
            place = place.within(result) if operator == "and" else place.without(result)
        return tuple(results)

    def _element(
        self, element: Element, place: Place, reads: list[Reference], *, is_target: bool = False
    ) -> Element:
        subscripts = tuple(self._expression(subscript, place, reads) for subscript in element.subscripts)
        return self._cells.resolved(replace(element, subscripts=subscripts), place)

    def _reference(self, kind: AccessKind, element: Element, written: Element, place: Place) -> Reference:
        relation, reason = self._cells.relation(element, place)
        return Reference(kind, element, written, relation, place.reason or reason, place, not place.reason)


def _expression(node: Node) -> Expression:
    if not isinstance(node, Expression):
        raise TypeError(f"{type(node).__name__} stands where an expression is expected")
    return node


def _known_bounds(affine: AffineReader, loop: Loop, domain: isl.Set) -> isl.Set:
    """What the affine ones of the bounds say about the iterator of a loop whose range depends on data."""
    known, stride = affine.universe(), _direction(affine, loop.step, domain)
    if stride is None:
        return known
    for start, stop in ((loop.start, None), (None, loop.stop)):
        try:
            known = known.intersect(affine.bounds(loop.iterator, start, stop, stride))
        except NotAffine:
            continue
    return known


def _direction(affine: AffineReader, step: Expression, domain: isl.Set) -> int | None:
    """A number with the sign of ``step`` where every point of ``domain`` gives it the same."""
    constant = constant_integer(step)
    if constant is not None:
        return constant
    try:
        value = affine.value(step)
    except NotAffine:
        return None
    zero = value.sub(value)
    if domain.is_subset(value.gt_set(zero)):
        return 1
    return -1 if domain.is_subset(value.lt_set(zero)) else None


def _covered(read: Reference, written: Written) -> bool:
    earlier = written.get(read.element.array)
    return earlier is not None and read.relation.is_subset(earlier)


def _with(written: Written, write: Reference) -> Written:
    earlier = written.get(write.element.array)
    relation = write.relation if earlier is None else earlier.union(write.relation)
    return {**written, write.element.array: relation}


def _downgraded(arm: Body, other: Body, reason: str, depth: int) -> list[Reference]:
    """The references of one arm of a condition on data: a write stays certain when the other arm writes the cell too.

    Only references directly in the arms are compared, not those in loops inside: ``depth`` counts their dimensions.
    """
    exact: dict[str, isl.Map] = {}
    for reference in other.references:
        if _is_sure_write(reference, depth):
            exact = dict(_with(exact, reference))
    return [
        reference
        if _is_sure_write(reference, depth) and _covered(reference, exact)
        else replace(reference, reason=reference.reason or reason, sure=False)
        for reference in arm.references
    ]


def _is_sure_write(reference: Reference, depth: int) -> bool:
    inside = len(reference.place.affine.iterators) > depth
    return reference.kind == "write" and not reference.reason and not inside


def _both(first: Written, second: Written) -> Written:
    return {name: first[name].intersect(second[name]) for name in first.keys() & second.keys()}


def _either(first: Written, second: Written) -> Written:
    result = dict(first)
    for name, relation in second.items():
        result[name] = result[name].union(relation) if name in result else relation
    return result


def _projected(relation: isl.Map) -> isl.Map:
    return relation.project_out(isl.dim_type.in_, relation.dim(isl.dim_type.in_) - 1, 1)
