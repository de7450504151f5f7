"""Variables that generated text may read before it has assigned them, and results that nothing may ever assign."""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING

import islpy as isl

from polyviz.codegen.calling import result_names
from polyviz.codegen.loops import LoopNode, instances
from polyviz.model.expression import Assign, Element, Instruction, Node, children

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from polyviz.model.scop import Access, Scop


def read_first(loops: LoopNode, bodies: Mapping[str, Sequence[Instruction]]) -> frozenset[str]:
    """The scalars whose first mention in the text of ``loops`` is no assignment.

    Python cannot come there without a value, since a condition around the mention never holds; numba refuses it.
    """
    found: set[str] = set()
    assigned: set[str] = set()
    for instance in instances(loops):
        for instruction in bodies[instance.statement]:
            for name, is_read in _mentions(instruction):
                if is_read and name not in assigned:
                    found.add(name)
                assigned.add(name)
    return frozenset(found)


def _mentions(node: Node) -> Iterator[tuple[str, bool]]:
    """Scalars in the order of evaluation, and whether they are read."""
    if isinstance(node, Assign) and not node.target.subscripts:
        yield from _mentions(node.value)
        yield node.target.array, node.operator is not None
        return
    if isinstance(node, Element) and not node.subscripts:
        yield node.array, True
        return
    for child in children(node):
        yield from _mentions(child)


def unsure_results(scop: Scop) -> tuple[str, ...]:
    """The new scalars handed back that no statement assigns for certain; empty loops of a cell do not count, since its
    names then stay as they are."""
    new = {array.name for array in scop.arrays if array.rank == 0 and array.origin == "local"}
    if scop.is_cell:  # a name that the notebook does not know yet comes with a value
        new |= {argument.name for argument in scop.arguments if argument.has_default}
    return tuple(name for name in result_names(scop) if name in new and _unsure(scop, name))


def _unsure(scop: Scop, name: str) -> bool:
    writes = [
        access
        for statement in scop.statements
        for access in statement.accesses
        if access.kind == "write" and access.array == name
    ]
    if scop.is_cell and all(access.exact for access in writes):
        return False
    nowhere = isl.Set.empty(scop.context.get_space())
    certain = reduce(isl.Set.union, (_sizes(access) for access in writes if access.exact), nowhere)
    return not scop.context.is_subset(certain)


def _sizes(access: Access) -> isl.Set:
    """The parameters for which ``access`` happens."""
    return access.relation.domain().params()


def unsure_note(scop: Scop) -> tuple[str, ...]:
    """What to say about ``unsure_results``, if there are any."""
    names = unsure_results(scop)
    if not names:
        return ()
    listed = " and ".join(f"`{name}`" for name in names)
    verb, pronoun = ("is", "it") if len(names) == 1 else ("are", "them")
    return (
        f"{listed} {verb} 0 (or False) where no iteration assigns {pronoun}, as under numba; "
        f"plain Python would leave {pronoun} without a value",
    )
