"""Arrays that change names at the end of every time step: each step is written with the arrays that it really means.

``A, B = B, A`` as the last line of a loop over ``t`` moves nothing. Even steps read ``A`` where odd ones read ``B``, so
the body stands there twice, under conditions on ``t``; what follows the loop does so likewise.
"""

from __future__ import annotations

import ast
import copy
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from polyviz.frontend.jumps import jumps_of

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
    body = _block(list(source.body), names, is_cell=source.is_cell)
    return source if body is None else replace(source, body=tuple(body))


class Exchanged(ast.stmt):
    """``names`` are those of a cell after ``count`` exchanges, in each of which they got what ``values`` had."""

    _fields = ("count",)
    count: ast.expr
    names: tuple[str, ...]
    values: tuple[str, ...]


def _block(body: list[ast.stmt], names: GlobalNames, *, is_cell: bool) -> list[ast.stmt] | None:
    for position, node in enumerate(body):
        swap = _found(node, names) if isinstance(node, ast.For) else None
        if swap is None:
            continue
        later = body[position + 1 :]
        rest = _block(later, names, is_cell=is_cell) or later
        if not _is_followed(swap, [*body[: position + 1], *rest], position):
            continue
        # What the notebook exchanges later, it exchanges whatever was exchanged before.
        marks = [one for one in rest if isinstance(one, Exchanged)]
        rest = [one for one in rest if not isinstance(one, Exchanged)]
        if _names(rest) & set(swap.names):
            # What comes after the last mention is the same in each case, such as the return of a result.
            last = max(place for place, one in enumerate(rest) if _names([one]) & set(swap.names))
            rest = [*_variants(swap.count, swap, rest[: last + 1], node), *rest[last + 1 :]]
        mark = [swap.mark(), *marks] if is_cell else []
        return [*body[:position], swap.loop(), *mark, *rest]
    return None


@dataclass(frozen=True, slots=True)
class _Swap:
    """The loop ``node`` whose body ends by giving each of ``names`` what the one at the same place of ``values`` had.

    ``body`` is what stands before; ``start`` and ``stop`` are those of the range.
    """

    node: ast.For
    body: list[ast.stmt]
    names: tuple[str, ...]
    values: tuple[str, ...]
    start: ast.expr
    stop: ast.expr

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
        return ast.Call(ast.Name("max", ast.Load()), [_difference(self.stop, self.start), ast.Constant(0)], [])

    def mark(self) -> Exchanged:
        """What a cell has to make good once it has run."""
        mark = ast.copy_location(Exchanged(), self.node)
        mark.count, mark.names, mark.values = self.count, self.names, self.values
        for part in ast.walk(mark.count):
            ast.copy_location(part, self.node)
        return mark

    def loop(self) -> ast.For:
        """The loop with a body for each meaning of the names."""
        variable = self.node.target.id if isinstance(self.node.target, ast.Name) else ""
        done = _difference(ast.Name(variable, ast.Load()), self.start)
        loop = ast.For(self.node.target, self.node.iter, _variants(done, self, self.body, self.body[0]), [])
        return ast.copy_location(loop, self.node)


def _difference(left: ast.expr, right: ast.expr) -> ast.expr:
    is_zero = isinstance(right, ast.Constant) and right.value == 0
    return copy.deepcopy(left) if is_zero else ast.BinOp(copy.deepcopy(left), ast.Sub(), copy.deepcopy(right))


def _variants(count: ast.expr, swap: _Swap, body: Sequence[ast.stmt], place: ast.stmt) -> list[ast.stmt]:
    """``body`` for each number of exchanges, under the condition that ``count`` of them were made."""
    meanings = list(swap.meanings)
    chosen = _renamed(body, meanings[-1])
    for number, meant in reversed(list(enumerate(meanings[:-1]))):
        turn = ast.BinOp(copy.deepcopy(count), ast.Mod(), ast.Constant(len(meanings)))
        test = ast.Compare(turn, [ast.Eq()], [ast.Constant(number)])
        branch = ast.If(test, _renamed(body, meant), chosen)
        for part in (branch, *ast.walk(test)):
            ast.copy_location(part, place)
        branch.end_lineno, branch.end_col_offset = body[-1].end_lineno, body[-1].end_col_offset
        chosen = [branch]
    return chosen


def _renamed(body: Sequence[ast.stmt], meant: Mapping[str, str]) -> list[ast.stmt]:
    copied = copy.deepcopy(list(body))
    for node in copied:
        for part in ast.walk(node):
            if isinstance(part, ast.Name):
                part.id = meant.get(part.id, part.id)
    return copied


def _found(node: ast.For, names: GlobalNames) -> _Swap | None:
    exchanged = _exchanged(node.body)
    if exchanged is None or not isinstance(node.target, ast.Name) or node.orelse:
        return None
    body, targets, values = exchanged
    match node.iter:
        case ast.Call(func=function, args=[stop], keywords=[]) if names.canonical(function) == "range":
            start: ast.expr = ast.copy_location(ast.Constant(0), stop)
        case ast.Call(func=function, args=[start, stop], keywords=[]) if names.canonical(function) == "range":
            pass
        case _:
            return None
    swap = _Swap(node, body, targets, values, start, stop)
    return swap if body and not any(jumps_of(body)) and len(list(swap.meanings)) <= MOST else None


def _exchanged(body: list[ast.stmt]) -> tuple[list[ast.stmt], tuple[str, ...], tuple[str, ...]] | None:
    """What stands before the exchanges at the end of ``body``, the names, and what each of them is given by all."""
    exchanges, kept_names = [], set()
    while (last := _last_exchange(body)) is not None:
        body, targets, values, kept = last
        exchanges.append((targets, values))
        kept_names |= kept
    if kept_names & _names(body):
        return None
    given: dict[str, str] = {}
    for targets, values in reversed(exchanges):
        given |= {target: given.get(value, value) for target, value in zip(targets, values, strict=True)}
    return (body, tuple(given), tuple(given.values())) if given else None


def _last_exchange(
    body: list[ast.stmt],
) -> tuple[list[ast.stmt], tuple[str, ...], tuple[str, ...], set[str]] | None:
    """The same for one exchange, the last statement of ``body`` or the last three, and the name that it needs."""
    match body:
        case [*before, ast.Assign(targets=[ast.Tuple(elts=left)], value=ast.Tuple(elts=right))]:
            targets = tuple(one.id for one in left if isinstance(one, ast.Name))
            values = tuple(one.id for one in right if isinstance(one, ast.Name))
            fits = len(targets) == len(left) == len(set(targets)) and sorted(targets) == sorted(values)
            return (before, targets, values, set()) if fits and len(targets) > 1 else None
        case [
            *before,
            ast.Assign(targets=[ast.Name(id=kept)], value=ast.Name(id=first)),
            ast.Assign(targets=[ast.Name(id=one)], value=ast.Name(id=second)),
            ast.Assign(targets=[ast.Name(id=other)], value=ast.Name(id=last)),
        ] if one == first and second == other and last == kept:
            return (before, (first, second), (second, first), {kept}) if first != second else None
    return None


def _is_followed(swap: _Swap, body: Sequence[ast.stmt], position: int) -> bool:
    """Whether all are arrays that get no other name, and the number of steps is known where they are told apart."""
    around = [*body[:position], *swap.body, *body[position + 1 :]]
    arrays = {
        part.value.id
        for node in around
        for part in ast.walk(node)
        if isinstance(part, ast.Subscript) and isinstance(part.value, ast.Name)
    }
    own = set(swap.names)
    inside = {name for node in swap.body for name in _stored(node)}
    stored = inside.union(*map(_stored, body[position + 1 :]))
    handed_out = any(_hands_out(node, own) for node in body[position + 1 :])
    steps_are_known = not _names([swap.start, swap.stop]) & stored and not _names([swap.node.target]) & inside
    return own <= arrays and not own & stored and steps_are_known and not handed_out


def _hands_out(node: ast.stmt, arrays: set[str]) -> bool:
    """Whether ``node`` returns one of ``arrays``: which one would depend on the number of steps."""
    for part in ast.walk(node):
        if isinstance(part, ast.Return) and part.value is not None:
            values = part.value.elts if isinstance(part.value, ast.Tuple) else [part.value]
            if any(isinstance(one, ast.Name) and one.id in arrays for one in values):
                return True
    return False


def _stored(node: ast.stmt) -> Iterator[str]:
    return (part.id for part in ast.walk(node) if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store))


def _names(nodes: Sequence[ast.AST]) -> set[str]:
    return {part.id for node in nodes for part in ast.walk(node) if isinstance(part, ast.Name)}
