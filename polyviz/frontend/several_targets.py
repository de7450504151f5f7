"""Assignments with several targets, ``A[i:n, i] = A[i, i:n] = value`` or ``x[:], y[:] = 0, 1``: one after the other."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from polyviz.frontend.parts import copy_of, names_in
from polyviz.frontend.refuse import Refusal
from polyviz.frontend.regions import loaded
from polyviz.frontend.usage import subscript_chain

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from polyviz.frontend.source import Source


_AT_ONCE = Refusal(
    "Elements of several arrays are assigned at once.",
    "A later one would see what an earlier one has changed.",
    "Write one assignment per line.",
)
_EXCHANGED = Refusal(
    "Parts of arrays are given new elements at once, and a later value reads what an earlier one changes.",
    "A part of an array is no copy for NumPy: below `A[0], A[1] = A[1], A[0]`, both rows are what the second one was.",
    "Write one assignment per line. For rows that change places, copy one first: `kept = A[0, :].copy()`, then "
    "`A[0, :] = A[1, :]` and `A[1, :] = kept`.",
)


def each_alone(
    node: ast.Assign, has_axes: Callable[[ast.expr], bool], source: Source
) -> list[ast.stmt] | None:
    """One assignment for each target of ``node``; None where none ``has_axes``, raises where there is none.

    >>> from polyviz.frontend.source import read_source
    >>> source = read_source("x[:], y[0] = y[:], 1", None, None)
    >>> lines = each_alone(source.body[0], lambda node: True, source)
    >>> [ast.unparse(ast.fix_missing_locations(line)) for line in lines]
    ['x[:] = y[:]', 'y[0] = 1']
    """
    match node:
        case ast.Assign(targets=[ast.Tuple(elts=targets)], value=ast.Tuple(elts=values)) if (
            len(targets) == len(values) and any(map(has_axes, targets))
        ):
            found, refused = _each_value(targets, values), _EXCHANGED
        case ast.Assign(targets=[_, _, *_] as targets, value=value) if any(map(has_axes, targets)):
            found, refused = one_by_one(targets, value) or [], _AT_ONCE
        case _:
            return None
    if not found:
        raise source.error(node, refused.construct, reason=refused.reason, hint=refused.hint)
    return found


def _each_value(targets: Sequence[ast.expr], values: Sequence[ast.expr]) -> list[ast.stmt]:
    """One assignment per target, each of which has a value of its own; none where a later one may see a change."""
    changed: set[str] = set()
    for target, value in zip(targets, values, strict=True):
        base, indices = subscript_chain(target) if isinstance(target, ast.Subscript) else (target, ())
        asked = names_in(value, *indices)
        if changed & asked or not isinstance(base, ast.Name):
            return []
        changed.add(base.id)
    return [ast.Assign([target], value) for target, value in zip(targets, values, strict=True)]


def one_by_one(targets: Sequence[ast.expr], value: ast.expr) -> list[ast.stmt] | None:
    """One assignment per target; None where a later one would see what an earlier one has changed.

    Parts of one array get the elements of the first of them, which have the type of the array by then; several arrays
    get the value each.

    >>> for text in ("A[i, :n] = A[:n, i] = x[:n] @ B", "x[:] = y[:] = 0.0"):
    ...     [node] = ast.parse(text).body
    ...     print(ast.unparse(ast.fix_missing_locations(ast.Module(one_by_one(node.targets, node.value), []))))
    A[i, :n] = x[:n] @ B
    A[:n, i] = A[i, :n]
    x[:] = 0.0
    y[:] = 0.0
    """
    parts = [target for target in targets if isinstance(target, ast.Subscript)]
    bases = [_base(part) for part in parts]
    looked_at = [value, *(index for part in parts for index in subscript_chain(part)[1])]
    names = names_in(*looked_at)
    if len(parts) < len(targets) or names & set(bases) or "" in bases:
        return None
    values = [value, *(loaded(parts[0]) if base == bases[0] else value for base in bases[1:])]
    return [ast.Assign([part], copy_of(one)) for part, one in zip(parts, values, strict=True)]


def line_for_each(node: ast.AST) -> list[ast.stmt]:
    """A line for each name of ``p, q = A[i], A[j]``; none for other statements, or where a value reads one of them.

    >>> [ast.unparse(line) for line in line_for_each(ast.parse("p, q = A[i], A[j]").body[0])]
    ['p = A[i]', 'q = A[j]']
    >>> line_for_each(ast.parse("p, q = q, A[j]").body[0])
    []
    """
    match node:
        case ast.Assign(targets=[ast.Tuple(elts=targets)], value=ast.Tuple(elts=values)):
            named = {one.id for one in targets if isinstance(one, ast.Name)}
        case _:
            return []
    read = names_in(*values)
    if len(named) < len(targets) or len(targets) != len(values) or named & read:
        return []
    pairs = zip(targets, values, strict=True)
    return [ast.copy_location(ast.Assign([target], value), node) for target, value in pairs]


def _base(target: ast.Subscript) -> str:
    """The array that ``target`` is a part of; nothing where that is not clear."""
    base = subscript_chain(target)[0]
    return base.id if isinstance(base, ast.Name) else ""
