"""What the variable of a loop holds after ``break``: the iteration that ended it, kept where somebody asks.

``for k in range(n): … break`` followed by ``last = k`` becomes a loop over ``k_at`` whose body begins with
``k = k_at``. Inside, the new name stands everywhere else, so that subscripts stay affine.
"""

from __future__ import annotations

import ast
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from polyviz.frontend.jumps import ends_early
from polyviz.frontend.literals import literal_number
from polyviz.frontend.new_arrays import Running
from polyviz.frontend.parts import copies_of, copy_of, parts_of
from polyviz.frontend.regions import difference
from polyviz.frontend.visited import FreshNames, visited

if TYPE_CHECKING:
    from collections.abc import Iterable

    from polyviz.frontend.names import GlobalNames
    from polyviz.frontend.source import Source


def with_last_values(source: Source, names: GlobalNames) -> Source:
    """``source`` where loops that may end early keep the value of a variable that is read outside of them.

    The variable is 0 before a loop that runs always or never, so that every iteration of the loops around has a value
    of its own: where the loop never runs Python has none. In a cell it may be an older one; there the numbers of the
    notebook have to say that the loop runs, and a ``Running`` relies on it.

    >>> from polyviz.frontend.names import GlobalNames
    >>> from polyviz.frontend.source import read_source
    >>> text = "def f(A, B, n):\\n for k in range(n):\\n  if A[k] > 0: break\\n B[0] = k"
    >>> source = read_source(text, None, None)
    >>> print(ast.unparse(ast.Module(list(with_last_values(source, GlobalNames(source)).body), [])))
    k = 0
    for k_at in range(n):
        k = k_at
        if A[k_at] > 0:
            break
    B[0] = k
    """
    writer = _Writer(source, names)
    body = tuple(visited(writer, source.body))
    return replace(source, body=body, own_loops=source.own_loops | writer.own) if writer.own else source


class _Writer(ast.NodeTransformer):
    def __init__(self, source: Source, names: GlobalNames) -> None:
        self._source = source
        self._names = names
        self._fresh = FreshNames(source, names)
        self._loads, self._stores = (_names(source.body, kind) for kind in (ast.Load, ast.Store))
        self.own: set[str] = set()

    def visit_For(self, node: ast.For) -> ast.stmt | list[ast.stmt]:
        """The loop under a name of its own, which leaves the user's name to what is stored."""
        self.generic_visit(node)
        if not isinstance(node.target, ast.Name) or not ends_early(node.body):
            return node
        name = node.target.id
        if self._loads[name] == _names(node.body, ast.Load)[name] or _names(node.body, ast.Store)[name]:
            return node
        own = self._fresh.like(f"{name}_at")
        self.own.add(own)
        body = copies_of(node.body)
        for part in parts_of(*body):
            if isinstance(part, ast.Name) and part.id == name:
                part.id = own
        kept = ast.Assign([node.target], ast.Name(own, ast.Load()))
        loop = ast.For(ast.Name(own, ast.Store()), node.iter, [_at(kept, node.target), *body], [])
        _at(loop.target, node.target)
        return [*self._before(node, name), ast.copy_location(loop, node)]

    def _before(self, node: ast.For, name: str) -> list[ast.stmt]:
        """What gives the variable a value in every iteration of the loops around, where that changes no result."""
        is_steady = not any(self._stores[part.id] for part in parts_of(node.iter) if isinstance(part, ast.Name))
        if not is_steady or self._stores[name] > 1:
            return []
        zero = _at(ast.Assign([node.target], ast.Constant(0)), node.target)
        if not self._source.is_cell:
            return [zero]
        ends = self._ends(node.iter)
        if ends is None or not range(*(value for _, value in ends)):
            return []
        (start, _), (stop, _) = ends
        running = Running()
        running.lengths = [difference(stop, start)]
        return [_at(running, node.iter), zero]

    def _ends(self, node: ast.expr) -> list[tuple[ast.expr, int]] | None:
        """Where a range begins and ends, with the numbers that these are in the notebook."""
        if not isinstance(node, ast.Call) or self._names.canonical(node.func) != "range" or len(node.args) > 2:
            return None
        arguments = [copy_of(one) for one in node.args]
        given = arguments if len(arguments) == 2 else [ast.Constant(0), *arguments]
        values = [literal_number(self._number(one), {}) for one in given]
        pairs = [(one, value) for one, value in zip(given, values, strict=True) if type(value) is int]
        return pairs if len(pairs) == 2 else None

    def _number(self, node: ast.expr) -> ast.expr:
        value = self._names.value(node.id) if isinstance(node, ast.Name) else None
        return ast.Constant(value) if type(value) is int else node


def _names(nodes: Iterable[ast.AST], context: type[ast.expr_context]) -> Counter[str]:
    parts = parts_of(*nodes)
    return Counter(part.id for part in parts if isinstance(part, ast.Name) and isinstance(part.ctx, context))


def _at(node: ast.AST, place: ast.AST) -> ast.stmt:
    """``node`` and all its parts at the ``place`` in the text."""
    for part in parts_of(node):
        ast.copy_location(part, place)
    return node  # type: ignore[return-value]
