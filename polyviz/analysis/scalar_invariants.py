"""What stays true of whole numbers while loops run that end when their data say so: ``0 <= low <= high <= n``.

Statements are run on sets of states (``polyviz.analysis.scalar_states``). What may hold whenever a loop begins its body
is guessed: comparisons in the loop, give or take one, and what holds in the first three rounds. What does not hold
before the loop, or is not kept by its body, is dropped until the rest is kept by itself (the scheme of Flanagan and
Leino's Houdini, FME 2001).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from itertools import chain, combinations, islice
from typing import TYPE_CHECKING

import islpy as isl

from polyviz.model.expression import (
    Assign,
    Binary,
    Branch,
    Break,
    Compare,
    Conditional,
    Element,
    Expression,
    Logical,
    Loop,
    Name,
    While,
    children,
    rebuild,
    walk,
    whole_literal,
)
from polyviz.model.isl_limits import with_known_quotients

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from polyviz.analysis.scalar_states import States
    from polyviz.model.expression import Instruction, Node

    Visit = Callable[[Element, isl.Set], None]

_OFFSETS = (-1, 0, 1)
_ROUNDS = 3
_MOST = 150
"""Candidates that are tried for one loop."""


def ignored(_element: Element, _state: isl.Set) -> None:
    """Nothing is looked at while it is not yet known what holds."""


@dataclass(frozen=True, slots=True)
class Runner:
    """Runs instructions on ``states``; ``visit`` is told of each element with subscripts and the states it meets."""

    states: States
    visit: Visit

    def run(self, body: Sequence[Instruction], state: isl.Set) -> isl.Set:
        """The states behind ``body``, which no loop is around, from those before."""
        return self._run(body, state, [])

    def _run(self, body: Sequence[Instruction], state: isl.Set, left: list[isl.Set]) -> isl.Set:
        """The same for the body of a loop; ``left`` gets the states in which it is left by ``break``."""
        for line in body:
            state = self._line(line, state, left).coalesce()
        return state

    def _line(self, line: Instruction, state: isl.Set, left: list[isl.Set]) -> isl.Set:
        match line:
            case Assign():
                return self._assign(line, state)
            case Branch(condition, then, otherwise):
                self._look(condition, state)
                yes, no = (self.states.where(state, condition, holds=truth) for truth in (True, False))
                return self._run(then, yes, left).union(self._run(otherwise, no, left))
            case Break():
                left.append(state)
                return isl.Set.empty(self.states.space)
            case While() | Loop():
                return self._loop(line, state)
        return self.states.forgotten(state, self.states.scalars)

    def _assign(self, line: Assign, state: isl.Set) -> isl.Set:
        self._look(line.value, state)
        self._look(line.target, state)
        if line.target.subscripts or line.target.array not in self.states.scalars:
            return state
        return self.states.assigned(state, line.target.array, line.assigned)

    def _loop(self, loop: While | Loop, before: isl.Set) -> isl.Set:
        if isinstance(loop, Loop):
            for bound in (loop.start, loop.stop, loop.step):
                self._look(bound, before)
            before = self.states.assigned(before, loop.iterator, loop.start)
        head = Runner(self.states, ignored)._head(loop, before)
        left: list[isl.Set] = []
        if isinstance(loop, While):
            self._look(loop.condition, head)
        self._round(loop, head, left)
        after = reduce(isl.Set.union, left, self._ended(loop, head))
        return self.states.forgotten(after, (loop.iterator,)) if isinstance(loop, Loop) else after

    def _ended(self, loop: While | Loop, head: isl.Set) -> isl.Set:
        """The states in ``head`` in which ``loop`` ends."""
        if isinstance(loop, While):
            return self.states.where(head, loop.condition, holds=False)
        own, stop, step = self.states.value(Name(loop.iterator)), self._fixed(loop, loop.stop), whole_literal(loop.step)
        if own is None or stop is None or not step:
            return head
        return head.intersect(own.ge_set(stop) if step > 0 else own.le_set(stop))

    def _round(self, loop: While | Loop, head: isl.Set, left: list[isl.Set]) -> isl.Set:
        """The states at the head of ``loop`` a round after those in ``head``."""
        if isinstance(loop, While):
            return self._run(loop.body, self.states.where(head, loop.condition, holds=True), left)
        behind = self._run(loop.body, self._in_range(loop, head), left)
        return self.states.assigned(behind, loop.iterator, Binary("+", Name(loop.iterator), loop.step))

    def _in_range(self, loop: Loop, head: isl.Set) -> isl.Set:
        """The states with which the body of ``loop`` begins; its bounds are those from before it."""
        own, step = self.states.value(Name(loop.iterator)), whole_literal(loop.step)
        if own is None or not step:
            return self.states.forgotten(head, (loop.iterator,))
        start, stop = (self._fixed(loop, bound) for bound in (loop.start, loop.stop))
        if start is not None:
            head = head.intersect(own.ge_set(start) if step > 0 else own.le_set(start))
        if stop is not None:
            head = head.intersect(own.lt_set(stop) if step > 0 else own.gt_set(stop))
        return head

    def _fixed(self, loop: Loop, bound: Expression) -> isl.PwAff | None:
        """The value of ``bound`` where nothing changes it in ``loop``."""
        parts = {part.array for part in walk(bound) if isinstance(part, Element)}
        return None if parts & {*_changed(loop)} else self.states.value(bound)

    def _head(self, loop: While | Loop, before: isl.Set) -> isl.Set:
        """States that hold all those at the head of ``loop``."""
        changed = tuple(name for name in self.states.scalars if name in {*_changed(loop)})
        conditions = [node.condition for node in walk(loop) if isinstance(node, While | Branch)]
        if isinstance(loop, Loop):
            conditions.append(Compare(("<",), (Name(loop.iterator), loop.stop)))
        return kept_states(self.states, before, changed, conditions, lambda head: self._round(loop, head, []))

    def _look(self, node: Expression, state: isl.Set) -> None:
        """Tell of the elements in ``node``, as it is evaluated in ``state``."""
        match node:
            case Logical(operator, operands):
                for operand in operands:
                    self._look(operand, state)
                    state = self.states.where(state, operand, holds=operator == "and")
                return
            case Conditional(condition, body, otherwise):
                self._look(condition, state)
                self._look(body, self.states.where(state, condition, holds=True))
                self._look(otherwise, self.states.where(state, condition, holds=False))
                return
        for child in children(node):
            if isinstance(child, Expression):
                self._look(child, state)
        if isinstance(node, Element) and node.subscripts:
            self.visit(node, state)


def kept_states(
    states: States,
    before: isl.Set,
    changed: tuple[str, ...],
    conditions: Sequence[Expression],
    run_round: Callable[[isl.Set], isl.Set],
) -> isl.Set:
    """States that hold all those at the head of a loop, ``before`` it and behind each round.

    ``changed`` are the scalars that the loop assigns, ``conditions`` what it asks for, and ``run_round`` leads from
    states at the head to those a round later.
    """
    if not changed:
        return before
    anyhow, rounds = states.forgotten(before, changed), before
    for _ in range(_ROUNDS):
        rounds = rounds.union(run_round(rounds)).coalesce()
    found = chain(
        _of_hull(before.simple_hull()),
        _of_hull(rounds.affine_hull()),
        _compared(states, conditions),
        _side_by_side(states, changed),
        _compared(states, _of_others(conditions, changed)),
    )
    guesses = [one for one in map(with_known_quotients, islice(found, _MOST)) if rounds.is_subset(one)]
    while True:
        head = reduce(isl.Set.intersect, guesses, anyhow)
        behind = run_round(head)
        still = [one for one in guesses if behind.is_subset(one)]
        if len(still) == len(guesses):
            return head.coalesce()
        guesses = still


def _compared(states: States, conditions: Iterable[Expression]) -> Iterator[isl.Set]:
    """Comparisons in ``conditions``, give or take one."""
    for difference in (one for condition in conditions for one in states.differences(condition)):
        yield from _about(states, difference)


def _of_others(conditions: Sequence[Expression], changed: tuple[str, ...]) -> Iterator[Expression]:
    """The comparisons in ``conditions`` of one of the numbers that a loop changes, for each of the others."""
    for compare in (node for condition in conditions for node in walk(condition) if isinstance(node, Compare)):
        parts = {part.array for part in walk(compare) if isinstance(part, Element) and not part.subscripts}
        if len(own := parts.intersection(changed)) == 1 and all(map(_is_plain, compare.operands)):
            yield from (_renamed(compare, {*own}.pop(), other) for other in changed if other not in own)


def _is_plain(operand: Expression) -> bool:
    return not any(isinstance(part, Element) and part.subscripts for part in walk(operand))


def _renamed(node: Expression, one: str, other: str) -> Expression:
    def renamed(part: Node) -> Node:
        return Element(other) if part == Element(one) else rebuild(part, renamed)

    found = renamed(node)
    assert isinstance(found, Expression)
    return found


def _side_by_side(states: States, changed: tuple[str, ...]) -> Iterator[isl.Set]:
    """Comparisons of the numbers that a loop changes with zero, and with each other."""
    pairs = [Binary("-", Name(one), Name(other)) for one, other in combinations(changed, 2)]
    for difference in map(states.value, (*map(Name, changed), *pairs)):
        if difference is not None:
            yield from _about(states, difference)


def _about(states: States, difference: isl.PwAff) -> Iterator[isl.Set]:
    """Where ``difference`` is at least, or at most, a number near zero."""
    for offset in _OFFSETS:
        place = isl.LocalSpace.from_space(states.space)
        number = isl.PwAff.from_aff(isl.Aff.val_on_domain(place, isl.Val(offset)))
        yield difference.ge_set(number)
        yield difference.le_set(number)


def _of_hull(hull: isl.BasicSet) -> Iterator[isl.Set]:
    """The sets that ``hull`` is the intersection of; of an equation both directions."""
    for constraint in hull.remove_divs().get_constraints():
        if constraint.is_equality():
            aff = isl.PwAff.from_aff(constraint.get_aff())
            zero = aff.sub(aff)
            yield aff.ge_set(zero)
            yield aff.le_set(zero)
        yield isl.Set.from_basic_set(isl.BasicSet.from_constraint(constraint))


def _changed(loop: While | Loop) -> Iterator[str]:
    for node in walk(loop):
        if isinstance(node, Assign) and not node.target.subscripts:
            yield node.target.array
        if isinstance(node, Loop):
            yield node.iterator
