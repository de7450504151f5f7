"""Statements that a temporary ties together are scheduled as one, and come apart again unharmed."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any

import islpy as isl
import numpy as np
import pytest

import polyviz as pv
from polyviz.scheduling.bodies import loop_bodies
from polyviz.scheduling.groups import contracted
from polyviz.scheduling.problem import SchedulingProblem

if TYPE_CHECKING:
    from collections.abc import Callable

Array = Any


def forces(position: Array, mass: Array, force: Array) -> None:
    n = position.shape[0]
    for i in range(n):
        total = 0.0
        for j in range(n):
            distance = position[j] - position[i]
            square = distance * distance + 0.5
            total += mass[j] * distance / (square * math.sqrt(square))
        force[i] += total


def blur(image: Array, weights: Array, out: Array) -> None:
    n, m = image.shape
    for y in range(1, n - 1):
        for x in range(1, m - 1):
            total = 0.0
            for dy in range(3):
                for dx in range(3):
                    total += image[y + dy - 1, x + dx - 1] * weights[dy, dx]
            out[y, x] = total


def product(A: Array, B: Array, C: Array) -> None:
    n = A.shape[0]
    for i in range(n):
        for j in range(n):
            total = 0.0
            for k in range(n):
                total += A[i, k] * B[k, j]
            C[i, j] = total


def columns(A: Array, out: Array) -> None:
    n, m = A.shape
    for j in range(m):
        total = 0.0
        for i in range(n):
            total += A[i, j]
        out[j] = total


def guarded(A: Array, B: Array) -> None:
    n = A.shape[0]
    for i in range(n):
        if i > 2:
            t = A[i] * 2.0
            B[i] = t + 1.0
        u = A[i] + 1.0
        A[i] = u * u


def carried(A: Array, B: Array) -> None:
    n = A.shape[0]
    t = 0.0
    for i in range(1, n):
        t = t + A[i]
        B[i] = t


def life(cells: Array, after: Array, steps: Array) -> None:
    n, m = cells.shape
    for _t in range(steps):
        for i in range(1, n - 1):
            for j in range(1, m - 1):
                near = cells[i - 1, j] + cells[i + 1, j] + cells[i, j - 1] + cells[i, j + 1]
                after[i, j] = 1.0 if near == 3.0 or (near == 2.0 and cells[i, j] == 1.0) else 0.0
        for i in range(1, n - 1):
            for j in range(1, m - 1):
                cells[i, j] = after[i, j]


def exchanging(u: Array, v: Array, steps: Array) -> None:
    n = u.shape[0]
    for _t in range(steps):
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                v[i, j] = 0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1])
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                kept = u[i, j]
                u[i, j] = v[i, j]
                v[i, j] = kept


def members(function: Callable[..., None]) -> list[tuple[str, tuple[str, ...], int]]:
    scop = pv.extract(function)
    found = contracted(SchedulingProblem(scop, pv.dependences(scop)))
    groups = () if found is None else found.groups
    return [(group.leader, group.members, group.depth) for group in groups]


def test_statements_of_one_body_that_pass_a_value_are_one_group() -> None:
    assert members(forces) == [("S1", ("S1", "S2", "S3"), 2)]
    assert members(guarded) == [("S0", ("S0", "S1"), 1), ("S2", ("S2", "S3"), 1)]


def test_the_decision_says_whose_name_stands_for_the_group() -> None:
    scop = pv.extract(guarded)
    [first, *_] = pv.schedule(scop, "pluto").decisions
    assert first.step == "group"
    assert re.match(
        r"S0 and S1 are scheduled as one, and the rows below call it S0: `\w+` lives only", first.text
    )


def test_a_value_that_another_iteration_reads_ties_nothing() -> None:
    assert members(carried) == []


def test_short_loops_stay_inside_the_group() -> None:
    assert members(blur) == [("S0", ("S0", "S1", "S2"), 2)]


@pytest.mark.parametrize("function", [product, columns])
def test_long_loops_with_a_better_order_than_that_of_the_source_stay_apart(
    function: Callable[..., None],
) -> None:
    assert members(function) == []


def bodies(position: Array, force: Array, steps: int) -> None:
    n = position.shape[0]
    for _t in range(steps):
        for i in range(n):
            for j in range(n):
                distance = 0.01
                for d in range(3):
                    distance += (position[j, d] - position[i, d]) * (position[j, d] - position[i, d])
                for d in range(3):
                    force[i, d] += (position[j, d] - position[i, d]) / distance
        for i in range(n):
            for d in range(3):
                position[i, d] += 0.001 * force[i, d]


def test_copies_never_outgrow_the_data() -> None:
    assert members(bodies) == [("S0", ("S0", "S1", "S2"), 3)]
    assert not pv.compile(bodies, target="c").plan.expansions


def test_sizes_at_hand_tell_that_a_loop_is_short() -> None:
    def norms(points: Array, out: Array) -> None:
        n, d = points.shape
        for i in range(n):
            total = 0.0
            for k in range(d):
                total += points[i, k] ** 2
            out[i] = total

    scop = pv.extract(norms)
    known = pv.dependences(scop)
    assert contracted(SchedulingProblem(scop, known)) is None
    assert contracted(SchedulingProblem(scop, known, {"d": 1000})) is None
    assert contracted(SchedulingProblem(scop, known, {"d": 3})) is not None


@pytest.mark.thinned(2)
@pytest.mark.parametrize("scheduler", ["pluto", "isl", "feautrier", "spatial", "adaptive"])
@pytest.mark.parametrize("function", [forces, blur, guarded])
def test_the_order_found_is_one_of_the_original_statements(
    scheduler: str, function: Callable[..., None]
) -> None:
    scop = pv.extract(function)
    found = pv.schedule(scop, scheduler)
    assert pv.check(scop, found)
    assert {one.step for one in found.decisions} >= {"group"}
    assert not {one.step for one in pv.schedule(scop, scheduler, group=False).decisions} & {"group"}


def test_a_contracted_problem_has_the_dependences_between_its_groups() -> None:
    scop = pv.extract(forces)
    found = contracted(SchedulingProblem(scop, pv.dependences(scop)))
    assert found is not None
    problem = found.problem
    assert [statement.name for statement in problem.scop.statements] == ["S0", "S1", "S4"]
    expected = isl.UnionMap(
        """[n] -> { S0[i] -> S1[i, 0] : 0 <= i < n; S1[i, j] -> S1[i, j + 1] : 0 <= i < n and 0 <= j < n - 1;
                    S1[i, n - 1] -> S4[i] : 0 <= i < n }"""
    )
    known = problem.dependences.validity
    assert known.is_equal(expected.intersect_params(scop.context))
    assert problem.dependences.coincidence.is_equal(known)


def test_the_temporaries_of_a_group_are_variables() -> None:
    kernel = pv.compile(forces, target="python")
    assert [one.array for one in kernel.plan.expansions] == ["total"]
    torn = pv.compile(forces, target="python", group=False)
    assert {one.array for one in torn.plan.expansions} > {"total", "distance"}


@pytest.mark.thinned(4)
@pytest.mark.parametrize("target", ["c", "numba", "python"])
@pytest.mark.parametrize("schedule", ["pluto", "isl"])
@pytest.mark.parametrize("function", [forces, blur, guarded, life, exchanging])
def test_nothing_after_the_schedule_makes_arrays_of_them_either(
    function: Callable[..., None], schedule: str, target: str
) -> None:
    kernel = pv.compile(function, schedule=schedule, target=target)
    assert not [one.array for one in kernel.plan.expansions if one.depth > 1]


@pytest.mark.thinned(3)
@pytest.mark.parametrize("schedule", ["pluto", "isl", "feautrier"])
@pytest.mark.parametrize("size", [0, 1, 2, 7])
def test_results_are_those_of_the_loops(schedule: str, size: int) -> None:
    random = np.random.default_rng(size)
    cases: dict[Callable[..., None], tuple[Array, ...]] = {
        forces: (random.random(size), random.random(size), np.zeros(size)),
        blur: (random.random((size, size)), random.random((3, 3)), np.zeros((size, size))),
        guarded: (random.random(size), np.zeros(size)),
    }
    for function, arguments in cases.items():
        expected = [argument.copy() for argument in arguments]
        function(*expected)
        pv.compile(function, schedule=schedule, target="python")(*arguments)
        for one, other in zip(arguments, expected, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-12)


def test_bodies_are_taken_apart_down_to_statements_and_loops() -> None:
    bodies = list(loop_bodies(pv.extract(forces).schedule))
    assert [(body.depth, [part.has_loops for part in body.parts]) for body in bodies] == [
        (1, [False, True, False]),
        (2, [False, False, False]),
    ]
