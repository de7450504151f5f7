"""Arrays that change names in every time step: each step is written with the arrays that it really means.

``A, B = B, A`` as the last line of a loop over ``t``, or as the first, moves nothing. Even steps read ``A`` where odd
ones read ``B``, so the body stands there twice, under conditions on ``t``; what follows the loop does so likewise.
Where one of them is returned, that is a copy of the one that has the name then: of arrays that the function makes
nobody can tell, and of those of the caller a note says it.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from polyviz.frontend.array_names import ArrayNames, bound_by
from polyviz.frontend.jumps import jumps_of
from polyviz.frontend.literals import REBOUND, RETURNED
from polyviz.frontend.parts import argument_names, copies_of, copy_of, names_in, parts_of
from polyviz.frontend.regions import call_of, constant_of
from polyviz.frontend.visited import FreshNames, located

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from polyviz.frontend.names import GlobalNames
    from polyviz.frontend.source import Source

MOST = 4
"""Arrays that may change names in a circle: every statement inside is analysed as often."""


def without_swaps(source: Source, names: GlobalNames) -> Source:
    """``source`` without exchanged names of arrays; where it cannot be followed, the exchange stays.

    In a cell, where the names are those of the notebook, an ``Exchanged`` follows the loop.

    >>> from polyviz.frontend.names import GlobalNames
    >>> from polyviz.frontend.source import read_source
    >>> source = read_source("def f(A, B, n):\\n for t in range(n):\\n  B[0] = A[0]\\n  A, B = B, A", None, None)
    >>> print(ast.unparse(ast.Module(list(without_swaps(source, GlobalNames(source)).body), [])))
    for t in range(n):
        if t % 2 == 0:
            B[0] = A[0]
        else:
            A[0] = B[0]
    """
    around = _Around(names, own_arrays(source, names), FreshNames(source, names), source.is_cell)
    body = _block(list(source.body), around)
    return source if body is None else replace(source, body=tuple(body))


def own_arrays(source: Source, names: GlobalNames) -> frozenset[str]:
    """The arrays that the function makes, and which have one name outside of loops."""
    arguments = argument_names(source.arguments)
    makes = ArrayNames(source.body, names).makes
    lines = [part for part in parts_of(*source.body) if isinstance(part, ast.Assign)]
    made = {bound_by(node) for node in lines if makes(node.value)} - arguments
    plain = [node for node in source.body if isinstance(node, ast.Assign) and isinstance(node.value, ast.Name)]
    made -= {node.value.id for node in plain if isinstance(node.value, ast.Name)} | {bound_by(node) for node in plain}
    return frozenset(made)


def exchanged_names(node: ast.stmt) -> dict[str, str] | None:
    """What each name gets in ``A, B = B, A``, in which the same names stand on both sides; None for other lines."""
    match node:
        case ast.Assign(targets=[ast.Tuple(elts=left)], value=ast.Tuple(elts=right)):
            targets = [one.id for one in left if isinstance(one, ast.Name)]
            values = [one.id for one in right if isinstance(one, ast.Name)]
            fits = 1 < len(targets) == len(left) == len(set(targets)) and sorted(targets) == sorted(values)
            return dict(zip(targets, values, strict=True)) if fits else None
    return None


class Exchanged(ast.stmt):
    """``names`` are those of a cell after ``count`` exchanges, in each of which they got what ``values`` had."""

    _fields = ("count",)
    count: ast.expr
    names: tuple[str, ...]
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Around:
    """What is known of the program: its ``names``, the arrays that it has ``made``, and names that it does not have."""

    names: GlobalNames
    made: frozenset[str]
    fresh: FreshNames
    is_cell: bool


def _block(body: list[ast.stmt], around: _Around) -> list[ast.stmt] | None:
    for position, node in enumerate(body):
        swap = _found(node, around.names) if isinstance(node, ast.For) else None
        if swap is None:
            continue
        later = body[position + 1 :]
        rest = _block(later, around) or later
        returned = _returned(swap, rest, around)
        if not _is_followed(swap, [*body[: position + 1], *rest[: len(rest) - bool(returned)]], position):
            continue
        rest = rest[:-1] if returned else rest
        # What the notebook exchanges later, it exchanges whatever was exchanged before.
        marks = [one for one in rest if isinstance(one, Exchanged)]
        rest = [one for one in rest if not isinstance(one, Exchanged)]
        if names_in(*rest) & set(swap.names):
            # What comes after the last mention is the same in each case, such as the return of a result.
            last = max(place for place, one in enumerate(rest) if names_in(one) & set(swap.names))
            rest = [*_variants(swap.count, [*swap.meanings], rest[: last + 1], node), *rest[last + 1 :]]
        mark = [swap.mark(), *marks] if around.is_cell else []
        return [*body[:position], swap.loop(), *mark, *rest, *returned]
    return None


@dataclass(frozen=True, slots=True)
class _Swap:
    """The loop ``node`` whose body ends by giving each of ``names`` what the one at the same place of ``values`` had.

    ``body`` is the rest of it; ``start`` and ``stop`` are those of the range, ``step`` is 1 or -1. ``comes_first``: it
    begins so instead.
    """

    node: ast.For
    body: list[ast.stmt]
    names: tuple[str, ...]
    values: tuple[str, ...]
    start: ast.expr
    stop: ast.expr
    step: int
    comes_first: bool

    @property
    def meanings(self) -> Iterator[Mapping[str, str]]:
        """Which array each name means in the first step, in the second, until the circle is closed."""
        one = dict(zip(self.names, self.values, strict=True))
        meant = {name: name for name in self.names}
        while True:
            yield meant
            meant = {name: meant[one[name]] for name in self.names}
            if all(name == array for name, array in meant.items()):
                return

    @property
    def count(self) -> ast.expr:
        """The number of steps."""
        return call_of("max", self._steps_to(self.stop), ast.Constant(0))

    def _steps_to(self, place: ast.expr) -> ast.expr:
        return _difference(place, self.start) if self.step > 0 else _difference(self.start, place)

    def mark(self) -> Exchanged:
        """What a cell has to make good once it has run."""
        mark = ast.copy_location(Exchanged(), self.node)
        mark.count, mark.names, mark.values = self.count, self.names, self.values
        for part in parts_of(mark.count):
            ast.copy_location(part, self.node)
        return mark

    def loop(self) -> ast.For:
        """The loop with a body for each meaning of the names."""
        variable = self.node.target.id if isinstance(self.node.target, ast.Name) else ""
        done = self._steps_to(ast.Name(variable, ast.Load()))
        first, *others = self.meanings
        meanings = [*others, first] if self.comes_first else [first, *others]
        loop = ast.For(self.node.target, self.node.iter, _variants(done, meanings, self.body, self.body[0]), [])
        return ast.copy_location(loop, self.node)


def _returned(swap: _Swap, rest: Sequence[ast.stmt], around: _Around) -> list[ast.stmt]:
    """The ``return`` at the end of ``rest`` with copies of the arrays that have the names then, behind the lines that
    make them; nothing where it returns none of them."""
    last = rest[-1] if rest else None
    if not isinstance(last, ast.Return) or last.value is None:
        return []
    kind = REBOUND if set(swap.names) <= around.made else RETURNED
    values = list(last.value.elts) if isinstance(last.value, ast.Tuple) else [last.value]
    asked = [one.id for one in values if isinstance(one, ast.Name) and one.id in swap.names]
    others = [one for one in values if not (isinstance(one, ast.Name) and one.id in asked)]
    if not asked or len(set(asked)) < len(asked) or names_in(*others) & set(swap.names):
        return []
    own = {name: around.fresh.like("result") for name in asked}
    lines = [line for name in asked for line in _copies(swap, name, own[name], kind)]
    return [*(located(line, last) for line in lines), *_renamed([last], own)]


def _copies(swap: _Swap, name: str, target: str, kind: str) -> list[ast.stmt]:
    """The lines that make ``target`` a copy of the array that has the ``name`` after the loop."""
    meanings = list(swap.meanings)
    whole = ast.Call(ast.Attribute(ast.Name(name, ast.Load()), "copy", ast.Load()), [], [])
    lines: list[ast.stmt] = [ast.Assign([ast.Name(target, ast.Store())], whole)]
    for number, meant in enumerate(meanings[1:], 1):
        everything = ast.Subscript(ast.Name(target, ast.Load()), ast.Constant(..., kind), ast.Store())
        turn = ast.BinOp(swap.count, ast.Mod(), ast.Constant(len(meanings)))
        test = ast.Compare(turn, [ast.Eq()], [ast.Constant(number)])
        lines.append(ast.If(test, [ast.Assign([everything], ast.Name(meant[name], ast.Load()))], []))
    return lines


def _difference(left: ast.expr, right: ast.expr) -> ast.expr:
    is_zero = isinstance(right, ast.Constant) and right.value == 0
    return copy_of(left) if is_zero else ast.BinOp(copy_of(left), ast.Sub(), copy_of(right))


def _variants(
    count: ast.expr, meanings: Sequence[Mapping[str, str]], body: Sequence[ast.stmt], place: ast.stmt
) -> list[ast.stmt]:
    """``body`` for each of ``meanings``, under the condition that ``count`` exchanges led to it in their circle."""
    chosen = _renamed(body, meanings[-1])
    for number, meant in reversed(list(enumerate(meanings[:-1]))):
        turn = ast.BinOp(copy_of(count), ast.Mod(), ast.Constant(len(meanings)))
        test = ast.Compare(turn, [ast.Eq()], [ast.Constant(number)])
        branch = ast.If(test, _renamed(body, meant), chosen)
        for part in (branch, *parts_of(test)):
            ast.copy_location(part, place)
        branch.end_lineno, branch.end_col_offset = body[-1].end_lineno, body[-1].end_col_offset
        chosen = [branch]
    return chosen


def _renamed(body: Sequence[ast.stmt], meant: Mapping[str, str]) -> list[ast.stmt]:
    copied = copies_of(body)
    for node in copied:
        for part in parts_of(node):
            if isinstance(part, ast.Name):
                part.id = meant.get(part.id, part.id)
    return copied


def _found(node: ast.For, names: GlobalNames) -> _Swap | None:
    exchanged = _exchanged(node.body)
    comes_first = exchanged is None
    exchanged = exchanged or _exchanged_first(node.body)
    if exchanged is None or not isinstance(node.target, ast.Name) or node.orelse:
        return None
    body, targets, values = exchanged
    step = 1
    match node.iter:
        case ast.Call(func=function, args=[stop], keywords=[]) if names.canonical(function) == "range":
            start: ast.expr = ast.copy_location(ast.Constant(0), stop)
        case ast.Call(func=function, args=[start, stop, *by], keywords=[]) if names.canonical(function) == "range":
            step = constant_of(by[0]) or 0 if by else 1
        case _:
            return None
    if abs(step) != 1:
        return None
    swap = _Swap(node, body, targets, values, start, stop, step, comes_first)
    return swap if body and not any(jumps_of(body)) and len(list(swap.meanings)) <= MOST else None


def _exchanged(body: list[ast.stmt]) -> tuple[list[ast.stmt], tuple[str, ...], tuple[str, ...]] | None:
    """What stands before the exchanges at the end of ``body``, the names, and what each of them is given by all."""
    exchanges, kept_names = [], set()
    while (last := _last_exchange(body)) is not None:
        body, targets, values, kept = last
        exchanges.append((targets, values))
        kept_names |= kept
    if kept_names & names_in(*body):
        return None
    given: dict[str, str] = {}
    for targets, values in reversed(exchanges):
        given |= {target: given.get(value, value) for target, value in zip(targets, values, strict=True)}
    return (body, tuple(given), tuple(given.values())) if given else None


def _exchanged_first(body: list[ast.stmt]) -> tuple[list[ast.stmt], tuple[str, ...], tuple[str, ...]] | None:
    """Likewise for an exchange that is the first line of ``body``, and what stands behind it."""
    pairs = exchanged_names(body[0])
    return None if pairs is None else (body[1:], tuple(pairs), tuple(pairs.values()))


def _last_exchange(
    body: list[ast.stmt],
) -> tuple[list[ast.stmt], tuple[str, ...], tuple[str, ...], set[str]] | None:
    """The same for one exchange, the last statement of ``body`` or the last ones, and the name that they need."""
    if body and isinstance(body[-1], ast.Assign) and isinstance(body[-1].targets[0], ast.Tuple):
        pairs = exchanged_names(body[-1])
        return None if pairs is None else (body[:-1], tuple(pairs), tuple(pairs.values()), set())
    return passed_on(body)


def passed_on(
    body: list[ast.stmt],
) -> tuple[list[ast.stmt], tuple[str, ...], tuple[str, ...], set[str]] | None:
    """Likewise for ``kept = A``, ``A = B``, ``B = C`` and so on, and ``C = kept``."""
    targets, kept = list[str](), ""
    for place in range(len(body) - 1, -1, -1):
        match body[place]:
            case ast.Assign(targets=[ast.Name(id=target)], value=ast.Name(id=value)):
                kept = kept or value
            case _:
                return None
        if targets and value != targets[0]:
            return None
        if target == kept:
            is_circle = 1 < len(targets) == len(set(targets))
            return (body[:place], tuple(targets), (*targets[1:], targets[0]), {kept}) if is_circle else None
        targets.insert(0, target)
    return None


def _is_followed(swap: _Swap, body: Sequence[ast.stmt], position: int) -> bool:
    """Whether all are arrays that get no other name, and the number of steps is known where they are told apart."""
    around = [*body[:position], *swap.body, *body[position + 1 :]]
    arrays = {
        part.value.id
        for node in around
        for part in parts_of(node)
        if isinstance(part, ast.Subscript) and isinstance(part.value, ast.Name)
    }
    own = set(swap.names)
    inside = {name for node in swap.body for name in _stored(node)}
    stored = inside.union(*map(_stored, body[position + 1 :]))
    handed_out = any(_hands_out(node, own) for node in body[position + 1 :])
    steps_are_known = not names_in(swap.start, swap.stop) & stored and not names_in(swap.node.target) & inside
    return own <= arrays and not own & stored and steps_are_known and not handed_out


def _hands_out(node: ast.stmt, arrays: set[str]) -> bool:
    """Whether ``node`` returns one of ``arrays``: which one would depend on the number of steps."""
    for part in parts_of(node):
        if isinstance(part, ast.Return) and part.value is not None:
            values = part.value.elts if isinstance(part.value, ast.Tuple) else [part.value]
            if any(isinstance(one, ast.Name) and one.id in arrays for one in values):
                return True
    return False


def _stored(node: ast.stmt) -> Iterator[str]:
    return (part.id for part in parts_of(node) if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store))
