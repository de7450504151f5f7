"""How much a part has to compute and to move at least, exactly, for known sizes."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import islpy as isl

from polyviz.analysis.accesses import accesses_by_array, all_accesses
from polyviz.analysis.counting import count_points
from polyviz.analysis.footprints import cells_touched, operators
from polyviz.analysis.witness import fixed
from polyviz.model.expression import Element, Instruction, Name, children, walk
from polyviz.model.roofline import Work

if TYPE_CHECKING:
    from collections.abc import Mapping

    from polyviz.model.expression import Node
    from polyviz.model.scop import Scop

LINE = 64
"""Bytes per line, where the machine does not say."""


def work_of(
    scop: Scop, parameter_values: Mapping[str, int], element_bytes: Mapping[str, int], line: int = LINE
) -> Work:
    """The work of ``scop``; ``element_bytes`` by array, 8 where it names none.

    Arrays lie in C order, and every row begins a line. A line counts as read when a value from before the part may be
    read there, as written when it is; arrays that the part makes for itself need not reach memory at all. Scalars count
    nothing.

    >>> from polyviz.frontend import extract
    >>> part = extract("def f(A, B):\\n    for i in range(len(A)):\\n        A[i] = A[i] + B[i]")
    >>> work_of(part, {parameter.name: 80 for parameter in part.parameters}, {"B": 4})
    Work(operations=80, bytes_read=960, bytes_written=640, working_set=960)
    """
    read = written = touched = 0
    for accesses in accesses_by_array(scop):
        array = scop.array(accesses.array)
        if not array.rank:
            continue
        elements = max(1, line // element_bytes.get(array.name, 8))
        reads, writes = (
            cells_touched(scop, array.name, part, parameter_values)
            for part in (accesses.reads, accesses.writes)
        )
        outside = array.origin == "argument"
        read += line * lines_of(reads, elements) if outside and array.live_in else 0
        written += line * lines_of(writes, elements) if outside and array.live_out else 0
        touched += line * lines_of(reads.union(writes), elements)
    return Work(least_operations(scop, parameter_values), read, written, touched)


def least_operations(scop: Scop, parameter_values: Mapping[str, int]) -> int:
    """How often values have to be computed, when none is computed twice.

    An operation on what the part never writes is counted once per value of the iterators in it: in
    ``C[i, j] += alpha * A[i, k] * B[k, j]`` the first product once per ``i`` and ``k``. All others run every time.
    """
    written = {access.array for _, access in all_accesses(scop) if access.kind == "write"}
    total = 0
    for statement in scop.statements:
        domain = fixed(statement.domain.intersect_params(scop.context), parameter_values)
        counts: Counter[tuple[str, ...]] = Counter()
        for instruction in statement.body:
            _count(instruction, statement.iterators, written, counts)
        total += sum(number * count_points(_projected(domain, names)) for names, number in counts.items())
    return total


def _count(
    node: Node, iterators: tuple[str, ...], written: set[str], counts: Counter[tuple[str, ...]]
) -> None:
    """Add the operations of ``node`` by the iterators that their values depend on."""
    if isinstance(node, Element):
        return
    number = len(operators(node))
    if number:
        parts = list(walk(node))
        changes = isinstance(node, Instruction) or any(
            isinstance(part, Element) and part.array in written for part in parts
        )
        used = {part.name for part in parts if isinstance(part, Name)}
        counts[iterators if changes else tuple(name for name in iterators if name in used)] += number
    for child in children(node):
        _count(child, iterators, written, counts)


def _projected(domain: isl.Set, names: tuple[str, ...]) -> isl.Set:
    """The values of the iterators called ``names`` alone."""
    for position in reversed(range(domain.dim(isl.dim_type.set))):
        if domain.get_dim_name(isl.dim_type.set, position) not in names:
            domain = domain.project_out(isl.dim_type.set, position, 1)
    return domain


def lines_of(cells: isl.Set, elements: int) -> int:
    """How many lines of so many ``elements`` along the last dimension hold a set of cells without parameters.

    >>> lines_of(isl.Set("{ A[i, j] : 0 <= i < 10 and 0 <= j <= i }"), 8)
    12
    """
    rank = cells.dim(isl.dim_type.set)
    names = [f"i{axis}" for axis in range(rank)]
    last, outer = names[-1], names[:-1]
    # The line goes first: counted from the innermost dimension outwards, its bounds are then never rounded inside.
    to_lines = isl.Map(
        f"{{ [{', '.join(names)}] -> [{', '.join(['l', *outer])}] : "
        f"{elements} l <= {last} <= {elements} l + {elements - 1} }}"
    )
    return count_points(cells.reset_tuple_id().apply(to_lines).coalesce())
