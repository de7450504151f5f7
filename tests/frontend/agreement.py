"""Compares a scop with the Python that it came from: results, and every access that really happens.

agree("def f(A, n): ...", A=numpy.arange(3.0), n=3)
"""

from __future__ import annotations

import copy
import itertools
import math
from collections import defaultdict
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import islpy as isl
import numpy as np

from polyviz.frontend import extract
from tests.interpreter import fixed, parameter_values, points_of, run_scop

if TYPE_CHECKING:
    from polyviz.model.scop import Access, Scop, Statement

Cell = tuple[str, tuple[int, ...]]
Happened = dict[tuple[str, tuple[int, ...]], dict[str, list[Cell]]]
WORLD = {"np": np, "math": math, "prange": range}


@lru_cache(maxsize=16)
def _extracted(text: str) -> Scop:
    """Once for all data that a test gives a text."""
    return extract(text)


def agree(text: str, **arguments: Any) -> Scop:
    """Run ``text`` as Python and as a scop on equal arguments; the scop is returned for further checks."""
    scop = _extracted(text)
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
    assert_accesses(scop, arguments, happened)
    return scop


def run_python(text: str, scop: Scop, arguments: dict[str, Any]) -> Any:
    if not scop.is_cell:
        return run_function(text, scop.name, arguments)
    namespace: dict[str, Any] = {**WORLD, **arguments}
    exec(text, namespace)
    scalars = {array.name for array in scop.arrays if array.live_out} | {
        name for name, _ in scop.final_iterators
    }
    return {name: namespace[name] for name in scalars if name in namespace}


def run_function(text: str, name: str, arguments: dict[str, Any]) -> Any:
    namespace: dict[str, Any] = dict(WORLD)
    exec(text, namespace)
    return namespace[name](**arguments)


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


def assert_accesses(scop: Scop, arguments: dict[str, Any], happened: Happened) -> None:
    """Declared accesses hold all that happened; what is declared exactly did happen. Some instances are looked at."""
    parameters = parameter_values(scop, arguments)
    shapes = {name: value.shape for name, value in arguments.items() if isinstance(value, np.ndarray)}
    for statement in scop.statements:
        instances = [instance for name, instance in happened if name == statement.name]
        for instance in instances[:: max(1, len(instances) // 8)]:
            cells = happened[statement.name, instance]
            declared = {"read": Declared(), "write": Declared()}
            for access in statement.accesses:
                declared[access.kind].add(access, instance, parameters, shapes.get(access.array))
            written = set(cells["write"])
            where = (statement.name, instance)
            assert written <= declared["write"].cover(written), where
            reads = set(cells["read"]) - written
            assert reads <= declared["read"].cover(reads), where
            assert declared["write"].exact <= written, where
            assert declared["read"].exact <= set(cells["read"]), where


class Declared:
    """The cells that the accesses of one kind may and certainly do touch in one instance."""

    def __init__(self) -> None:
        self.exact: set[Cell] = set()
        self.sets: list[tuple[str, isl.Set, tuple[int, ...] | None]] = []

    def add(
        self,
        access: Access,
        instance: tuple[int, ...],
        parameters: dict[str, int],
        shape: tuple[int, ...] | None,
    ) -> None:
        relation = fixed(access.relation, parameters)
        for position, value in enumerate(instance):
            relation = relation.fix_val(isl.dim_type.in_, position, isl.Val(value))
        cells = relation.range()
        self.sets.append((access.array, cells, shape))
        if access.exact:
            self.exact |= {(access.array, counted_from_start(point, shape)) for point in points_of(cells)}

    def cover(self, cells: set[Cell]) -> set[Cell]:
        return {
            cell
            for cell in cells
            if any(cell[0] == name and holds(part, cell[1], shape) for name, part, shape in self.sets)
        }


def counted_from_start(point: tuple[int, ...], shape: tuple[int, ...] | None) -> tuple[int, ...]:
    # What is negative only for some sizes is left to the checks at run time; Python counts it from the end.
    return point if shape is None else tuple(part % extent for part, extent in zip(point, shape, strict=True))


def holds(cells: isl.Set, point: tuple[int, ...], shape: tuple[int, ...] | None) -> bool:
    choices = [(part,) if shape is None else (part, part - shape[axis]) for axis, part in enumerate(point)]
    for choice in itertools.product(*choices):
        part = cells
        for position, value in enumerate(choice):
            part = part.fix_val(isl.dim_type.set, position, isl.Val(value))
        if not part.is_empty():
            return True
    return False
