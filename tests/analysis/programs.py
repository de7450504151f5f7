"""Tiny random programs with an oracle that runs them: every instance is enumerated, nothing is left to isl."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

import islpy as isl
from hypothesis import strategies

from tests.builders import Loop, StatementText, loop, scop, statement

if TYPE_CHECKING:
    from polyviz.model.scop import Scop

Instance = tuple[str, tuple[int, ...]]
Cell = tuple[str, tuple[int, ...]]
Pairs = set[tuple[Instance, Instance]]


@dataclass(frozen=True)
class Program:
    """The text of a program over the parameter ``n``; every loop runs over ``0 <= iterator < n`` and a guard."""

    nest: tuple[Loop | str, ...]
    statements: dict[str, StatementText]

    def scop(self) -> Scop:
        return scop("n", *self.nest, context="n >= 1", **self.statements)

    def __str__(self) -> str:
        return f"{self.nest} {self.statements}"


@dataclass(frozen=True)
class Event:
    """One executed instance with the cells it touches; ``place`` are the loops on the way to it with their values."""

    instance: Instance
    place: tuple[tuple[tuple[int, ...], int], ...]
    reads: frozenset[Cell]
    must_writes: frozenset[Cell]
    may_writes: frozenset[Cell]

    @property
    def writes(self) -> frozenset[Cell]:
        return self.must_writes | self.may_writes


@strategies.composite
def programs(draw: strategies.DrawFn, arrays: tuple[str, ...] = ("A", "B", "s"), may: bool = True) -> Program:
    statements: dict[str, StatementText] = {}
    parts = [_nest(draw, statements, (), arrays, may) for _ in range(draw(strategies.integers(1, 2)))]
    return Program(tuple(parts), statements)


def _nest(
    draw: strategies.DrawFn,
    statements: dict[str, StatementText],
    outer: tuple[str, ...],
    arrays: tuple[str, ...],
    may: bool,
) -> Loop | str:
    if len(outer) == 2 or (outer and draw(strategies.booleans())):
        name = f"S{len(statements)}"
        statements[name] = _random_statement(draw, outer, arrays, may)
        return name
    iterator = f"i{len(outer)}"
    number = draw(strategies.integers(1, 2)) if len(statements) < 3 else 1
    return loop(iterator, *(_nest(draw, statements, (*outer, iterator), arrays, may) for _ in range(number)))


def _random_statement(
    draw: strategies.DrawFn, iterators: tuple[str, ...], arrays: tuple[str, ...], may: bool
) -> StatementText:
    bounds = " and ".join(f"0 <= {name} < n" for name in iterators)
    if len(iterators) == 2:
        bounds += draw(strategies.sampled_from(["", " and i1 <= i0", " and i1 > i0", " and i0 >= 1"]))
    reads = [_access(draw, iterators, arrays, False) for _ in range(draw(strategies.integers(0, 2)))]
    writes = [_access(draw, iterators, arrays, may) for _ in range(draw(strategies.integers(0, 1)))]
    return statement(bounds, reads=" ".join(reads), writes=" ".join(writes))


def _access(draw: strategies.DrawFn, iterators: tuple[str, ...], arrays: tuple[str, ...], may: bool) -> str:
    array = draw(strategies.sampled_from(arrays))
    rank = {"A": 1, "B": 2, "s": 0}[array]
    subscripts = [_subscript(draw, iterators) for _ in range(rank)]
    mark = "?" if may and draw(strategies.booleans()) else ""
    return f"{mark}{array}[{', '.join(subscripts)}]" if rank else f"{mark}{array}"


def _subscript(draw: strategies.DrawFn, iterators: tuple[str, ...]) -> str:
    terms = [
        draw(strategies.sampled_from([f"{name}", f"{name}", f"-{name}", f"2*{name}", ""]))
        for name in iterators
    ]
    terms = [term for term in terms if term]
    constant = draw(strategies.sampled_from(["", "1", "-1", "n"]))
    return "+".join([*terms, *([constant] if constant else [])]) or "0"


def run(program: Program, n: int) -> list[Event]:
    """The instances in the order of execution."""
    events: list[Event] = []
    for position, part in enumerate(program.nest):
        _execute(program, part, {}, (position,), (), n, events)
    return events


def _execute(
    program: Program,
    part: Loop | str,
    values: dict[str, int],
    path: tuple[int, ...],
    place: tuple[tuple[tuple[int, ...], int], ...],
    n: int,
    events: list[Event],
) -> None:
    if isinstance(part, str):
        event = _event(part, program.statements[part], values, place, n)
        if event is not None:
            events.append(event)
        return
    for value in range(n):
        inner = (*place, (path, value))
        for position, child in enumerate(part.body):
            _execute(program, child, {**values, part.iterator: value}, (*path, position), inner, n, events)


def _event(
    name: str,
    text: StatementText,
    values: dict[str, int],
    place: tuple[tuple[tuple[int, ...], int], ...],
    n: int,
) -> Event | None:
    known = {**values, "n": n}
    if not all(eval(condition, {}, known) for condition in text.domain.split(" and ")):
        return None
    reads = frozenset(cell for cell, _ in _cells(text.reads, known))
    writes = _cells(text.writes, known)
    must = frozenset(cell for cell, may in writes if not may)
    return Event(
        (name, tuple(values.values())), place, reads, must, frozenset(cell for cell, may in writes if may)
    )


def _cells(texts: str, known: dict[str, int]) -> list[tuple[Cell, bool]]:
    found = []
    for may, array, subscripts in re.findall(r"(\?)?(\w+)(?:\[([^\]]*)\])?", texts):
        index = tuple(eval(part, {}, known) for part in subscripts.split(",")) if subscripts else ()
        found.append(((array, index), bool(may)))
    return found


def loop_paths(program: Program) -> list[tuple[int, ...]]:
    """The paths of all loops, outer before inner, in the order of the text."""

    def below(part: Loop | str, path: tuple[int, ...]) -> list[tuple[int, ...]]:
        if isinstance(part, str):
            return []
        inner = [below(child, (*path, position)) for position, child in enumerate(part.body)]
        return [path, *(found for paths in inner for found in paths)]

    return [found for position, part in enumerate(program.nest) for found in below(part, (position,))]


def memory_pairs(events: list[Event]) -> dict[tuple[str, str], Pairs]:
    """All ordered pairs that touch a cell, by kind and array."""
    found: dict[tuple[str, str], Pairs] = {}
    for later in range(len(events)):
        for earlier in range(later):
            _note(found, events[earlier], events[later])
    return found


def _note(found: dict[tuple[str, str], Pairs], source: Event, sink: Event) -> None:
    touched = {
        "flow": source.writes & sink.reads,
        "anti": source.reads & sink.writes,
        "output": source.writes & sink.writes,
        "input": source.reads & sink.reads,
    }
    for kind, cells in touched.items():
        for array, _ in cells:
            found.setdefault((kind, array), set()).add((source.instance, sink.instance))


def value_pairs(events: list[Event]) -> dict[tuple[str, str], Pairs]:
    """The pairs of neighbours in time, by kind and array."""
    found: dict[tuple[str, str], Pairs] = {}
    for position, event in enumerate(events):
        before, after = events[:position][::-1], events[position + 1 :]
        for cell in event.reads:
            flow = [(source.instance, event.instance) for source in _up_to_must(before, cell)]
            anti = [(event.instance, sink.instance) for sink in _up_to_must(after, cell)]
            readers = [(source.instance, event.instance) for source in before if cell in source.reads][:1]
            for kind, pairs in (("flow", flow), ("anti", anti), ("input", readers)):
                found.setdefault((kind, cell[0]), set()).update(pairs)
        for cell in event.writes:
            output = [(source.instance, event.instance) for source in _up_to_must(before, cell)]
            found.setdefault(("output", cell[0]), set()).update(output)
    return {key: pairs for key, pairs in found.items() if pairs}


def _up_to_must(events: list[Event], cell: Cell) -> list[Event]:
    writers = []
    for event in events:
        if cell in event.writes:
            writers.append(event)
        if cell in event.must_writes:
            break
    return writers


def enumerated(relation: isl.Map, n: int) -> Pairs:
    """The pairs of a relation for one value of ``n``."""
    position = relation.find_dim_by_name(isl.dim_type.param, "n")
    points = (relation.fix_val(isl.dim_type.param, position, n) if position >= 0 else relation).wrap()
    source = relation.get_tuple_name(isl.dim_type.in_)
    sink = relation.get_tuple_name(isl.dim_type.out)
    arity, number = relation.dim(isl.dim_type.in_), points.dim(isl.dim_type.set)
    pairs: Pairs = set()

    def note(point: isl.Point) -> None:
        values = tuple(point.get_coordinate_val(isl.dim_type.set, axis).to_python() for axis in range(number))
        pairs.add(((source, values[:arity]), (sink, values[arity:])))

    points.foreach_point(note)
    return pairs


def closure(pairs: Pairs) -> Pairs:
    """The transitive closure."""
    successors: dict[Instance, set[Instance]] = {}
    for source, sink in pairs:
        successors.setdefault(source, set()).add(sink)
    nodes = list(successors)
    for middle, source in product(nodes, nodes):
        if middle in successors[source]:
            successors[source] |= successors[middle]
    return {(source, sink) for source, sinks in successors.items() for sink in sinks}
