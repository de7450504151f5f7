"""Arrays that change names where nobody can tell beforehand how often: their elements are exchanged instead.

``A, B = B, A`` in a loop that ends when the values have settled becomes three copies. Where the function has made both
arrays, no one can tell, and each name stands for one array; arguments get back what is theirs at the end
(``polyviz.frontend.put_back``). Steps that are counted are written out in ``swaps``.
"""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import TYPE_CHECKING

from polyviz.frontend.array_names import ArrayNames, bound_by
from polyviz.frontend.handed_over import with_blocks
from polyviz.frontend.new_arrays import bindings
from polyviz.frontend.parts import argument_names, copies_of, parts_of, uses_in
from polyviz.frontend.put_back import Circle, exchanged, with_circle
from polyviz.frontend.swaps import exchanged_names, own_arrays, passed_on, without_swaps
from polyviz.frontend.visited import FreshNames, located, visited

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Collection, Iterable, Iterator

    from polyviz.frontend.names import GlobalNames
    from polyviz.frontend.source import Source

    Place = tuple[int, int]


def with_exchanged_contents(source: Source, names: GlobalNames) -> Source:
    """``source`` of a function with copies in the place of exchanges that are not followed; a cell stays as it is.

    >>> from polyviz.frontend.names import GlobalNames
    >>> from polyviz.frontend.source import read_source
    >>> text = "def f(x):\\n a, b = x * 1, x * 2\\n while b[0] > 1:\\n  a[0] = b[0] / 2\\n  a, b = b, a"
    >>> source = read_source(text.replace("a, b = x * 1, x * 2", "a = x.copy()\\n b = x.copy()"), None, None)
    >>> print(ast.unparse(with_exchanged_contents(source, GlobalNames(source)).body[2]))
    while b[0] > 1:
        a[0] = b[0] / 2
        kept = a.copy()
        a[...] = b
        b[...] = kept
    """
    if source.arguments is None:
        return source
    arrays = ArrayNames(source.body, names).arrays
    source = replace(source, body=tuple(_at_once(source.body, uses_in(*source.body), arrays)))
    exchanges = list(_exchanges(source.body))
    if not exchanges:
        return source
    for pairs in (exchanged_names(node) or {} for node in exchanges):
        arrays |= set(pairs) if arrays & pairs.keys() else set()
    left = {_place(node) for node in _exchanges(without_swaps(source, names).body)}
    fresh = FreshNames(source, names)
    own, given = _known(source, names, arrays)
    makes = ArrayNames(source.body, names).makes
    circles = [
        circle
        for circle in _circles(exchanges, left, fresh)
        if given & circle.pairs.keys() and circle.pairs.keys() <= own | given
        and all(circle.may_return(node, makes) for node in _returns(source.body))
    ]  # fmt: skip
    writer = _Writer(left, own.union(*(one.pairs for one in circles)), circles, fresh)
    body = visited(writer, copies_of(source.body))
    for circle in circles:
        body = with_circle(body, circle)
    return replace(source, body=tuple(body))


def _known(source: Source, names: GlobalNames, arrays: set[str]) -> tuple[set[str], set[str]]:
    """The arrays that the function makes, and those that it is given, of which each has one name but for exchanges."""
    plain = [part for part in parts_of(*source.body) if isinstance(part, ast.Assign)]
    others = {node.value.id for node in plain if isinstance(node.value, ast.Name)}
    counts = bindings(source.body)
    for node in _exchanges(source.body):
        counts.subtract(list(exchanged_names(node) or ()))
    own = {name for name in own_arrays(source, names) & arrays - others if counts[name] == 1}
    arguments = argument_names(source.arguments)
    return own, {name for name in arguments & arrays - others if not counts[name]}


class _Writer(ast.NodeTransformer):
    """Writes the exchanges at the places that are ``left``, of arrays with one name each, and counts ``circles``."""

    def __init__(
        self, left: Collection[Place], once: Collection[str], circles: Iterable[Circle], fresh: FreshNames
    ) -> None:
        self._left = left
        self._once = once
        self._circles = list(circles)
        self._fresh = fresh

    def visit_Assign(self, node: ast.Assign) -> ast.stmt | list[ast.stmt]:
        pairs = exchanged_names(node)
        if pairs is None or _place(node) not in self._left or not set(pairs) <= set(self._once):
            return node
        counted = [one.counted(node) for one in self._circles if one.pairs == pairs]
        return [*exchanged(pairs, node, self._fresh), *counted]


def _circles(
    exchanges: Iterable[ast.Assign], left: Collection[Place], fresh: FreshNames
) -> Iterator[Circle]:
    """The names that are exchanged in one way only, at places that are ``left``."""
    ways = [(exchanged_names(node) or {}, node) for node in exchanges]
    for pairs, line in ways:
        alike = [(other, node) for other, node in ways if other.keys() & pairs.keys()]
        if all(other == pairs and _place(node) in left for other, node in alike) and alike[0][1] is line:
            yield Circle(pairs, line, fresh)


def _returns(body: Iterable[ast.stmt]) -> Iterator[ast.Return]:
    return (part for part in parts_of(*body) if isinstance(part, ast.Return))


def _place(node: ast.stmt) -> Place:
    return node.lineno, node.col_offset


def _at_once(body: Iterable[ast.stmt], mentions: Counter[str], arrays: set[str]) -> list[ast.stmt]:
    """``body`` with one line for ``kept = A``, ``A = B`` and ``B = kept``; ``mentions`` are all of the function."""
    written: list[ast.stmt] = []
    for node in body:
        written.append(with_blocks(node, lambda block: _at_once(block, mentions, arrays)))
        found = passed_on(written)
        if found is None or not set(found[1]) <= arrays or any(mentions[name] > 2 for name in found[3]):
            continue
        before, targets, values, _ = found
        left, right = (
            ast.Tuple([ast.Name(name, context) for name in each], context)
            for each, context in ((targets, ast.Store()), (values, ast.Load()))
        )
        line = located(ast.Assign([left], right), written[len(before)])
        line.end_lineno, line.end_col_offset = written[-1].end_lineno, written[-1].end_col_offset
        written = [*before, line]
    return written


def _exchanges(body: Iterable[ast.stmt]) -> Iterator[ast.Assign]:
    """The lines that exchange names, one in which each of them is on both sides."""
    parts = parts_of(*body)
    return (part for part in parts if isinstance(part, ast.Assign) and exchanged_names(part) and not bound_by(part))
