"""Subscripts that leave the arrays that were given: to look at loops runs nothing, which would find out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import islpy as isl

from polyviz.views.sizes import binding

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from polyviz.model.scop import Scop

_CELL = isl.dim_type.set


def out_of_range(scop: Scop, arguments: Sequence[Any], sizes: Mapping[str, int]) -> tuple[str, ...]:
    """One sentence for every reference that certainly goes beyond the end of its array for ``sizes``.

    >>> import numpy as np, polyviz as pv
    >>> part = pv.extract("def f(x, n):\\n    for i in range(n + 1):\\n        x[i] = 0")
    >>> out_of_range(part, (np.zeros(60), 60), {"n": 60, "x_shape_0": 60})
    ('For these sizes S0 goes beyond the end of `x`: its subscript reaches 60, and the last one is 59 (line 3).',)
    """
    names = (argument.name for argument in scop.arguments)
    shapes = {name: getattr(value, "shape", None) for name, value in zip(names, arguments, strict=False)}
    return tuple(dict.fromkeys(_found(scop, shapes, binding(sizes, scop.context.get_ctx()))))


def _found(scop: Scop, shapes: Mapping[str, Any], bound: isl.Set) -> Iterator[str]:
    for statement in scop.statements:
        domain = statement.domain.intersect_params(bound)
        for access in statement.accesses:
            shape = shapes.get(access.array)
            cells = access.relation.intersect_domain(domain).range()
            if not shape or not access.exact or len(shape) != cells.dim(_CELL) or cells.is_empty():
                continue
            for axis, extent in enumerate(shape):
                last = _largest(cells, axis)
                if last is not None and last >= extent:
                    which = "its subscript" if len(shape) == 1 else f"subscript {axis + 1}"
                    yield (
                        f"For these sizes {statement.name} goes beyond the end of `{access.array}`: {which} reaches "
                        f"{last}, and the last one is {extent - 1} (line {(access.span or statement.span).line})."
                    )


def _largest(cells: isl.Set, axis: int) -> int | None:
    return int(cells.dim_max_val(axis).to_python()) if cells.dim_has_upper_bound(_CELL, axis) else None
