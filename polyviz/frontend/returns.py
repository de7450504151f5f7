"""An early ``return`` without jumping: what follows moves under the opposite condition, and one stands at the end."""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import TYPE_CHECKING

from polyviz.frontend.array_names import ArrayNames, bound_by
from polyviz.frontend.functions import CREATORS
from polyviz.frontend.literals import RETURNED
from polyviz.frontend.loop_returns import out_of_loops
from polyviz.frontend.new_arrays import bindings, clipped
from polyviz.frontend.own_names import numpy_function
from polyviz.frontend.parts import copy_of, names_in, parts_of
from polyviz.frontend.symbols import rank_of_annotation
from polyviz.frontend.visited import located
from polyviz.model.unused_names import unused_name

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator, Sequence

    from polyviz.frontend.names import GlobalNames
    from polyviz.frontend.source import Source


def one_return(source: Source, names: GlobalNames) -> Source:
    """``source`` of a function with one ``return``, at its end; where that cannot be, it stays and is refused later.

    >>> from polyviz.frontend.names import GlobalNames
    >>> from polyviz.frontend.source import read_source
    >>> source = read_source("def f(A, n):\\n if n == 0: return 0.0\\n A[0] = 1.0\\n return A[0]", None, None)
    >>> print(ast.unparse(ast.Module(list(one_return(source, GlobalNames(source)).body), [])))
    if n == 0:
        result = 0.0
    else:
        A[0] = 1.0
        result = A[0]
    return result
    """
    returns = list(_returns(source.body))
    if source.is_cell or not returns or (len(returns) == 1 and returns[0] is source.body[-1]):
        return source
    written = _with_arrays_behind(replace(source, body=tuple(out_of_loops(source, names))), names)
    body = _straight(written.body)
    kept = list(_returns(body))
    if any(id(part) not in {id(last) for last in _last(body)} for part in kept):
        return source
    source = replace(source, after_returns=written.after_returns)
    values = [None if _is_none(part.value) else part.value for part in kept]
    if all(value is None for value in values):
        return replace(source, body=tuple(_replaced(body, [])))
    given = [value for value in values if value is not None]
    if len(given) < len(values) or not _always(body):
        return source
    if _are_the_same(given, written, names):
        return replace(source, body=(*_replaced(body, []), copy_of(returns[-1])))
    if len({len(value.elts) if isinstance(value, ast.Tuple) else 0 for value in given}) > 1:
        return source
    return _with_results(source, written, body, given, names) or source


def _with_results(
    source: Source, written: Source, body: Sequence[ast.stmt], given: Sequence[ast.expr], names: GlobalNames
) -> Source | None:
    """``source`` whose numbers get a name in each branch, beside arrays that all branches return, and copies of
    arrays of which each branch returns another one; None where others are returned."""
    end = copy_of(next(reversed(list(_returns(source.body)))))
    columns = list(zip(*map(_each, given), strict=True))
    same = [_are_the_same(column, written, names) for column in columns]
    copied = [not one and _are_there(column, written, names) for column, one in zip(columns, same, strict=True)]
    others = [value for column, *kept in zip(columns, same, copied, strict=True) if not any(kept) for value in column]
    if _arrays(source) & _whole(others):
        return None
    fresh = iter(_fresh(source, names, same.count(False) if isinstance(given[0], ast.Tuple) else 0))
    results = [None if one else next(fresh) for one in same]
    arrays = {name: column[0] for name, column, one in zip(results, columns, copied, strict=True) if name and one}
    body = [*body[:-1], *(_made_like(name, value) for name, value in arrays.items()), body[-1]]
    named = [
        copy_of(column[-1]) if name is None else ast.copy_location(ast.Name(name, ast.Load()), end)
        for name, column in zip(results, columns, strict=True)
    ]
    is_tuple = isinstance(given[0], ast.Tuple)
    end.value = ast.copy_location(ast.Tuple(list(named), ast.Load()), end) if is_tuple else named[0]
    return replace(source, body=(*_replaced(body, results, arrays), end))


def _are_there(values: Sequence[ast.expr], source: Source, names: GlobalNames) -> bool:
    """Whether ``values`` are names of arrays that are there before the first of them is returned."""
    stated = parts_of(source.arguments)
    given = [one for one in stated if isinstance(one, ast.arg)]
    arrays = ArrayNames(source.body, names, [one.arg for one in given if rank_of_annotation(one.annotation)]).arrays
    early = next((place for place, node in enumerate(source.body) if _is_early(node)), len(source.body))
    there = {one.arg for one in given} | {bound_by(node) for node in source.body[:early]}
    return all(isinstance(value, ast.Name) and value.id in arrays & there for value in values)


def _made_like(name: str, value: ast.expr) -> ast.stmt:
    """The line that makes the array ``name`` for what is returned, of which ``value`` is one."""
    call = ast.Call(numpy_function("empty_like"), [copy_of(value)], [])
    return located(ast.Assign([ast.Name(name, ast.Store())], call), value)


def _each(value: ast.expr) -> list[ast.expr]:
    return value.elts if isinstance(value, ast.Tuple) else [value]


def _with_arrays_behind(source: Source, names: GlobalNames) -> Source:
    """``source`` with notes of the names that it assigns behind an early ``return``, once and outside of loops.

    What may be left before is no reason to fail: arrays that are made there ask for no fewer than 0 elements.
    """
    early = next((place for place, node in enumerate(source.body) if _is_early(node)), len(source.body))
    counts = bindings(source.body)
    behind = frozenset(bound_by(node) for node in source.body[early + 1 :] if counts[bound_by(node)] == 1)
    body = [_clipped(node, names) if bound_by(node) in behind else node for node in source.body]
    return replace(source, body=tuple(body), after_returns=behind)


def _is_early(node: ast.stmt) -> bool:
    return isinstance(node, ast.If) and any(_always(arm) for arm in (node.body, node.orelse))


def _clipped(node: ast.stmt, names: GlobalNames) -> ast.stmt:
    match node:
        case ast.Assign(targets=targets, value=ast.Call(func=function, args=[shape, *rest], keywords=keywords)):
            if names.canonical(function) in CREATORS:
                value = located(ast.Call(function, [clipped(shape), *rest], keywords), node.value)
                return ast.copy_location(ast.Assign(targets, value), node)
    return node


def _are_the_same(values: Sequence[ast.expr], source: Source, names: GlobalNames) -> bool:
    """Whether ``values`` are all the same names, also of arrays, of what is there before the first is returned."""
    stated = parts_of(source.arguments)
    given = {one.arg for one in stated if isinstance(one, ast.arg) and rank_of_annotation(one.annotation)}
    arrays = ArrayNames(source.body, names, given).arrays
    parts = values[0].elts if values and isinstance(values[0], ast.Tuple) else values[:1]
    known = all(isinstance(part, ast.Name) and part.id not in source.after_returns for part in parts)
    return known and bool(arrays & _whole(values)) and len({ast.unparse(value) for value in values}) == 1


def _straight(body: Sequence[ast.stmt]) -> list[ast.stmt]:
    """``body`` where what follows an arm that ends in ``return`` stands in the other arm."""
    for position, node in enumerate(body):
        if isinstance(node, ast.Return):
            return list(body[: position + 1])
        if isinstance(node, ast.If) and any(_always(arm) for arm in (node.body, node.orelse)):
            rest = list(body[position + 1 :])
            arms = [_straight(arm if _always(arm) else [*arm, *rest]) for arm in (node.body, node.orelse)]
            split = ast.copy_location(ast.If(node.test, *arms), node)
            last = rest[-1] if rest else node
            split.end_lineno, split.end_col_offset = last.end_lineno, last.end_col_offset
            return [*body[:position], split]
    return list(body)


def _always(body: Sequence[ast.stmt]) -> bool:
    """Whether ``body`` certainly ends in a ``return``."""
    last = body[-1] if body else None
    if isinstance(last, ast.If):
        return _always(last.body) and _always(last.orelse)
    return isinstance(last, ast.Return)


def _last(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements after which nothing follows."""
    if body and isinstance(body[-1], ast.If):
        yield from _last(body[-1].body)
        yield from _last(body[-1].orelse)
    elif body:
        yield body[-1]


def _replaced(
    body: Sequence[ast.stmt], results: Sequence[str | None], arrays: Container[str | None] = ()
) -> list[ast.stmt]:
    """``body`` with assignments to ``results`` in the place of the last ``return``; what has no name there stays, and
    those that are ``arrays`` get all elements."""
    *before, last = body
    if isinstance(last, ast.If):
        arms = [_replaced(arm, results, arrays) if arm else [] for arm in (last.body, last.orelse)]
        split = ast.If(last.test, arms[0] or [ast.copy_location(ast.Pass(), last)], arms[1])
        return [*before, ast.copy_location(split, last)]
    if not isinstance(last, ast.Return) or last.value is None or not results:
        return before if isinstance(last, ast.Return) else list(body)
    for name, value in zip(results, _each(last.value), strict=True):
        if name is None:
            continue
        target: ast.expr = ast.Name(name, ast.Store())
        if name in arrays:
            target = ast.Subscript(ast.Name(name, ast.Load()), ast.Constant(..., RETURNED), ast.Store())
        before.append(located(ast.Assign([target], value), last))
    return before


def _returns(body: Iterable[ast.stmt]) -> Iterator[ast.Return]:
    return (part for part in parts_of(*body) if isinstance(part, ast.Return))


def _is_none(value: ast.expr | None) -> bool:
    return value is None or (isinstance(value, ast.Constant) and value.value is None)


def _whole(values: Sequence[ast.expr]) -> set[str]:
    parts = [part for value in values for part in _each(value)]
    return {part.id for part in parts if isinstance(part, ast.Name)}


def _arrays(source: Source) -> set[str]:
    parts = parts_of(*source.body)
    return {part.value.id for part in parts if isinstance(part, ast.Subscript) and isinstance(part.value, ast.Name)}


def _fresh(source: Source, names: GlobalNames, width: int) -> list[str]:
    taken = names_in(*source.body)
    arguments = parts_of(source.arguments)
    taken |= {part.arg for part in arguments if isinstance(part, ast.arg)}

    def is_taken(stem: str) -> bool:
        return any(name in taken or names.knows(name) for name in (stem, *(f"{stem}{i}" for i in range(width))))

    stem = unused_name("result", is_taken)
    return [f"{stem}{position}" for position in range(width)] if width else [stem]
