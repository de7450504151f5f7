"""Concrete points of parametric sets, for messages."""

from __future__ import annotations

from dataclasses import dataclass

import islpy as isl


@dataclass(frozen=True, slots=True)
class ConcretePoint:
    """Integer coordinates, and the parameter values they belong to."""

    parameters: dict[str, int]
    values: tuple[int, ...]


def smallest_point(points: isl.Set) -> ConcretePoint:
    """The lexicographically smallest (parameters, point) of a set that is not empty; any point if none is smallest.

    >>> smallest_point(isl.Set("[n] -> { [i] : 2 <= i < n }"))
    ConcretePoint(parameters={'n': 3}, values=(2,))
    """
    count = points.dim(isl.dim_type.param)
    names = [points.get_dim_name(isl.dim_type.param, position) or "" for position in range(count)]
    flat = points.reset_tuple_id().insert_dims(isl.dim_type.set, 0, 0)
    flat = flat.move_dims(isl.dim_type.set, 0, isl.dim_type.param, 0, count)
    dimensions = range(flat.dim(isl.dim_type.set))
    if all(flat.dim_has_lower_bound(isl.dim_type.set, position) for position in dimensions):
        flat = flat.lexmin()
    point = flat.sample_point()
    values = [point.get_coordinate_val(isl.dim_type.set, position).to_python() for position in dimensions]
    return ConcretePoint(dict(zip(names, values, strict=False)), tuple(values[count:]))
