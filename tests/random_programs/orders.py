"""Random affine orders of a part, and an independent check of what `polyviz.check` says about them.

An order that is accepted must give the results of the original one in the reference interpreter; the counterexample of
one that is refused must be two instances that exist, touch one cell, of which one writes, and that change places.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING

import islpy as isl
import numpy as np

import polyviz as pv
from tests.interpreter import fixed, maps_of, points_of, run_scop
from tests.random_programs.comparison import difference, outputs
from tests.random_programs.generator import Profile, generate

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from tests.random_programs.program import Case, Program

EXACT = Profile(depth=3, statements=4, data_dependent=False, families=((1, ("int64",)),), limit=600)
"""Exact accesses and integers: results agree to the last bit or are wrong."""
Instance = tuple[int, ...]
End = tuple["pv.Statement", Instance]


@dataclass(frozen=True)
class Verdict:
    """What was found for one order; ``problem`` is empty when the product is right."""

    order: str
    accepted: bool
    problem: str = ""


def examine(seed: int, orders: int = 4) -> list[Verdict]:
    """Judge random orders of one program."""
    program = generate(seed, EXACT)
    scop = pv.extract(program.source)
    found = pv.dependences(scop)
    random = Random(f"orders {seed}")
    return [_examined(program, scop, found, random_order(scop, random)) for _ in range(orders)]


def _examined(program: Program, scop: pv.Scop, found: pv.Dependences, order: isl.UnionMap) -> Verdict:
    legality = pv.check(scop, order, known=found)
    if not legality:
        problems = (wrong_witness(scop, order, violation) for violation in legality.violations)
        return Verdict(str(order), False, next((problem for problem in problems if problem), ""))
    if found.privatizations:
        # Their legality rests on copies that this interpreter does not make.
        return Verdict(str(order), True)
    problems = (_different_result(program, scop, order, case) for case in program.cases)
    return Verdict(str(order), True, next((problem for problem in problems if problem), ""))


def _different_result(program: Program, scop: pv.Scop, order: isl.UnionMap, case: Case) -> str:
    first, second = program.values(case), program.values(case)
    with np.errstate(all="ignore"):
        expected = outputs(first, program.function()(*first))
        actual = outputs(second, run_scop(scop, second, order=order))
    sentence = difference(expected, actual)
    return f"accepted, but {sentence} at {dict(case.sizes)}" if sentence else ""


# Orders


def random_order(scop: pv.Scop, random: Random) -> isl.UnionMap:
    """The original order with its time dimensions reversed, swapped, skewed and shifted at random."""
    times = [part for part in maps_of(scop.schedule.get_map())]
    length = max(part.dim(isl.dim_type.out) for part in times)
    change = random.choice(CHANGES)(length, random)
    result = isl.UnionMap.empty(scop.schedule.get_map().get_space())
    for part in times:
        padded = _padded(part, length).apply_range(change)
        if random.random() < 0.3:
            padded = padded.apply_range(
                _affine(length, {random.randrange(length): random.choice(["+ 1", "- 1", "+ 2"])})
            )
        result = result.union(isl.UnionMap.from_map(padded))
    return result


def _padded(times: isl.Map, length: int) -> isl.Map:
    missing = length - times.dim(isl.dim_type.out)
    names = [f"t{position}" for position in range(length - missing)]
    zeros = isl.Map(f"{{ [{', '.join(names)}] -> [{', '.join([*names, *['0'] * missing])}] }}")
    return times.reset_tuple_id(isl.dim_type.out).apply_range(zeros)


def _affine(length: int, added: Mapping[int, str]) -> isl.Map:
    names = [f"t{position}" for position in range(length)]
    values = [f"{name} {added.get(position, '')}" for position, name in enumerate(names)]
    return isl.Map(f"{{ [{', '.join(names)}] -> [{', '.join(values)}] }}")


def _same(length: int, random: Random) -> isl.Map:
    return _affine(length, {})


def _reversed(length: int, random: Random) -> isl.Map:
    position = random.randrange(length)
    return _affine(length, {position: f"- 2 * t{position}"})


def _swapped(length: int, random: Random) -> isl.Map:
    order = list(range(length))
    first, second = random.randrange(length), random.randrange(length)
    order[first], order[second] = order[second], order[first]
    names = [f"t{position}" for position in range(length)]
    return isl.Map(f"{{ [{', '.join(names)}] -> [{', '.join(names[position] for position in order)}] }}")


def _skewed(length: int, random: Random) -> isl.Map:
    first, second = random.randrange(length), random.randrange(length)
    factor = random.choice(["+", "-", "+ 2 *"])
    return _affine(length, {} if first == second else {first: f"{factor} t{second}"})


def _projected(length: int, random: Random) -> isl.Map:
    position = random.randrange(length)
    return _affine(length, {position: f"- t{position}"})


def _skewed_and_swapped(length: int, random: Random) -> isl.Map:
    return _skewed(length, random).apply_range(_swapped(length, random))


CHANGES: tuple[Callable[[int, Random], isl.Map], ...] = (
    _same, _reversed, _swapped, _skewed, _skewed, _projected, _skewed_and_swapped,
)  # fmt: skip


# Counterexamples


def wrong_witness(scop: pv.Scop, order: isl.UnionMap, violation: pv.Violation) -> str:
    """Why the pair of a violation is no conflict or keeps its order; empty when it loses it."""
    problem = no_conflict(scop, violation)
    if problem:
        return problem
    ends = _ends(scop, violation)
    first, second = (_time(order, *end, violation.parameters) for end in ends)
    return f"{violation.explanation}: the order is kept" if first < second else ""


def _ends(scop: pv.Scop, violation: pv.Violation) -> tuple[End, End]:
    source, sink = scop.statement(violation.source), scop.statement(violation.sink)
    return (source, violation.source_instance), (sink, violation.sink_instance)


def no_conflict(scop: pv.Scop, violation: pv.Violation) -> str:
    """Why the pair of a violation may run in any order; empty when it may not."""
    ends = _ends(scop, violation)
    for statement, instance in ends:
        if instance not in points_of(fixed(statement.domain, violation.parameters)):
            return f"{statement.name}{instance} does not exist at {dict(violation.parameters)}"
    original = [_time(scop.schedule.get_map(), *end, violation.parameters) for end in ends]
    if not original[0] < original[1]:
        return f"{violation.explanation}: the source does not run first"
    kinds = {"flow": ("write", "read"), "anti": ("read", "write"), "output": ("write", "write")}
    first, second = kinds.get(violation.kind, ("write", "read"))
    shared = (
        one.intersect(other)
        for one in _cells(ends[0], violation, first)
        for other in _cells(ends[1], violation, second)
    )
    if any(not cells.is_empty() for cells in shared):
        return ""
    return f"{violation.explanation}: the instances share no cell of {violation.array}"


def _cells(end: End, violation: pv.Violation, kind: str) -> list[isl.Set]:
    """What the accesses of an instance may touch, which is without bounds where data choose."""
    statement, instance = end
    return [
        _image(access.relation, instance, violation.parameters)
        for access in statement.accesses
        if access.array == violation.array and access.kind == kind
    ]


def _time(
    order: isl.UnionMap, statement: pv.Statement, instance: Instance, parameters: Mapping[str, int]
) -> Instance:
    for relation in maps_of(order):
        if relation.get_tuple_name(isl.dim_type.in_) == statement.name:
            times = points_of(_image(relation, instance, parameters))
            if times:
                return times[0]
    raise AssertionError(f"{statement.name}{instance} has no time")


def _image(relation: isl.Map, instance: Instance, parameters: Mapping[str, int]) -> isl.Set:
    for position, value in enumerate(instance):
        relation = relation.fix_val(isl.dim_type.in_, position, isl.Val(value))
    return fixed(relation, parameters).range()
