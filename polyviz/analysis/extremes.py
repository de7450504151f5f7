"""Conditions that keep the smaller or the larger of two values, as its minimum or maximum.

``if d[i, j] > t: d[i, j] = t`` may or may not write ``d[i, j]``, and stays as it stands. ``d[i, j] = min(d[i, j], t)``
does the same to the cell, bit for bit: what is compared with a NaN is not stored by either, nor is one of two zeros in
the place of the other. It is a reduction like any other, whose loops threads and vector lanes may share.

``if x[i] > x[j]: x[i], x[j] = x[j], x[i]`` puts the smaller one first, and is both a minimum and a maximum.

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
    if len(statement.body) > 1:
        return (
            f"{statement.name} (line {statement.span.line}) puts two values in order, whatever its condition finds: "
            "it is taken as `min` and `max`, and both cells as always written."
        )
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
    branch = statement.body[0]
    if len(statement.body) != 1 or not isinstance(branch, Branch) or branch.otherwise:
        return None
    body = _kept(scop, branch) or _ordered(scop, statement, branch)
    if body is None:
        return None
    own = body[0].target.array if len(body) > 1 else ""
    accesses = _certain(statement.accesses, own)
    return None if accesses is None else replace(statement, accesses=accesses, body=body)


def _kept(scop: Scop, branch: Branch) -> tuple[Assign, ...] | None:
    """What keeps the smaller or larger value, if all that ``branch`` does is that."""
    assigns = _plain(branch)
    if len(assigns) != 1:
        return None
    [assign] = assigns
    found = _chosen(branch.condition, assign.target, assign.value)
    return None if found is None or not _holds(scop, found) else (found,)


def _ordered(scop: Scop, statement: Statement, branch: Branch) -> tuple[Assign, ...] | None:
    """What puts two cells of an array in order, if all that ``branch`` does is to exchange them."""
    assigns = _plain(branch)
    if len(assigns) != 3:
        return None
    saved, first, second = assigns
    cells = (saved.value, first.value)
    if cells != (first.target, second.target) or second.value != saved.target:
        return None
    if first.target.array != second.target.array or not _is_own(scop, statement, saved.target.array):
        return None
    kept = _chosen(branch.condition, first.target, second.target)
    if kept is None or not second.target.affine:
        return None
    assert isinstance(kept.value, Call)
    other = "max" if kept.value.function == "min" else "min"
    return saved, kept, replace(second, value=Call(other, (second.target, saved.target)))


def _plain(branch: Branch) -> list[Assign]:
    """What ``branch`` does, if these are plain assignments."""
    found = [one for one in branch.then if isinstance(one, Assign) and one.operator is None]
    return found if len(found) == len(branch.then) else []


def _is_own(scop: Scop, statement: Statement, name: str) -> bool:
    """Whether the temporary ``name`` is for ``statement`` alone."""
    array = scop.array(name)
    others = (other for other in scop.statements if other.name != statement.name)
    used = any(access.array == name for other in others for access in other.accesses)
    return array.rank == 0 and not (array.live_in or array.live_out or used)


def _chosen(condition: Expression, target: Element, value: Expression) -> Assign | None:
    """What ``if condition: target = value`` keeps."""
    if not isinstance(condition, Compare) or len(condition.operands) != 2 or not target.affine:
        return None
    [operator] = condition.operators
    if condition.operands == (target, value):
        operator = _TURNED.get(operator, "")
    elif condition.operands != (value, target):
        return None
    return Assign(target, Call(_KEEPS[operator], (target, value))) if operator in _KEEPS else None


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


def _certain(accesses: Iterable[Access], own: str) -> tuple[Access, ...] | None:
    """``accesses`` without those that the condition is about, which has read the same cells; None if it has not.

    ``own`` is a temporary that nothing else uses.
    """
    reads = [access for access in accesses if access.kind == "read" and access.exact]

    def known(access: Access) -> bool:
        return access.array == own or any(
            access.array == read.array and bool(access.relation.is_equal(read.relation)) for read in reads
        )

    others = [access for access in accesses if access not in reads]
    if not all(map(known, others)):
        return None
    kept = [access for access in others if access.kind == "write" or access.array == own]
    return (*reads, *(replace(access, exact=True, reason="") for access in kept))
