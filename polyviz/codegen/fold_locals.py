"""Values that live for one iteration of a loop that folds others into cells: ``d = x[i] - m`` before ``s += d * d``.

In lanes each works it out once for all its sums, which are then one loop: more than a few sums would not fit into
vector registers anyway.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from polyviz.codegen.bodies import placed_body, private_name
from polyviz.codegen.loops import Block, Instance
from polyviz.codegen.versions_c import step_of
from polyviz.model.expression import Assign, Element, walk

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from polyviz.codegen.loops import LoopNode
    from polyviz.model.expression import Instruction
    from polyviz.model.scop import Scop, Statement


@dataclass(frozen=True, slots=True)
class Local:
    """One instance in a loop: ``assign`` gives a variable its only value of an iteration."""

    statement: Statement
    assign: Assign


def inside_of(node: LoopNode) -> tuple[list[Instance], frozenset[str]] | None:
    """The instances that are all of ``node``, and the variables that live there; None where there is more in it."""
    if isinstance(node, Instance):
        return [node], frozenset()
    if not isinstance(node, Block):
        return None
    found, names = [], frozenset(node.declares)
    for child in node.children:
        inside = inside_of(child)
        if inside is None:
            return None
        found += inside[0]
        names |= inside[1]
    return found, names


def locals_in(
    scop: Scop,
    places: Sequence[Instance],
    declared: frozenset[str],
    iterator: str,
    bodies: Mapping[str, Sequence[Instruction]],
) -> tuple[list[Local], list[Instance]] | None:
    """What ``places`` in a loop over ``iterator`` give to the variables in ``declared``, and the other places; None
    where a variable has several values in one iteration, or some are not loaded side by side."""
    own = {private_name(scop, name) for name in declared}
    found: dict[str, Local] = {}
    others: list[Instance] = []
    for place in places:
        statement = scop.statement(place.statement)
        body = placed_body(statement, bodies[place.statement], place.arguments)
        writes = {node.target.array for line in body for node in walk(line) if isinstance(node, Assign)}
        if writes.isdisjoint(own):
            others.append(place)
            continue
        (assign,) = body if len(body) == 1 else (None,)
        if not isinstance(assign, Assign) or not _is_plain(assign, iterator) or assign.target.array in found:
            return None
        found[assign.target.array] = Local(statement, assign)
    return [*found.values()], others


def _is_plain(assign: Assign, iterator: str) -> bool:
    """Whether it only loads cells that stay where they are, or lie side by side along ``iterator``."""
    elements = [node for node in walk(assign.value) if isinstance(node, Element)]
    moves = [[step_of(place, iterator) for place in element.subscripts] for element in elements]
    alone = assign.operator is None and not assign.target.subscripts
    return alone and all(not any(steps[:-1]) and steps[-1] in (0, 1) for steps in moves if steps)
