"""The goal that counts memory: how many cache lines an order fetches, exactly, for a small size and a small cache."""

from __future__ import annotations

from collections import OrderedDict
from operator import itemgetter
from typing import TYPE_CHECKING

import numpy as np

from polyviz.analysis import count_points
from polyviz.analysis.witness import fixed
from polyviz.errors import OptionError
from polyviz.exercises.goal import UNSEEN, Goal, Verdict, counted
from polyviz.exercises.running import sizes_of
from polyviz.views.drawing import values_text
from polyviz.views.instances import integer_points
from polyviz.views.linked_memory import accesses_model, array_model
from polyviz.views.linked_points import Instances, times_of
from polyviz.views.sizes import binding

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import islpy as isl

    from polyviz.exercises.answer import Answer
    from polyviz.model.scop import Scop, Statement

MOST_INSTANCES = 50_000
"""The most instances that are walked through for one answer."""


def at_most(*, lines: int | None = None, bytes: int | None = None, cache: int = 2048, line: int = 64) -> Goal:
    """The answer fetches at most so many ``lines``, or ``bytes``, into a cache of ``cache`` bytes that begins empty.

    Every access of every instance is played in the answer's order for the exercise's sizes; the line used longest ago
    leaves first (fully associative, LRU), a write fetches its line too. Rows of an array begin a line; a scalar stays
    in a register; instances that the answer gives one and the same time run as written. Raises OptionError unless
    exactly one limit is given, a number of 1 or more.
    """
    if (lines is None) == (bytes is None):
        raise OptionError("A limit is lines or bytes: write at_most(lines=400), say.")
    given = lines if bytes is None else bytes
    counted(given, "A limit is how many lines or bytes may be fetched", "at_most(lines=400)")
    most = lines if lines is not None else (bytes or 0) // line
    limit = f"{lines:,} lines" if lines is not None else f"{bytes:,} bytes"
    room = max(1, cache // line)
    return Goal(
        f"at most {limit} of memory fetched, with a cache of {room} lines of {line} bytes",
        lambda answer: _fetches(answer, most, room, line),
    )


def _fetches(answer: Answer, most: int, room: int, line: int) -> Verdict:
    if answer.schedule is None:
        return UNSEEN
    values = sizes_of(answer.scop, answer.sizes, answer.given)
    found = lines_fetched(answer.scop, answer.schedule.map, values, room, line)
    lines = f"{found:,} {'line' if found == 1 else 'lines'}"
    return Verdict(found <= most, f"It fetches {lines}, {found * line:,} bytes, for {values_text(values)}.")


def lines_fetched(
    scop: Scop, order: isl.UnionMap, values: Mapping[str, int], room: int = 32, line: int = 64
) -> int:
    """How many lines of ``line`` bytes are fetched into a cache that holds ``room`` of them.

    >>> import polyviz as pv
    >>> part = pv.extract("def f(A, n):\\n    for i in range(n):\\n        A[i] = A[i] + 1.0")
    >>> lines_fetched(part, pv.schedule(part, "original").map, {"n": 80})
    10
    """
    held: OrderedDict[int, None] = OrderedDict()
    fetched = 0
    for number in _in_order(scop, order, values, line):
        if number in held:
            held.move_to_end(number)
            continue
        fetched += 1
        held[number] = None
        if len(held) > room:
            held.popitem(last=False)
    return fetched


def _in_order(scop: Scop, order: isl.UnionMap, values: Mapping[str, int], line: int) -> Iterator[int]:
    """The numbers of the lines that are touched, one after the other."""
    bound = binding(values, scop.context.get_ctx())
    drawn = {one.name: _instances(one, values) for one in scop.statements}
    times = times_of(order, bound, drawn)
    first = _first_lines(scop, values, line)
    moments: list[tuple[list[int], list[int]]] = []
    for statement in scop.statements:
        touched = _touched(statement, drawn[statement.name].points, values, first)
        moments += zip(times[statement.name], touched, strict=True)
    # Instances of one time stay as they were written: an order that leaves them open saves nothing by that.
    for _, numbers in sorted(moments, key=itemgetter(0)):
        yield from numbers


def _instances(statement: Statement, values: Mapping[str, int]) -> Instances:
    domain = fixed(statement.domain, values)
    total = count_points(domain)
    if total > MOST_INSTANCES:
        raise OptionError(
            f"{statement.name} runs {total:,} times for {values_text(values)}, more than are walked through here.",
            hint="Give the exercise smaller sizes, and its cache as well.",
        )
    return Instances(domain, tuple(integer_points(domain, MOST_INSTANCES)[0]), total, ())


def _first_lines(scop: Scop, values: Mapping[str, int], line: int) -> dict[str, tuple[int, list[int], int]]:
    """Per array the number of its first line, its extents, and the elements that a line holds."""
    found, free = {}, 0
    for array in scop.arrays:
        model = array_model(array, scop, values)
        if not array.rank:
            continue
        if model["extents"] is None:
            raise OptionError(f"The extent of `{array.name}` is not known, so its lines cannot be counted.")
        elements = max(1, line // model["element_bytes"])
        *outer, last = model["extents"]
        found[array.name] = free, [*outer, -(-last // elements)], elements
        free += int(np.prod([*outer, -(-last // elements)]))
    return found


def _touched(
    statement: Statement,
    points: Sequence[tuple[int, ...]],
    values: Mapping[str, int],
    first: Mapping[str, tuple[int, list[int], int]],
) -> list[list[int]]:
    """The lines that every instance touches, in the order of its accesses."""
    instances = np.array([(*point, 1) for point in points], dtype=np.int64).reshape(len(points), -1)
    columns = []
    for access in accesses_model(statement, values):
        if access["subscripts"] is None:
            raise OptionError(
                f"Where `{access['text']}` goes depends on data, so its lines cannot be counted."
            )
        start, extents, elements = first[access["array"]]
        cells = instances @ np.array(access["subscripts"], dtype=np.int64).T
        cells[:, -1] //= elements
        number = np.zeros(len(points), dtype=np.int64)
        for axis, extent in enumerate(extents):
            number = number * extent + cells[:, axis]
        columns.append(start + number)
    rows: list[list[int]] = np.stack(columns, axis=1).tolist() if columns else [[] for _ in points]
    return rows
