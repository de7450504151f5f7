"""Vector loops over periodic subscripts, which C runs in three parts (``polyviz.codegen.periodic_c``).

``A[(j + 1) % n]`` is ``A[j + 1]`` but where it wraps around. A remainder takes a division, and no vector loads from
where it leads; so iterations in which nothing wraps around get plain subscripts, and those at both ends keep theirs.
A loop without others inside that threads share is one, too: each thread runs its share in vectors.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from polyviz.analysis.strides import direction, statement_rows
from polyviz.model.expression import Binary, Element, Name, walk
from polyviz.model.linear import linear_terms
from polyviz.model.plan import PARALLEL, VECTOR
from polyviz.model.schedule import Decision
from polyviz.transform.tree import Path, bands, is_under_mark, marks_above, statements_under

if TYPE_CHECKING:
    from collections.abc import Iterator

    import islpy as isl

    from polyviz.analysis.strides import Row
    from polyviz.model.expression import Node
    from polyviz.model.scop import Scop, Statement


def find_periodic(scop: Scop, tree: isl.Schedule) -> dict[str, tuple[str, ...]]:
    """The statements with subscripts that wrap around as their vector loop goes on, and the arrays of these."""
    found: dict[str, tuple[str, ...]] = {}
    for path, band in bands(tree):
        if not (is_under_mark(band, VECTOR) or _is_shared_alone(tree, path, band)):
            continue
        rows = band.get_prefix_schedule_multi_union_pw_aff().flat_range_product(band.band_get_partial_schedule())
        for name in statements_under(band):
            own = statement_rows(rows, scop.statement(name))
            along = direction(own, len(own) - 1)
            arrays = _wrapping(scop.statement(name), along) if along is not None else ()
            if arrays:
                found[name] = arrays
    return found


def _is_shared_alone(tree: isl.Schedule, path: Path, band: isl.ScheduleNode) -> bool:
    """Whether threads share the iterations of the one loop of ``band``, and there is no other one inside."""
    shared = any(name.partition(":")[0] == PARALLEL for name in marks_above(band)[:1])
    inside = any(place[: len(path)] == path and place != path for place, _ in bands(tree))
    return shared and band.band_n_member() == 1 and not inside


def periodic_decision(found: dict[str, tuple[str, ...]], target: str) -> Decision:
    """What is said of the statements in ``found``; only the target c has loops in parts."""
    arrays = " and ".join(dict.fromkeys(array for each in found.values() for array in each))
    text = (
        f"the loop runs in three parts: subscripts of {arrays} wrap around in the first and the last one only, "
        "and are plain in between"
        if target == "c"
        else f"subscripts of {arrays} take a remainder in every iteration: only c runs the iterations apart in which "
        f"none wraps around, and {target} does not"
    )
    return Decision("periodic", text, tuple(found))


def _wrapping(statement: Statement, along: Row) -> tuple[str, ...]:
    """The arrays of ``statement`` with a subscript whose remainder moves one by one ``along`` a loop."""
    changes = dict(zip(statement.iterators, along, strict=True))
    elements = (part for line in statement.body for part in walk(line) if isinstance(part, Element))
    found = (
        element.array
        for element in elements
        for value, modulus in _remainders(element)
        if modulus not in changes and sum(changes.get(name, 0) * factor for name, factor in value.items()) == 1
    )
    return tuple(dict.fromkeys(found))


def _remainders(element: Element) -> Iterator[tuple[dict[str, int], str]]:
    """The remainders in the subscripts of ``element``: the linear value and the name that it is divided by."""
    parts: Iterator[Node] = (part for place in element.subscripts for part in walk(place))
    for part in parts:
        match part:
            case Binary("%", value, Name(modulus)) if (terms := linear_terms(value)) is not None:
                yield terms, modulus
