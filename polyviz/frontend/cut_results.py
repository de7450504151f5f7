"""Arrays that are returned up to a number that the loops count: ``return kept[:count]``.

How large such a result is only the data tell. Generated code hands back the whole array and the number, and who called
it gets what lies before that (``polyviz.model.cut_results``).
"""

from __future__ import annotations

import ast
import copy
from dataclasses import replace
from typing import TYPE_CHECKING

from polyviz.frontend.visited import located
from polyviz.model.cut_results import Cut

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from polyviz.frontend.source import Source

def with_cut_results(source: Source) -> Source:
    """``source`` of a function that returns the arrays whole, and the numbers beside them.

    >>> from polyviz.frontend.source import read_source
    >>> text = "def f(x, n):\\n k = 0\\n for i in range(n):\\n  if x[i] > 0:\\n   k += 1\\n return x[:k]"
    >>> found = with_cut_results(read_source(text, None, None))
    >>> print(ast.unparse(found.body[-1]), found.cut)
    return (x, k) Cut(ends=((0, 1),), hidden=1, is_tuple=False)
    """
    returns = [part for node in source.body for part in ast.walk(node) if isinstance(part, ast.Return)]
    if source.is_cell or len(returns) != 1 or returns[0] is not source.body[-1] or returns[0].value is None:
        return source
    end = returns[0]
    assert end.value is not None
    is_tuple = isinstance(end.value, ast.Tuple)
    given = list(end.value.elts) if isinstance(end.value, ast.Tuple) else [end.value]
    counted = _counted(source.body)
    parts = {place: part for place, one in enumerate(given) if (part := _cut(one, counted)) is not None}
    if not parts:
        return source
    values = [parts[place][0] if place in parts else one for place, one in enumerate(given)]
    seen = [one.id if isinstance(one, ast.Name) else "" for one in values]
    ends = []
    for place, (_, number) in parts.items():
        if number.id not in seen:
            values.append(number)
            seen.append(number.id)
        ends.append((place, seen.index(number.id)))
    whole = located(ast.Return(ast.Tuple([copy.deepcopy(one) for one in values], ast.Load())), end)
    found = Cut(tuple(ends), len(values) - len(given), is_tuple)
    return replace(source, body=(*source.body[:-1], whole), cut=found)


def _cut(node: ast.expr, counted: Collection[str]) -> tuple[ast.Name, ast.Name] | None:
    """The array and the number of ``kept[:count]``, where that is ``counted``."""
    match node:
        case ast.Subscript(
            value=ast.Name() as array, slice=ast.Slice(lower=None, upper=ast.Name(id=name) as number, step=None)
        ) if name in counted:
            return array, number
    return None


def _counted(body: Sequence[ast.stmt]) -> set[str]:
    """The names that get a value in a loop or condition: what they end as no size tells."""
    blocks = [node for node in body if isinstance(node, ast.For | ast.While | ast.If)]
    parts = (part for block in blocks for part in ast.walk(block) if isinstance(part, ast.Name))
    return {part.id for part in parts if isinstance(part.ctx, ast.Store)}
