"""The smallest concrete pair of instances in a relation, and how to say it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import islpy as isl

from polyviz.analysis.accesses import restricted
from polyviz.model.dependences import Violation
from polyviz.model.isl_limits import SMALL, solved

if TYPE_CHECKING:
    from collections.abc import Mapping

    from polyviz.model.dependences import Dependence
    from polyviz.model.scop import Access, AccessKind, Array, Scop, Statement

Instance = tuple[int, ...]
_PARAMETER = isl.dim_type.param
_SET = isl.dim_type.set


@dataclass(frozen=True, slots=True)
class Pair:
    """Two instances and the parameter values under which both exist."""

    parameters: Mapping[str, int]
    source: Instance
    sink: Instance

    @property
    def size(self) -> int:
        """The total magnitude of the parameters."""
        return sum(abs(value) for value in self.parameters.values())


def smallest_pair(relation: isl.Map, possible: isl.Set | None = None) -> Pair:
    """The lexicographically first pair of a relation that is not empty, for the smallest sizes that have one.

    Of the ``possible`` sizes, where one of them does.
    """
    sizes = relation.params()
    likely = sizes if possible is None else sizes.intersect(possible)
    parameters = smallest_parameters(sizes if likely.is_empty() else likely)
    instances = _first_point(fixed(relation.wrap(), parameters))
    sources = relation.dim(isl.dim_type.in_)
    return Pair(parameters, instances[:sources], instances[sources:])


def smallest_instance(domain: isl.Set) -> tuple[Mapping[str, int], Instance]:
    """The lexicographically first point of a set that is not empty, for the smallest sizes that have one."""
    parameters = smallest_parameters(domain.params())
    return parameters, _first_point(fixed(domain, parameters))


def smallest_parameters(values: isl.Set) -> dict[str, int]:
    """The parameter values of least total magnitude in a parameter set that is not empty.

    >>> smallest_parameters(isl.Set("[n, m] -> { : n >= 2 and m > n }"))
    {'n': 2, 'm': 3}
    """
    names = _parameter_names(values)
    number = len(names)
    points = isl.Set.from_params(values).move_dims(_SET, 0, _PARAMETER, 0, number).reset_tuple_id()
    chosen = _first_point(points.apply(_magnitudes(number)))
    return dict(zip(names, (-value for value in chosen[len(chosen) - number :]), strict=True))


def instance_text(statement: str, instance: Instance) -> str:
    """An instance as a person writes it.

    >>> instance_text("S0", (1, 0))
    'S0[1, 0]'
    """
    return f"{statement}[{', '.join(map(str, instance))}]"


def parameters_text(parameters: Mapping[str, int]) -> str:
    """Parameter values in brackets after a space; nothing when there are none.

    >>> parameters_text({"n": 2})
    ' [n = 2]'
    """
    values = ", ".join(f"{name} = {value}" for name, value in parameters.items())
    return f" [{values}]" if values else ""


def violation_of(dependence: Dependence, pair: Pair, explanation: str) -> Violation:
    """The pair that breaks ``dependence`` as a value for the user."""
    return Violation(
        kind=dependence.kind,
        array=dependence.array,
        source=dependence.source,
        source_instance=pair.source,
        sink=dependence.sink,
        sink_instance=pair.sink,
        parameters=dict(pair.parameters),
        explanation=explanation,
    )


def image(relation: isl.Map, instance: Instance, parameters: Mapping[str, int]) -> Instance:
    """Where a single-valued relation takes one instance.

    >>> image(isl.Map("[n] -> { S[i] -> [n - i, 1] }"), (2,), {"n": 5})
    (3, 1)
    """
    for position, value in enumerate(instance):
        relation = relation.fix_val(isl.dim_type.in_, position, value)
    return _first_point(fixed(relation.range(), parameters))


def conflict_words(scop: Scop, dependence: Dependence, pair: Pair) -> tuple[str, str, str]:
    """What the source does, the cell, and what the sink does: ``("writes", "A[1, 0]", "reads")``."""
    first: AccessKind = "read" if dependence.kind in ("anti", "input") else "write"
    second: AccessKind = "read" if dependence.kind in ("flow", "input") else "write"
    source = _touching(
        scop, scop.statement(dependence.source), dependence.array, first, pair.source, pair.parameters
    )
    sink = _touching(
        scop, scop.statement(dependence.sink), dependence.array, second, pair.sink, pair.parameters
    )
    for left, left_cells in source:
        for right, right_cells in sink:
            shared = left_cells.intersect(right_cells)
            if not shared.is_empty():
                return _verb(left), _cells_text(scop.array(dependence.array), shared), _verb(right)
    raise ValueError(f"the two instances do not meet in {dependence.array}")


def _touching(
    scop: Scop,
    statement: Statement,
    array: str,
    kind: AccessKind,
    instance: Instance,
    parameters: Mapping[str, int],
) -> list[tuple[Access, isl.Set]]:
    """The accesses of one instance with the cells they touch, certain ones first."""
    found = []
    for access in sorted(statement.accesses, key=lambda access: not access.exact):
        if access.array == array and access.kind == kind:
            relation = restricted(scop, statement, access)
            for position, value in enumerate(instance):
                relation = relation.fix_val(isl.dim_type.in_, position, value)
            found.append((access, fixed(relation.range(), parameters)))
    return found


def _verb(access: Access) -> str:
    if access.exact:
        return "reads" if access.kind == "read" else "writes"
    return f"may {access.kind}"


def cell_text(array: str, cell: Instance) -> str:
    """A cell as a person writes it; a scalar has no subscripts."""
    return f"{array}[{', '.join(map(str, cell))}]" if cell else array


def _cells_text(array: Array, cells: isl.Set) -> str:
    """The one cell that two accesses meet in; of several that a may access leaves open, the array."""
    if not cells.is_singleton():
        return f"a cell of {array.name}"
    cell = _first_point(cells)
    return cell_text(array.name, cell[::-1] if array.is_transposed else cell)


def fixed(points: isl.Set, parameters: Mapping[str, int]) -> isl.Set:
    """The points for given parameter values, in a space without parameters."""
    for position, name in enumerate(_parameter_names(points)):
        points = points.fix_val(_PARAMETER, position, parameters[name])
    return points.project_out(_PARAMETER, 0, points.dim(_PARAMETER))


def _parameter_names(points: isl.Set) -> list[str]:
    return [points.get_dim_name(_PARAMETER, position) or "" for position in range(points.dim(_PARAMETER))]


def _first_point(points: isl.Set) -> Instance:
    """The lexicographic minimum of a set without parameters that is not empty; some point where isl finds none."""
    first = solved(lambda: _coordinates(points.lexmin().sample_point()))
    if first is None:
        first = solved(lambda: _minimal_coordinates(points), 10 * SMALL)
    return _coordinates(points.sample_point()) if first is None else first


def _coordinates(point: isl.Point) -> Instance:
    number = point.get_space().dim(_SET)
    return tuple(int(point.get_coordinate_val(_SET, position).to_python()) for position in range(number))


def _minimal_coordinates(points: isl.Set) -> Instance:
    """The lexicographic minimum, one coordinate after the other: slower, but isl's lexmin fails on some sets."""
    coordinates = []
    for position in range(points.dim(_SET)):
        coordinate = points.dim_min_val(position)
        points = points.fix_val(_SET, position, coordinate)
        coordinates.append(int(coordinate.to_python()))
    return tuple(coordinates)


@cache
def _magnitudes(number: int) -> isl.Map:
    """Values to (sum of magnitudes, magnitudes, negated values): its lexicographic minimum prefers small sizes."""
    names = [f"p{position}" for position in range(number)]
    sizes = [f"m{position}" for position in range(number)]
    negated = [f"-{name}" for name in names]
    bounds = [f"{size} >= {name} and {size} >= -{name}" for name, size in zip(names, sizes, strict=True)]
    total = " + ".join(sizes) or "0"
    condition = " and ".join([f"total = {total}", *bounds])
    return isl.Map(f"{{ [{', '.join(names)}] -> [{', '.join(['total', *sizes, *negated])}] : {condition} }}")
