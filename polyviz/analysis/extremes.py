"""Conditions that keep the smaller or the larger of two values, as its minimum or maximum.

``if d[i, j] > t: d[i, j] = t`` may or may not write ``d[i, j]``, and stays as it stands. ``d[i, j] = min(d[i, j], t)``
does the same to the cell, bit for bit: what is compared with a NaN is not stored by either, nor is one of two zeros in
the place of the other. It is a reduction like any other, whose loops threads and vector lanes may share.

The condition compares in the type that cell and value have in common, and leaves the cell alone; the minimum is of
that type. Where it might not hold every value of the cell (a fraction beside whole numbers of 64 bits) nothing changes:
the types of arguments are not known here, so the value has to be made of elements of the cell's own array, or of one
that was made like it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from polyviz.model.expression import Assign, Binary, Branch, Call, Compare, Constant, Element

if TYPE_CHECKING:
    from collections.abc import Iterable

    from polyviz.model.dependences import Dependences
    from polyviz.model.expression import Expression
    from polyviz.model.scop import Access, Scop, Statement

_KEEPS = {"<": "min", ">": "max"}
"""What ``if value < cell: cell = value`` keeps, by its operator."""
_TURNED = {"<": ">", ">": "<"}
_OF_THE_SAME_TYPE = ("+", "-", "*")


def with_extremes(scop: Scop, dependences: Dependences) -> Scop:
    """``scop`` with the conditions that keep the smaller or larger value replaced; ``scop`` itself without such."""
    found = [_extreme(scop, statement) or statement for statement in scop.statements]
    changed = [new for new, old in zip(found, scop.statements, strict=True) if new is not old]
    if not changed:
        return scop
    return replace(scop, statements=tuple(found), notes=(*scop.notes, *map(_note, changed)))


def _note(statement: Statement) -> str:
    [assign] = statement.body
    assert isinstance(assign, Assign)
    assert isinstance(assign.value, Call)
    what = "smaller" if assign.value.function == "min" else "larger"
    return (
        f"{statement.name} (line {statement.span.line}) keeps the {what} of two values, whatever its condition finds: "
        f"it is taken as `{assign.value.function}`, and its cell as always written."
    )


def _extreme(scop: Scop, statement: Statement) -> Statement | None:
    """``statement`` without its condition, where that keeps the smaller or larger value."""
    assign = _kept(statement)
    if assign is None or not _holds(scop, assign):
        return None
    accesses = _certain(statement.accesses)
    return None if accesses is None else replace(statement, accesses=accesses, body=(assign,))


def _kept(statement: Statement) -> Assign | None:
    if len(statement.body) != 1 or not isinstance(statement.body[0], Branch):
        return None
    branch = statement.body[0]
    if branch.otherwise or len(branch.then) != 1 or not isinstance(branch.condition, Compare):
        return None
    [assign], compared = branch.then, branch.condition
    if not isinstance(assign, Assign) or assign.operator is not None or len(compared.operands) != 2:
        return None
    [operator], target = compared.operators, assign.target
    if compared.operands == (target, assign.value):
        operator = _TURNED.get(operator, "")
    elif compared.operands != (assign.value, target):
        return None
    if operator not in _KEEPS or not target.affine:
        return None
    return replace(assign, value=Call(_KEEPS[operator], (target, assign.value)))


def _holds(scop: Scop, assign: Assign) -> bool:
    """Whether the type that cell and value have in common holds whatever is in the cell."""
    array = scop.array(assign.target.array)
    if array.dtype is not None:
        return np.dtype(array.dtype).kind == "f"
    if (
        array.creation is not None
        and isinstance(array.creation.fill, Constant)
        and array.creation.like is None
    ):
        return isinstance(array.creation.fill.value, float)
    if array.rank == 0 and array.origin == "local" and not array.live_in:
        return True  # a variable has the type that all its values have in common
    assert isinstance(assign.value, Call)
    return _is_of(scop, _model(scop, array.name), assign.value.arguments[1], frozenset())


def _model(scop: Scop, name: str) -> str:
    """The array whose type the array ``name`` has: its own name where it was not made like another."""
    creation = scop.array(name).creation
    return name if creation is None or creation.like is None else _model(scop, creation.like)


def _is_of(scop: Scop, array: str, value: Expression, within: frozenset[str]) -> bool:
    """Whether ``value`` is made of elements of arrays like ``array``; ``within``: the temporaries asked of before."""
    match value:
        case Element(name, subscripts):
            return _model(scop, name) == array or (not subscripts and _holds_only(scop, array, name, within))
        case Binary(operator, left, right) if operator in _OF_THE_SAME_TYPE:
            return all(_is_of(scop, array, side, within) for side in (left, right))
    return False


def _holds_only(scop: Scop, array: str, name: str, within: frozenset[str]) -> bool:
    """Whether the temporary ``name`` holds nothing but what is made of elements of arrays like ``array``."""
    temporary = scop.array(name)
    if name in within or temporary.live_in or temporary.dtype is not None or temporary.origin != "local":
        return False
    writers = [
        statement
        for statement in scop.statements
        if any(access.array == name and access.kind == "write" for access in statement.accesses)
    ]
    values = [_value(statement, name) for statement in writers]
    return bool(values) and all(
        value is not None and _is_of(scop, array, value, within | {name}) for value in values
    )


def _value(statement: Statement, name: str) -> Expression | None:
    """What ``statement`` assigns to ``name``; None where it does anything else."""
    assign = statement.body[0]
    if len(statement.body) != 1 or not isinstance(assign, Assign):
        return None
    return assign.value if assign.operator is None and assign.target.array == name else None


def _certain(accesses: Iterable[Access]) -> tuple[Access, ...] | None:
    """``accesses`` without those that the condition is about, which has read the same cells; None if it has not."""
    reads = [access for access in accesses if access.kind == "read" and access.exact]

    def known(access: Access) -> bool:
        return any(
            access.array == read.array and bool(access.relation.is_equal(read.relation)) for read in reads
        )

    others = [access for access in accesses if access not in reads]
    if not all(map(known, others)):
        return None
    written = [replace(access, exact=True, reason="") for access in others if access.kind == "write"]
    return (*reads, *written)
