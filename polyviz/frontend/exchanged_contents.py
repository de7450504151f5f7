"""Arrays that change names where nobody can tell beforehand how often: their elements are exchanged instead.

``A, B = B, A`` in a loop that ends when the values have settled becomes three copies. Where the function has made both
arrays, no one can tell, and each name stands for one array. Steps that are counted are written out in ``swaps``.
"""

from __future__ import annotations

import ast
import copy
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from polyviz.frontend.array_names import ArrayNames, bound_by
from polyviz.frontend.handed_over import with_blocks
from polyviz.frontend.literals import EXCHANGED
from polyviz.frontend.new_arrays import bindings
from polyviz.frontend.swaps import exchanged_names, own_arrays, passed_on, without_swaps
from polyviz.frontend.visited import FreshNames, located, visited

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from polyviz.frontend.names import GlobalNames
    from polyviz.frontend.source import Source


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
    source = replace(source, body=tuple(_at_once(source.body, _mentions(source.body), arrays)))
    exchanges = list(_exchanges(source.body))
    if not exchanges:
        return source
    left = {(node.lineno, node.col_offset) for node in _exchanges(without_swaps(source, names).body)}
    plain = (part.value for node in source.body for part in ast.walk(node) if isinstance(part, ast.Assign))
    own = (own_arrays(source, names) & arrays) - {value.id for value in plain if isinstance(value, ast.Name)}
    counts = bindings(source.body)
    given = [name for node in exchanges for name in exchanged_names(node) or ()]
    once = {name for name in own if counts[name] - given.count(name) == 1}
    writer = _Writer(left, once, FreshNames(source, names))
    return replace(source, body=tuple(visited(writer, copy.deepcopy(list(source.body)))))


class _Writer(ast.NodeTransformer):
    """Writes the exchanges at the places that are ``left``, of arrays that no other name has."""

    def __init__(self, left: Collection[tuple[int, int]], once: Collection[str], fresh: FreshNames) -> None:
        self._left = left
        self._once = once
        self._fresh = fresh

    def visit_Assign(self, node: ast.Assign) -> ast.stmt | list[ast.stmt]:
        pairs = exchanged_names(node)
        if pairs is None or (node.lineno, node.col_offset) not in self._left or not set(pairs) <= set(self._once):
            return node
        lines, waiting = list[ast.stmt](), {name: value for name, value in pairs.items() if name != value}
        while waiting:
            first = name = next(iter(waiting))
            kept = self._fresh.like("kept")
            whole = ast.Call(ast.Attribute(ast.Name(name, ast.Load()), "copy", ast.Load()), [], [])
            lines.append(ast.Assign([ast.Name(kept, ast.Store())], whole))
            while (value := waiting.pop(name)) != first:
                lines.append(_moved(name, value))
                name = value
            lines.append(_moved(name, kept))
        return [located(line, node) for line in lines]


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


def _mentions(body: Iterable[ast.stmt]) -> Counter[str]:
    return Counter(part.id for node in body for part in ast.walk(node) if isinstance(part, ast.Name))


def _moved(name: str, value: str) -> ast.stmt:
    """The line that gives the array ``name`` the elements of ``value``."""
    everything = ast.Subscript(ast.Name(name, ast.Load()), ast.Constant(..., EXCHANGED), ast.Store())
    return ast.Assign([everything], ast.Name(value, ast.Load()))


def _exchanges(body: Iterable[ast.stmt]) -> Iterator[ast.Assign]:
    """The lines that exchange names, one in which each of them is on both sides."""
    parts = (part for node in body for part in ast.walk(node))
    return (part for part in parts if isinstance(part, ast.Assign) and exchanged_names(part) and not bound_by(part))
