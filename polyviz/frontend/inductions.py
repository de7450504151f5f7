"""Integers that follow from how many iterations ran: counters of every kind, and what they held an iteration ago.

A counter ends each iteration as what it was when that began, and a constant: ``k = start + constant * iterations``; or
a number that grows with the iteration, as an inner loop with a bound of its own counts: then it is of the second
degree. A periodic one changes places with others (``a, b = b, a``), or with itself (``k = 1 - k``,
``k = (k + 1) % 3``). A wrap-around variable is made of the iteration, as ``before = i`` or ``k = j + 1`` with a counter
``j``: from the second iteration on it holds what the one before left. Taken up from Wolfe: *Beyond Induction Variables*
(1992).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from polyviz.frontend.affine import AffineReader, NotAffine
from polyviz.frontend.environment import Known
from polyviz.frontend.integers import is_integral
from polyviz.frontend.iteration import advance, assigned, ends_of, sign, signs_of
from polyviz.frontend.jumps import ends_early
from polyviz.frontend.loops import plus, scaled, sum_of
from polyviz.model.expression import (
    Binary,
    Call,
    Compare,
    Conditional,
    Constant,
    Expression,
    Name,
    Unary,
    rebuild,
    substitute,
    walk,
)
from polyviz.model.linear import linear_terms, written

if TYPE_CHECKING:
    import ast
    from collections.abc import Callable, Sequence

    import islpy as isl

    from polyviz.frontend.loops import Header
    from polyviz.frontend.program import Program

_LONGEST = 4
"""How many values a periodic integer may have."""


@dataclass(frozen=True, slots=True)
class _Form:
    """What an integer holds when an iteration begins, and when the loop is over."""

    inside: Expression
    behind: Expression


def followed(program: Program, header: Header, iterator: str, body: list[ast.stmt]) -> dict[str, tuple[Known, ...]]:
    """What the integers that ``body`` changes hold when an iteration begins, where that follows from the iteration,
    and what they hold after the loop where its range is known."""
    changed = assigned(body) - {header.variable}
    starts = {name: known for name in changed if (known := program.environment.known(name)) is not None}
    if header.stride is None or not is_integral(header.start) or not starts:
        return {}
    ends = ends_of(program, body, changed, {header.variable: Name(iterator)})
    settled = _Settled(program, header, iterator)
    solver = _Solver(header, iterator, {name: known.expression for name, known in starts.items()}, settled)
    found = solver.solved(ends)
    shown = 2 if is_integral(header.stop) and not ends_early(body) else 1
    return {
        name: tuple(
            Known(value, starts[name].requires, starts[name].asked)
            for value in (settled(form.inside), form.behind)[:shown]
        )
        for name, form in found.items()
    }


class _Solver:
    """Closed forms of the integers of one loop."""

    def __init__(
        self, header: Header, iterator: str, starts: dict[str, Expression], settled: Callable[[Expression], Expression]
    ) -> None:
        self._header = header
        self._iterator = iterator
        self._starts = starts
        self._settled = settled
        self._counts = (header.count(iterator), header.iterations())

    def solved(self, ends: dict[str, Expression]) -> dict[str, _Form]:
        """Counters and periodic ones first, then what is made of the iteration and of those that are solved."""
        own = {name: end for name, end in ends.items() if name in self._starts}
        found = {name: form for name in own if (form := self._counter(name, own) or self._periodic(name, own))}
        waiting = {name: end for name, end in own.items() if name not in found}
        while ready := [name for name, end in waiting.items() if signs_of(end) <= found.keys()]:
            found |= {name: self._wrapped(name, waiting.pop(name), found) for name in ready}
        return found

    def _counter(self, name: str, ends: dict[str, Expression]) -> _Form | None:
        step = self._step(name, ends[name])
        if step is None:
            return self._growing(name, ends[name])
        return _Form(*(plus(self._starts[name], scaled(step, count)) for count in self._counts))

    def _growing(self, name: str, end: Expression) -> _Form | None:
        """A counter whose step is a linear function of the iteration."""
        step = advance(end, sign(name))
        terms = None if step is None else linear_terms(self._settled(step))
        if terms is None or any(map(signs_of, map(Name, terms))):
            return None
        slope = terms.pop(self._iterator, 0)
        first = plus(written(terms), scaled(Constant(slope), self._header.start))
        return _Form(*(self._grown(name, first, slope * (self._header.stride or 1), count) for count in self._counts))

    def _grown(self, name: str, first: Expression, growth: int, count: Expression) -> Expression:
        """What is reached after ``count`` iterations, of which the first one adds ``first``."""
        pairs = Binary("//", Binary("*", count, sum_of(count, -1)), Constant(2))
        steady = plus(self._starts[name], scaled(first, count))
        return plus(steady, scaled(Constant(abs(growth)), pairs), "+" if growth >= 0 else "-")

    def _step(self, name: str, end: Expression) -> Expression | None:
        """What each iteration adds; None where it is not the same in all of them."""
        step = advance(end, sign(name))
        return None if step is None or self._varies(step) else step

    def _varies(self, value: Expression) -> bool:
        moves = any(isinstance(node, Name) and node.name == self._iterator for node in walk(value))
        return moves or bool(signs_of(value))

    def _periodic(self, name: str, ends: dict[str, Expression]) -> _Form | None:
        start = self._starts[name]
        match ends[name]:
            case Binary("-", total, Name() as other) if other == sign(name) and not self._varies(total):
                return self._taken_in_turn([start, plus(total, start, "-")])
            case Unary("-", other) if other == sign(name):
                return self._taken_in_turn([start, plus(Constant(0), start, "-")])
            case Binary("%", value, Constant(int() as period)) if period > 0:
                return self._around(start, self._step(name, value), period)
        names = [name]
        while (after := next((other for other in ends if ends[names[-1]] == sign(other)), name)) != name:
            names.append(after)
            if after not in self._starts or len(names) > _LONGEST:
                return None
        closed = ends[names[-1]] == sign(name)
        return self._taken_in_turn([self._starts[one] for one in names]) if closed else None

    def _taken_in_turn(self, values: Sequence[Expression]) -> _Form:
        """One of ``values`` after the other, and again from the first one."""
        return _Form(*(_chosen(values, count) for count in self._counts))

    def _around(self, start: Expression, step: Expression | None, period: int) -> _Form | None:
        """``(start + step * iterations) % period``, once there was one."""
        if step is None:
            return None
        later = [Binary("%", plus(start, scaled(step, count)), Constant(period)) for count in self._counts]
        if isinstance(start, Constant) and start.value in range(period):
            return _Form(*later)
        unchanged = [Compare(("==",), (count, Constant(0))) for count in self._counts]
        return _Form(*(Conditional(one, start, value) for one, value in zip(unchanged, later, strict=True)))

    def _wrapped(self, name: str, end: Expression, found: dict[str, _Form]) -> _Form:
        """``end`` of the iteration before, from the second one on."""
        stride = self._header.stride or 1
        left = substitute(end, {sign(other).name: found[other].inside for other in signs_of(end)})
        assert isinstance(left, Expression)
        first = Compare(("==",), (Name(self._iterator), self._header.start))
        before = self._at(left, sum_of(Name(self._iterator), -stride))
        last = self._at(left, self._header.last(stride))
        start = self._starts[name]
        return _Form(Conditional(first, start, before), Conditional(self._header.runs(stride), last, start))

    def _at(self, value: Expression, place: Expression) -> Expression:
        """``value`` in another iteration, with numbers added up."""
        if value == Name(self._iterator):
            return place
        moved = rebuild(value, lambda child: self._at(child, place) if isinstance(child, Expression) else child)
        assert isinstance(moved, Expression)
        return sum_of(moved, 0)


def _chosen(values: Sequence[Expression], count: Expression) -> Expression:
    """The value after ``count`` iterations."""
    result = values[-1]
    for position in range(len(values) - 2, -1, -1):
        turn = Binary("%", count, Constant(len(values)))
        result = Conditional(Compare(("==",), (turn, Constant(position))), values[position], result)
    return result


class _Settled:
    """Writes ``n`` for ``max(0, n)`` where no iteration comes into the loop with a negative ``n``."""

    def __init__(self, program: Program, header: Header, iterator: str) -> None:
        self._program = program
        self._loops = (*zip(program.iterators, program.headers, strict=True), (iterator, header))
        self._reader = AffineReader(tuple(name for name, _ in self._loops), program.parameters)

    def __call__(self, value: Expression) -> Expression:
        if not any(isinstance(node, Call) for node in walk(value)):
            return value
        match value:
            case Call("max", (Constant(0), count)) if self._is_natural(count):
                return count
        settled = rebuild(value, lambda child: self(child) if isinstance(child, Expression) else child)
        assert isinstance(settled, Expression)
        return settled

    def _is_natural(self, count: Expression) -> bool:
        try:
            known = self._reader.value(count)
        except NotAffine:
            return False
        return self._iterations().is_subset(known.ge_set(known.sub(known)))

    def _iterations(self) -> isl.Set:
        """What comes into the loop, as far as the ranges around it are affine."""
        result = self._reader.universe()
        for name, header in self._loops:
            try:
                inside = self._reader.bounds(name, header.start, header.stop, header.stride or 1)
            except NotAffine:
                continue
            if header.stride is not None:
                result = result.intersect(inside)
        return result.intersect_params(self._program.context())
