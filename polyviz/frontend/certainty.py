"""When something that holds for almost all sizes is meant to hold."""

from __future__ import annotations

import islpy as isl


def are_negligible(exceptions: isl.Set, values: isl.Set) -> bool:
    """Whether ``exceptions`` among the parameter ``values`` are none, or need one certain value of some parameter.

    ``A[2 * i]`` for ``i`` below the extent stays inside for the extent 1 only: nobody means that.

    >>> are_negligible(isl.Set("[n] -> { : n = 1 }"), isl.Set("[n] -> { : n >= 1 }"))
    True
    >>> are_negligible(isl.Set("[n, m] -> { : n <= m }"), isl.Set("[n, m] -> { : }"))
    False
    """
    return exceptions.is_empty() or not _fixed_parameters(exceptions) <= _fixed_parameters(values)


def are_multiples(exceptions: isl.Set, values: isl.Set) -> bool:
    """Whether ``exceptions`` among the parameter ``values`` ask for multiples of some number.

    >>> are_multiples(isl.Set("[n] -> { : n mod 4 = 0 }"), isl.Set("[n] -> { : n >= 1 }"))
    True
    >>> are_multiples(isl.Set("[n, m] -> { : n <= m }"), isl.Set("[n, m] -> { : }"))
    False
    """
    return any(part.dim(isl.dim_type.div) > 0 for part in exceptions.gist(values).coalesce().get_basic_sets())


def _fixed_parameters(values: isl.Set) -> set[str | None]:
    """The parameters that can have one value only."""
    hull = values.affine_hull().to_set()
    names = hull.get_var_names(isl.dim_type.param)
    return {
        name
        for position, name in enumerate(names)
        if hull.plain_get_val_if_fixed(isl.dim_type.param, position).is_int()
    }
