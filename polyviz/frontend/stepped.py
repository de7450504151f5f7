"""Elements that are set in steps which the program computes, ``is_prime[i * i::i] = False``: the loop over a range."""

from __future__ import annotations

import ast
import copy
from typing import TYPE_CHECKING

from polyviz.frontend.array_names import mentions
from polyviz.frontend.gathered import listed
from polyviz.frontend.parts import copy_of
from polyviz.frontend.regions import call_of, constant_of, difference, extent_of
from polyviz.frontend.usage import subscript_chain

if TYPE_CHECKING:
    from collections.abc import Callable, Sized


def stepped_store(
    node: ast.stmt, fresh: Callable[[str], str], shape: Callable[[ast.expr], Sized]
) -> ast.For | None:
    """The loop that stores one number in each of the elements; None for other statements.

    Where the step is negative, NumPy goes backwards, from the end where no start is given. ``fresh`` makes a name for
    the variable of the loop, ``shape`` tells the dimensions of what is stored.

    >>> [node] = ast.parse("x[::k] = 0").body
    >>> loop = stepped_store(node, lambda stem: "j", lambda value: ())
    >>> print(ast.unparse(ast.fix_missing_locations(loop)))
    for j in range(0 if k > 0 else x.shape[0] - 1, x.shape[0] if k > 0 else -1, k):
        x[j] = 0
    """
    match node:
        case ast.Assign(targets=[ast.Subscript() as target], value=value):
            pass
        case ast.AugAssign(target=ast.Subscript() as target, value=value):
            pass
        case _:
            return None
    base, indices = subscript_chain(target)
    stepped = [(axis, one) for axis, one in enumerate(indices) if isinstance(one, ast.Slice) and _is_computed(one.step)]
    is_kept = any(isinstance(one, ast.Constant) and type(one.value) is not int for one in indices)
    if not isinstance(base, ast.Name) or len(stepped) != 1 or is_kept or mentions(value, base.id) or len(shape(value)):
        return None
    [(axis, part)] = stepped
    place = fresh("place")
    store = copy.copy(node)
    places = [*indices[:axis], ast.Name(place, ast.Load()), *indices[axis + 1 :]]
    element = ast.Subscript(base, listed(places), ast.Store())
    if isinstance(store, ast.Assign):
        store.targets = [element]
    elif isinstance(store, ast.AugAssign):
        store.target = element
    return ast.For(ast.Name(place, ast.Store()), call_of("range", *_bounds(part, extent_of(base, axis))), [store], [])


def _is_computed(step: ast.expr | None) -> bool:
    return step is not None and constant_of(step) is None


def _bounds(part: ast.Slice, extent: ast.expr) -> list[ast.expr]:
    """The start, stop and step of the range that ``part`` of a dimension stands for."""
    step, last = part.step or ast.Constant(1), difference(extent, ast.Constant(1))
    first: tuple[ast.expr, ast.expr] = ast.Constant(0), last
    end: tuple[ast.expr, ast.expr] = extent, ast.Constant(-1)
    if part.lower is not None:
        start = _from_start(part.lower, extent)
        first = call_of("max", start, ast.Constant(0)), call_of("min", start, last)
    if part.upper is not None:
        stop = _from_start(part.upper, extent)
        end = call_of("min", stop, extent), call_of("max", stop, ast.Constant(-1))
    forwards = ast.Compare(step, [ast.Gt()], [ast.Constant(0)])
    return [copy_of(one) for one in (ast.IfExp(forwards, *first), ast.IfExp(forwards, *end), step)]


def _from_start(bound: ast.expr, extent: ast.expr) -> ast.expr:
    """``bound``, counted from the start of a dimension."""
    constant = constant_of(bound)
    counted = ast.BinOp(extent, ast.Add(), bound)
    if constant is not None:
        return bound if constant >= 0 else counted
    return ast.IfExp(ast.Compare(bound, [ast.GtE()], [ast.Constant(0)]), bound, counted)
