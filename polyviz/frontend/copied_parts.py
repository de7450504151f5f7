"""Names of parts of arrays that nobody changes, ``r = x[::-1]``: where they are used otherwise than element by element
in full, a copy is as good as the part.

``polyviz.frontend.views`` has written the part in the place of the name wherever it follows the uses.
"""

from __future__ import annotations

import ast
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from polyviz.frontend.array_names import bound_by
from polyviz.frontend.array_parts import is_view, is_walked
from polyviz.frontend.parts import parts_of
from polyviz.frontend.subscripted import changed_by_any_name
from polyviz.frontend.usage import subscript_chain
from polyviz.frontend.visited import located, visited

if TYPE_CHECKING:
    from polyviz.frontend.names import GlobalNames
    from polyviz.frontend.source import Source


def with_copied_parts(source: Source, names: GlobalNames) -> Source:
    """``source`` of a function with copies in the place of parts that have a name still; what is returned stays.

    >>> from polyviz.frontend.names import GlobalNames
    >>> from polyviz.frontend.source import read_source
    >>> source = read_source("def f(x, y):\\n    r = x[::-1]\\n    y[::2] = r[::2]", None, None)
    >>> print(ast.unparse(with_copied_parts(source, GlobalNames(source)).body[0]))
    r = x[::-1].copy()
    """
    if source.arguments is None:
        return source
    parts = parts_of(*source.body)
    if not any(_sliced(part) for part in parts):
        return source
    stored = Counter(part.id for part in parts if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store))
    stored.update(part.arg for part in parts_of(source.arguments) if isinstance(part, ast.arg))
    returned = {one.id for part in parts if isinstance(part, ast.Return) for one in _whole(part.value)}
    kept = changed_by_any_name(source, names) | returned | {name for name in stored if stored[name] > 1}
    return replace(source, body=tuple(visited(_Writer(kept), source.body)))


def _sliced(node: ast.AST) -> str:
    """The array of which ``node`` gives a name to a part, with slices; nothing for other statements."""
    match node:
        case ast.Assign(targets=[ast.Name()], value=ast.Subscript() as value):
            base, indices = subscript_chain(value)
            is_part = isinstance(base, ast.Name) and is_view(value, indices) and any(map(is_walked, indices))
            return base.id if is_part and isinstance(base, ast.Name) else ""
    return ""


def _whole(value: ast.expr | None) -> list[ast.Name]:
    parts = value.elts if isinstance(value, ast.Tuple) else [value]
    return [one for one in parts if isinstance(one, ast.Name)]


class _Writer(ast.NodeTransformer):
    """Leaves names and arrays that are in ``kept`` as they are."""

    def __init__(self, kept: set[str]) -> None:
        self._kept = kept

    def visit_Assign(self, node: ast.Assign) -> ast.stmt:
        base = _sliced(node)
        if base and not {base, bound_by(node)} & self._kept:
            copied = ast.Call(ast.Attribute(node.value, "copy", ast.Load()), [], [])
            node.value = located(copied, node.value)
        return node
