"""Temporaries of one use give way to their values, where loops that may be tiled have one statement less by that.

``t = X[i, k] - Y[j, k]; s += t * t`` are two statements that a scheduler has to keep together, iteration by
iteration; ``s += (X[i, k] - Y[j, k]) * (X[i, k] - Y[j, k])`` is a reduction like any other, whose loops may be tiled
and whose cells may stay in registers. So it is with ``s = min(s, t)``, and with what reads other cells of the array
that it changes. A stencil of two steps, ``lap = ...; v[i, j] = u[i, j] + c * lap``, becomes one statement likewise,
whose rows may run together in registers. Every operation is the same, on the same values and in the same types.

Source: forward substitution (Allen and Kennedy, *Optimizing Compilers for Modern Architectures*, section 4.5).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import islpy as isl

from polyviz.analysis.reductions import folding_operator
from polyviz.model.expression import (
    Assign,
    Binary,
    Constant,
    Element,
    Name,
    Unary,
    rebuild,
    rewritten,
    walk,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from polyviz.model.dependences import Dependences
    from polyviz.model.expression import Expression, Node
    from polyviz.model.scop import Access, Scop, Statement

LARGEST = 16
"""Nodes of a value that may stand in several places of a statement: the compiler computes it once all the same."""
LOOPS = 3
"""Fewer loops leave nothing to tile: there the statements are as good together as in one."""
_GAIN = {True: "what is folded there is one statement, whose loops can be tiled", False: "one statement is left"}
_CHEAP = ("+", "-", "*")


@dataclass(frozen=True, slots=True)
class _Temporary:
    """A scalar that ``definition`` sets to ``value`` and only ``use`` reads, in the same iteration."""

    name: str
    value: Expression
    definition: Statement
    use: Statement


def with_values_in_place(scop: Scop, dependences: Dependences) -> Scop:
    """``scop`` with the temporaries of what it folds replaced by their values; ``scop`` itself without such.

    A temporary has one definition and one statement that reads it, in the same iterations of the same loops, and
    nothing that its value reads is written between. Notes say what was done.
    """
    found = next(_temporaries(scop, dependences), None)
    while found is not None:
        scop = _substituted(scop, found)
        found = next(_temporaries(scop, dependences), None)
    return scop


def _temporaries(scop: Scop, dependences: Dependences) -> Iterator[_Temporary]:
    for private in dependences.privatizations:
        found = _temporary(scop, private.array, private.depth)
        if found is not None and _pays(found):
            yield found


def _temporary(scop: Scop, name: str, depth: int) -> _Temporary | None:
    array = next((array for array in scop.arrays if array.name == name), None)
    if array is None or array.live_in or array.live_out or array.dtype is not None:
        return None
    writers, readers = (_users(scop, name, kind) for kind in ("write", "read"))
    if len(writers) != 1 or len(readers) != 1 or writers == readers:
        return None
    [definition], [use] = writers, readers
    value = _value_of(definition)
    if value is None or not _runs_with(definition, use, depth):
        return None
    if not _is_small(value) and _occurrences(use, name) > 1:
        return None
    if _changes_between(scop, definition, use):
        return None
    return _Temporary(name, value, definition, use)


def _users(scop: Scop, array: str, kind: str) -> list[Statement]:
    return [
        statement
        for statement in scop.statements
        if any(access.array == array and access.kind == kind for access in statement.accesses)
    ]


def _value_of(definition: Statement) -> Expression | None:
    """What ``definition`` assigns, nothing else; None for a literal too, whose type depends on where it stands."""
    if len(definition.body) != 1 or not definition.exact:
        return None
    [assign] = definition.body
    if not isinstance(assign, Assign) or assign.operator is not None:
        return None
    return assign.value if any(isinstance(part, Element) for part in walk(assign.value)) else None


def _runs_with(definition: Statement, use: Statement, depth: int) -> bool:
    """Whether both run in the same iterations, and the value lives within one of them."""
    if definition.iterators != use.iterators or depth != len(use.iterators) or not use.exact:
        return False
    return bool(definition.domain.reset_tuple_id().is_equal(use.domain.reset_tuple_id()))


def _is_small(value: Expression) -> bool:
    parts = list(walk(value))
    kinds = Element | Name | Constant | Binary | Unary
    cheap = all(part.operator in _CHEAP for part in parts if isinstance(part, Binary))
    return cheap and len(parts) <= LARGEST and all(isinstance(part, kinds) for part in parts)


def _occurrences(use: Statement, name: str) -> int:
    return sum(
        isinstance(part, Element) and part.array == name
        for instruction in use.body
        for part in walk(instruction)
    )


def _changes_between(scop: Scop, definition: Statement, use: Statement) -> bool:
    """Whether a statement that stands between them may write what the value reads."""
    names = [statement.name for statement in scop.statements]
    between = scop.statements[names.index(definition.name) + 1 : names.index(use.name)]
    operands = {access.array for access in definition.accesses if access.kind == "read"}
    return any(
        access.array in operands
        for statement in between
        for access in statement.accesses
        if access.kind == "write"
    )


def _pays(found: _Temporary) -> bool:
    """Whether loops that may be tiled have one statement less by it, and no operation more."""
    use = found.use
    if len(use.iterators) < LOOPS or len(use.body) != 1 or not isinstance(use.body[0], Assign):
        return False
    return _is_read_once(found) or _makes_a_fold(found)


def _is_read_once(found: _Temporary) -> bool:
    """Whether it stands in one place, and its value cannot fail, which a choice around that place might hide."""
    return _occurrences(found.use, found.name) == 1 and all(access.exact for access in found.definition.accesses)


def _makes_a_fold(found: _Temporary) -> bool:
    [assign] = _with_value(found).body
    return isinstance(assign, Assign) and folding_operator(assign) is not None


def _with_value(found: _Temporary) -> Statement:
    """The use with the value in place of the temporary."""
    definition, use = found.definition, found.use

    def place(node: Node) -> Node:
        if isinstance(node, Element) and node.array == found.name:
            return found.value
        return rebuild(node, place)

    reads = tuple(_read_by(use, access) for access in definition.accesses if access.kind == "read")
    kept = tuple(access for access in use.accesses if access.array != found.name)
    source = f"{definition.source}; {use.source}"
    return replace(use, accesses=(*reads, *kept), body=rewritten(use.body, place), source=source)


def _read_by(use: Statement, access: Access) -> Access:
    def renamed(relation: isl.Map) -> isl.Map:
        relation = relation.set_tuple_name(isl.dim_type.in_, use.name)
        for position, iterator in enumerate(use.iterators):
            relation = relation.set_dim_name(isl.dim_type.in_, position, iterator)
        return relation

    return access.mapped(renamed)


def _substituted(scop: Scop, found: _Temporary) -> Scop:
    gone, use = found.definition.name, _with_value(found)
    statements = tuple(
        use if statement.name == use.name else statement
        for statement in scop.statements
        if statement.name != gone
    )
    note = (
        f"`{found.name}` gives way to its value in {use.name}, the only statement that reads it "
        f"({gone} is gone): {_GAIN[_makes_a_fold(found)]}."
    )
    changed = replace(
        scop,
        statements=statements,
        arrays=tuple(array for array in scop.arrays if array.name != found.name),
        notes=(*scop.notes, note),
    )
    return replace(changed, schedule=scop.schedule.intersect_domain(changed.domain))
