"""Compares a scop with the Python that it came from: results, and every access that really happens.

agree("def f(A, n): ...", A=numpy.arange(3.0), n=3)
"""

from __future__ import annotations

import copy
import math
from collections import defaultdict
from typing import TYPE_CHECKING, Any

import islpy as isl
import numpy as np

from polyviz.frontend import extract
from tests.interpreter import fixed, parameter_values, points_of, run_scop

if TYPE_CHECKING:
    from polyviz.model.scop import Scop, Statement

Happened = dict[tuple[str, tuple[int, ...]], dict[str, list[tuple[str, tuple[int, ...]]]]]
WORLD = {"np": np, "math": math, "prange": range}


def agree(text: str, **arguments: Any) -> Scop:
    """Run ``text`` as Python and as a scop on equal arguments; the scop is returned for further checks."""
    scop = extract(text)
    expected_arguments, actual_arguments = copy.deepcopy(arguments), copy.deepcopy(arguments)
    expected = run_python(text, scop, expected_arguments)
    happened: Happened = defaultdict(lambda: {"read": [], "write": []})

    def watch(
        statement: Statement, instance: tuple[int, ...], kind: str, cell: tuple[str, tuple[int, ...]]
    ) -> None:
        happened[statement.name, instance][kind].append(cell)

    actual = run_scop(scop, actual_arguments, watch=watch)
    assert_same(expected_arguments, actual_arguments)
    assert_same(expected, actual)
    assert_accesses(scop, parameter_values(scop, arguments), happened)
    return scop


def run_python(text: str, scop: Scop, arguments: dict[str, Any]) -> Any:
    if not scop.is_cell:
        namespace: dict[str, Any] = dict(WORLD)
        exec(text, namespace)
        return namespace[scop.name](**arguments)
    namespace = {**WORLD, **arguments}
    exec(text, namespace)
    scalars = {array.name for array in scop.arrays if array.live_out} | {
        name for name, _ in scop.final_iterators
    }
    return {name: namespace[name] for name in scalars if name in namespace}


def assert_same(expected: Any, actual: Any) -> None:
    if isinstance(expected, dict):
        assert expected.keys() == actual.keys()
        for name, value in expected.items():
            assert_same(value, actual[name])
    elif isinstance(expected, tuple):
        assert isinstance(actual, tuple) and len(expected) == len(actual)
        for one, other in zip(expected, actual, strict=True):
            assert_same(one, other)
    elif expected is None:
        assert actual is None
    else:
        assert np.array_equal(expected, actual, equal_nan=True), f"{expected!r} != {actual!r}"


def assert_accesses(scop: Scop, parameters: dict[str, int], happened: Happened) -> None:
    """Declared accesses hold all that happened; exact writes happened; exact reads of whole bodies happened."""
    for (name, instance), cells in happened.items():
        statement = scop.statement(name)
        written = set(cells["write"])
        declared = {
            kind: {access for access in statement.accesses if access.kind == kind}
            for kind in ("read", "write")
        }
        assert written <= reached(declared["write"], cells["write"], instance, parameters), (
            name,
            instance,
            written,
        )
        reads = set(cells["read"]) - written
        assert reads <= reached(declared["read"], cells["read"], instance, parameters), (
            name,
            instance,
            reads,
        )
        for access in statement.accesses:
            if access.exact:
                cells_of_access = image(access.relation, access.array, instance, parameters)
                assert cells_of_access <= set(cells[access.kind]), (
                    name,
                    instance,
                    access.text,
                    cells_of_access,
                )


def image(
    relation: isl.Map, array: str, instance: tuple[int, ...], parameters: dict[str, int]
) -> set[tuple[str, tuple[int, ...]]]:
    relation = fixed(relation, parameters)
    for position, value in enumerate(instance):
        relation = relation.fix_val(isl.dim_type.in_, position, isl.Val(value))
    return {(array, point) for point in points_of(relation.range())}


def reached(
    accesses: Any,
    cells: list[tuple[str, tuple[int, ...]]],
    instance: tuple[int, ...],
    parameters: dict[str, int],
) -> set[tuple[str, tuple[int, ...]]]:
    """Those of ``cells`` that some access may touch; an open relation cannot be enumerated."""
    found = set()
    for access in accesses:
        relation = fixed(access.relation, parameters)
        for position, value in enumerate(instance):
            relation = relation.fix_val(isl.dim_type.in_, position, isl.Val(value))
        for cell in cells:
            part = relation.range()
            if cell[0] != access.array:
                continue
            for position, value in enumerate(cell[1]):
                part = part.fix_val(isl.dim_type.set, position, isl.Val(value))
            if not part.is_empty():
                found.add(cell)
    return found
