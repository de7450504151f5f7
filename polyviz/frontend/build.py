"""From loops, choices and leaves to statements with domains and accesses: where affine and data part ways."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import islpy as isl

from polyviz.frontend.accesses import AccessReader, Reference
from polyviz.frontend.affine import AffineReader, NotAffine
from polyviz.frontend.cells import Cells
from polyviz.frontend.conditional_sums import as_sums, under_conditions
from polyviz.frontend.finals import LoopRecord, LoopStep, TimeStep
from polyviz.frontend.integers import constant_integer
from polyviz.frontend.linearised import Digits, told_apart
from polyviz.frontend.nodes import Choice, Leaf, Nest, Node, Repeat, Requirement
from polyviz.frontend.order import Ordered, OrderedLoop
from polyviz.frontend.place import Place
from polyviz.frontend.reasons import approximation_notes, linearised_notes, sentence, why, why_range
from polyviz.frontend.spelling import spelled
from polyviz.frontend.wrapping import wrapping_notes
from polyviz.model.expression import (
    Assign,
    Branch,
    Element,
    Expression,
    Instruction,
    Logical,
    Loop,
    Name,
    Unary,
    While,
    walk,
)
from polyviz.model.scop import Access, Statement

if TYPE_CHECKING:
    from collections.abc import Iterable

    from polyviz.errors import Span
    from polyviz.frontend.program import Program
    from polyviz.model.linearised import Stride


@dataclass(frozen=True, slots=True)
class Position:
    """A point of the program: the iterations that come there, the loops around, the conditions on data not yet tested.

    ``time`` places it in the original order.
    """

    affine: AffineReader
    domain: isl.Set
    guards: tuple[Expression, ...] = ()
    headers: tuple[Span, ...] = ()
    time: tuple[TimeStep, ...] = ()


@dataclass(frozen=True, slots=True)
class Check:
    """A reference to be compared with the extents of its array once they are all known."""

    reference: Reference
    statement: str


class Builder:
    """Builds the statements of one program in textual order."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._cells = Cells(program)
        self._accesses = AccessReader(self._cells, program.parameters)
        self.statements: list[Statement] = []
        self.checks: list[Check] = []
        self.loops: list[LoopRecord] = []
        self.notes: list[str] = list(program.notes)
        self.never_run: list[Span] = []
        self.strides: dict[str, tuple[Stride, ...]] = {}
        """Of arrays with one linearised subscript, the strides of its parts."""
        self._certain: dict[str, bool] = {}
        """Of variables that got a value so far, whether they did so whatever data say."""

    def build(self, nodes: Iterable[Node]) -> tuple[Ordered, ...]:
        """The order of all statements; the lists of what was found on the way are filled."""
        affine = AffineReader((), self._program.parameters)
        return self._block(nodes, Position(affine, affine.universe()))

    def count_from_ends(self) -> None:
        """Add, now that all sizes are known, the cells that negative subscripts of accesses that may happen lead to."""
        for position, statement in enumerate(self.statements):
            accesses = tuple(
                access
                if access.exact
                else replace(access, relation=self._cells.with_ends(access.relation, access.array))
                for access in statement.accesses
            )
            self.statements[position] = replace(statement, accesses=accesses)

    def tell_apart(self) -> None:
        """Find out, now that all references are known, which linearised subscripts are as good as several."""
        references = [check.reference for check in self.checks]
        told = told_apart(references, self._program.parameters, self._program.context())
        digits = iter(zip(told, references, strict=True))
        for position, statement in enumerate(self.statements):
            accesses = []
            for access in statement.accesses:
                found, reference = next(digits)
                if found is None:
                    accesses.append(access)
                    continue
                apart = of_statement(found.relation, statement.name, statement.iterators)
                sure = found if reference.sure else Digits(found.relation)
                accesses.append(replace(access, apart=apart, strides=sure.strides, starts=sure.starts))
                if len(found.written) == 1:
                    self.strides[access.array] = found.written[0]
            self.statements[position] = replace(statement, accesses=tuple(accesses))
            self.notes += [*approximation_notes(statement.name, accesses), *linearised_notes(statement.name, accesses)]

    def _block(self, nodes: Iterable[Node], position: Position) -> tuple[Ordered, ...]:
        parts: list[Ordered] = []
        for place, node in enumerate(nodes):
            parts += self._node(node, replace(position, time=(*position.time, place)))
        return tuple(parts)

    def _node(self, node: Node, position: Position) -> tuple[Ordered, ...]:
        for requirement in node.requirements:
            self._require(requirement, position)
        if isinstance(node, Leaf):
            return self._statement(node.instructions, node.span, node.source, position)
        if isinstance(node, Nest):
            return self._nest(node, position)
        if isinstance(node, Repeat):
            return self._whole(node, position, "how often its `while` loop runs depends on data")
        return self._choice(node, position)

    def _require(self, requirement: Requirement, position: Position) -> None:
        try:
            holds = position.affine.condition(requirement.condition)
        except NotAffine:
            raise requirement.error from None
        domain = position.domain.intersect_params(self._program.context())
        others = domain.subtract(holds)
        if others.is_empty():
            return
        fitting = domain.params().subtract(others.params()).coalesce()
        if not requirement.of_sizes or _fixes_a_size(fitting, domain):
            raise requirement.error
        # Where nothing runs, nothing is asked for: without iterations any sizes will do.
        self._program.assumptions.append(fitting.gist(domain.params()))

    def _nest(self, nest: Nest, position: Position) -> tuple[Ordered, ...]:
        if _loop(nest).ends_early:
            return self._whole(nest, position, "`break` may end its loop early")
        affine = AffineReader((*position.affine.iterators, nest.iterator), self._program.parameters)
        try:
            extended = position.domain.insert_dims(isl.dim_type.set, len(position.affine.iterators), 1)
            domain = _named(extended, affine.iterators)
            values = affine.at(domain).loop(nest.iterator, nest.start, nest.stop, nest.step)
        except NotAffine as problem:
            reason = why_range(nest.variable, (nest.start, nest.stop, nest.step), problem)
            return self._whole(nest, position, reason)
        domain = domain.intersect(values).coalesce()
        sign = -1 if (constant_integer(nest.step) or 1) < 0 else 1
        inside = Position(
            affine.at(domain),
            domain,
            position.guards,
            (*position.headers, nest.header),
            (*position.time, LoopStep(len(position.affine.iterators), sign)),
        )
        self.loops.append(LoopRecord(nest.variable, inside.time, inside.domain, not inside.guards))
        body = self._block(nest.body, inside)
        return (OrderedLoop(nest.iterator, len(position.affine.iterators), sign, body),) if body else ()

    def _choice(self, choice: Choice, position: Position) -> tuple[Ordered, ...]:
        try:
            where = position.affine.condition(choice.condition)
        except NotAffine as problem:
            return self._data_choice(choice, position, why("the condition", choice.condition, problem))
        then = self._block(choice.then, _at(position, position.domain.intersect(where), 0))
        otherwise = self._block(choice.otherwise, _at(position, position.domain.subtract(where), 1))
        return then + otherwise

    def _data_choice(self, choice: Choice, position: Position, reason: str) -> tuple[Ordered, ...]:
        """A condition on data: its affine parts still bound the domain; loops inside are kept where it stays true."""
        split = self._split(choice, position)
        if split is not None:
            inner, domain = split
            return self._data_choice(
                inner, replace(position, domain=domain, affine=position.affine.at(domain)), reason
            )
        sums = None if choice.requirements else as_sums(choice)
        if sums is not None:
            return tuple(part for leaf in sums for part in self._node(leaf, position))
        if not _has_loop(choice) or self._is_changed_inside(choice):
            return self._whole(choice, position, reason)
        guards = position.guards
        then = replace(_at(position, position.domain, 0), guards=(*guards, choice.condition))
        otherwise = replace(
            _at(position, position.domain, 1), guards=(*guards, Unary("not", choice.condition))
        )
        return self._block(choice.then, then) + self._block(choice.otherwise, otherwise)

    def _split(self, choice: Choice, position: Position) -> tuple[Choice, isl.Set] | None:
        """``if i > 0 and A[i] > 0`` without ``else``: the affine operands move into the domain."""
        condition = choice.condition
        if choice.otherwise or not isinstance(condition, Logical) or condition.operator != "and":
            return None
        domain, rest = position.domain, []
        for operand in condition.operands:
            try:
                domain = domain.intersect(position.affine.condition(operand))
            except NotAffine:
                rest.append(operand)
        if len(rest) == len(condition.operands):
            return None
        remaining = rest[0] if len(rest) == 1 else Logical("and", tuple(rest))
        return replace(choice, condition=remaining), domain.coalesce()

    def _is_changed_inside(self, choice: Choice) -> bool:
        read = {part.array for part in walk(choice.condition) if isinstance(part, Element)}
        return bool(read & _written(choice))

    def _whole(self, node: Nest | Choice | Repeat, position: Position, reason: str) -> tuple[Ordered, ...]:
        """One statement for everything below ``node``."""
        inner = {nest.iterator for nest in _nests(node)}
        for requirement in _requirements(node):
            names = {part.name for part in walk(requirement.condition) if isinstance(part, Name)}
            if names & inner or not requirement.of_sizes:
                raise requirement.error
            self._require(requirement, position)
        name = f"S{len(self.statements)}"
        parts = self._statement(_instructions(node), node.span, node.source, position)
        if parts:
            self.notes.append(f"{name} (line {node.span.line}) stays whole: {reason}.")
        for nest in _nests(node):
            self.loops.append(LoopRecord(nest.variable, position.time, position.domain, is_affine=False))
        return parts

    def _statement(
        self, instructions: tuple[Instruction, ...], span: Span, source: str, position: Position
    ) -> tuple[Ordered, ...]:
        context = self._program.context()
        if position.domain.intersect_params(context).is_empty():
            self.never_run.append(span)
            always = position.domain.is_empty()
            sizes = "" if always else " for these sizes"
            self.notes.append(
                f"The statement at line {span.line} never runs{sizes}: its iteration domain is empty."
            )
            return ()
        instructions = under_conditions(position.guards, instructions, self._unset(instructions, position.guards))
        name = f"S{len(self.statements)}"
        body = self._accesses.body(instructions, Place(position.affine, position.domain), {})
        self.checks += [Check(reference, name) for reference in body.references]
        iterators = position.affine.iterators
        accesses = _certain([self._access(reference, name, iterators) for reference in body.references])
        domain = _named(position.domain, iterators).set_tuple_name(name)
        self.statements.append(
            Statement(name, iterators, domain, accesses, body.instructions, span, source, position.headers)
        )
        self.notes += wrapping_notes(name, body.references, context)
        return (name,)

    def _unset(self, instructions: Iterable[Instruction], guards: Iterable[Expression]) -> frozenset[str]:
        """The variables that may have no value yet where ``instructions`` stand below ``guards``."""
        for one in instructions:
            for node in walk(one):
                if isinstance(node, Assign) and node.operator is None and not node.target.subscripts:
                    certain = node is one and not guards
                    self._certain[node.target.array] = certain or self._certain.get(node.target.array, False)
        return frozenset(name for name, certain in self._certain.items() if not certain)

    def _access(self, reference: Reference, statement: str, iterators: tuple[str, ...]) -> Access:
        span, element = reference.span, reference.element
        text = self._program.source.segment(span) if span is not None else ""
        return Access(
            kind=reference.kind,
            array=reference.element.array,
            relation=of_statement(reference.relation, statement, iterators),
            exact=not reference.reason,
            reason=sentence(reference.reason),
            span=span,
            text=text if element.array in text else spelled(element),
        )


def of_statement(relation: isl.Map, statement: str, iterators: tuple[str, ...]) -> isl.Map:
    """``relation`` as one of the instances of ``statement``, without the loops inside it."""
    extra = relation.dim(isl.dim_type.in_) - len(iterators)
    relation = relation.project_out(isl.dim_type.in_, len(iterators), extra)
    relation = relation.set_tuple_name(isl.dim_type.in_, statement)
    for position, iterator in enumerate(iterators):
        relation = relation.set_dim_name(isl.dim_type.in_, position, iterator)
    return relation.coalesce()


def _at(position: Position, domain: isl.Set, arm: int) -> Position:
    domain = domain.coalesce()
    return replace(position, domain=domain, affine=position.affine.at(domain), time=(*position.time, arm))


def _fixes_a_size(fitting: isl.Set, domain: isl.Set) -> bool:
    """Whether ``fitting`` has no sizes at all, or only one value of a parameter of which ``domain`` allows more."""
    fixed = [
        {place for place in range(one.dim(isl.dim_type.param)) if not _fixed_value(one, place).is_nan()}
        for one in (fitting, domain.params().align_params(fitting.get_space()))
    ]
    return bool(fitting.is_empty()) or bool(fixed[0] - fixed[1])


def _fixed_value(sizes: isl.Set, place: int) -> isl.Val:
    return sizes.plain_get_val_if_fixed(isl.dim_type.param, place)


def _named(domain: isl.Set, iterators: tuple[str, ...]) -> isl.Set:
    for position, iterator in enumerate(iterators):
        domain = domain.set_dim_name(isl.dim_type.set, position, iterator)
    return domain


def _certain(accesses: list[Access]) -> tuple[Access, ...]:
    """A read that may happen is certain where the statement reads the cell anyway."""
    sure: dict[str, isl.Map] = {}
    for access in accesses:
        if access.kind == "read" and access.exact:
            earlier = sure.get(access.array)
            sure[access.array] = access.relation if earlier is None else earlier.union(access.relation)
    return tuple(
        replace(access, exact=True, reason="")
        if access.kind == "read" and access.array in sure and access.relation.is_subset(sure[access.array])
        else access
        for access in accesses
    )


def _has_loop(node: Node) -> bool:
    return any(True for _ in _nests(node))


def _nests(node: Node) -> Iterable[Nest]:
    if isinstance(node, Nest):
        yield node
    for child in _below(node):
        yield from _nests(child)


def _below(node: Node) -> tuple[Node, ...]:
    if isinstance(node, Leaf):
        return ()
    return node.then + node.otherwise if isinstance(node, Choice) else node.body


def _requirements(node: Node) -> tuple[Requirement, ...]:
    inside = tuple(found for child in _below(node) for found in (*child.requirements, *_requirements(child)))
    return inside


def _written(node: Node) -> set[str]:
    if isinstance(node, Leaf):
        return {part.target.array for part in node.instructions if isinstance(part, Assign)}
    return {name for child in _below(node) for name in _written(child)}


def _instructions(node: Node) -> tuple[Instruction, ...]:
    """What a node does when it becomes part of a statement."""
    if isinstance(node, Leaf):
        return node.instructions
    if isinstance(node, Nest):
        return (_loop(node),)
    if isinstance(node, Repeat):
        return (While(node.condition, _inside(node.body)),)
    return (Branch(node.condition, _inside(node.then), _inside(node.otherwise)),)


def _loop(nest: Nest) -> Loop:
    return Loop(nest.iterator, nest.start, nest.stop, nest.step, _inside(nest.body))


def _inside(nodes: Iterable[Node]) -> tuple[Instruction, ...]:
    return tuple(part for node in nodes for part in _instructions(node))
