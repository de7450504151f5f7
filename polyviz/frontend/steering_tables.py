"""Arrays of whole numbers written down in the text, or around it, that say which neighbours a program looks at.

``f[i - e[q]]`` with ``e = np.array([0, 1, -1])`` and ``q`` in ``range(3)`` is ``f[i]``, ``f[i - 1]`` and ``f[i + 1]``:
loops over such directions are written out (``polyviz.frontend.written_out``), and every subscript is affine.
"""

from __future__ import annotations

import ast
from collections import Counter
from typing import TYPE_CHECKING

from polyviz.frontend.array_names import in_place
from polyviz.frontend.literals import literal_table
from polyviz.frontend.parts import names_in, names_of, parts_of
from polyviz.frontend.usage import subscript_chain

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from polyviz.frontend.literals import Table
    from polyviz.frontend.names import GlobalNames

_WHOLE = frozenset({"int", "int8", "int16", "int32", "int64", "intp", "int_"})
_SIZES = frozenset({"shape", "size", "ndim"})


def steering_tables(body: Sequence[ast.stmt], names: GlobalNames) -> dict[str, Table]:
    """The arrays of whole numbers that ``body`` makes once and only looks up, where one of them steers a subscript.

    >>> from polyviz.frontend.names import GlobalNames
    >>> from polyviz.frontend.source import read_source
    >>> text = "def f(A, B):\\n e = np.array([0, 2])\\n for q in range(2): A[q] = B[e[q]]"
    >>> source = read_source(text, None, None)
    >>> steering_tables(source.body, GlobalNames(source))
    {'e': (0, 2)}
    """
    parts = parts_of(*body)
    stored = Counter(part.id for part in parts if isinstance(part, ast.Name) and not isinstance(part.ctx, ast.Load))
    changed = in_place(body)
    found = {}
    for node in body:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call() as value) if stored[name] == 1:
                table = None if name in changed else _table(value, names)
                if table is not None and _is_only_looked_up(name, _depth(table), parts):
                    found[name] = table
    return found if any(isinstance(part, ast.For) and steers(part, found) for part in parts) else {}


def steers(loop: ast.For, tables: Collection[str]) -> bool:
    """Whether an element that ``loop`` chooses from one of ``tables`` is in a subscript or a condition of its body."""
    wanted = names_in(loop.target)
    parts = parts_of(*loop.body)
    chosen = {id(part) for part in parts if isinstance(part, ast.Subscript) and _chooses(part, wanted, tables)}
    # A loop over the rows of a table has their elements in its own variables.
    carriers = wanted if isinstance(loop.iter, ast.Name) and loop.iter.id in tables else set[str]()

    def is_told(node: ast.AST) -> bool:
        return any(
            id(part) in chosen or (isinstance(part, ast.Name) and part.id in carriers) for part in parts_of(node)
        )

    assigned = [part for part in parts if isinstance(part, ast.Assign)]
    while more := {name for one in assigned if is_told(one.value) for name in _targets(one)} - carriers:
        carriers |= more
    return any(is_told(place) for place in _places(parts, tables))


def _table(node: ast.Call, names: GlobalNames) -> Table | None:
    """The numbers of ``np.array([...])``, all of them whole; None for anything else."""
    if names.canonical(node.func) != "numpy.array" or len(node.args) != 1:
        return None
    for keyword in node.keywords:
        kind = keyword.value.value if isinstance(keyword.value, ast.Constant) else names.canonical(keyword.value)
        if keyword.arg != "dtype" or str(kind).removeprefix("numpy.") not in _WHOLE:
            return None
    table = literal_table(node.args[0])
    return table if table is not None and _is_whole(table) else None


def _is_whole(table: Table) -> bool:
    """Whether all numbers are whole, in rows that are equally long."""
    rows = [one for one in table if isinstance(one, tuple)]
    if not rows:
        return all(type(one) is int for one in table)
    return len(rows) == len(table) and len({len(one) for one in rows}) == 1 and all(map(_is_whole, rows))


def _depth(table: Table) -> int:
    return 1 + (_depth(table[0]) if isinstance(table[0], tuple) else 0)


def _is_only_looked_up(name: str, depth: int, parts: Iterable[ast.AST]) -> bool:
    """Whether every use of ``name`` asks for one of its elements, for all of them, or how many there are."""
    uses = 0
    for part in parts:
        match part:
            case ast.Name(id=other, ctx=ast.Load()) if other == name:
                uses += 1
            case ast.Subscript(ctx=ast.Load()) if _element_of(part, depth) == name:
                uses -= 1
            case ast.Attribute(value=ast.Name(id=other), attr=attribute) if other == name and attribute in _SIZES:
                uses -= 1
            case ast.Call(func=ast.Name(id="len"), args=[ast.Name(id=other)]) if other == name:
                uses -= 1
            case ast.For(iter=ast.Name(id=other)) if other == name:
                uses -= 1
    return uses == 0


def shape_of(table: Table) -> list[int]:
    """The extents of the array that is written down as ``table``.

    >>> shape_of(((1, 2, 3), (4, 5, 6)))
    [2, 3]
    """
    return [len(table), *(shape_of(table[0]) if isinstance(table[0], tuple) else [])]


def _element_of(node: ast.Subscript, depth: int) -> str:
    base, indices = subscript_chain(node)
    is_element = len(indices) == depth and not any(isinstance(index, ast.Slice) for index in indices)
    return base.id if is_element and isinstance(base, ast.Name) else ""


def _chooses(node: ast.Subscript, wanted: Collection[str], tables: Collection[str]) -> bool:
    base, indices = subscript_chain(node)
    chosen = isinstance(base, ast.Name) and base.id in tables
    return chosen and any(isinstance(part, ast.Name) and part.id in wanted for part in parts_of(*indices))


def _places(parts: Iterable[ast.AST], tables: Collection[str]) -> Iterator[ast.expr]:
    """The subscripts, but of tables themselves, and the conditions and bounds."""
    for part in parts:
        match part:
            case ast.Subscript():
                base, indices = subscript_chain(part)
                if not (isinstance(base, ast.Name) and base.id in tables):
                    yield from indices
            case ast.If(test=test) | ast.IfExp(test=test) | ast.For(iter=test):
                yield test


def _targets(node: ast.Assign) -> set[str]:
    names = names_of(*node.targets)
    return {name.id for name in names if isinstance(name.ctx, ast.Store)}


def without_unused(body: Iterable[ast.stmt], tables: Mapping[str, Table]) -> tuple[ast.stmt, ...]:
    """``body`` without the lines that make those of ``tables`` which nothing looks at any more."""
    nodes = list(body)
    loaded = {
        part.id for part in parts_of(*nodes)
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load)
    }  # fmt: skip
    unused = tables.keys() - loaded
    return tuple(node for node in nodes if not (isinstance(node, ast.Assign) and _targets(node) & unused))
