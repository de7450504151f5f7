"""Counts and sums under a condition on data, as sums of what the condition chooses.

``if x[i] > 0: count += 1`` may or may not write ``count``, and nothing more is known of it. ``count += 1 if x[i] > 0
else 0`` does the same to a number, and is a sum: threads and vector lanes may share its loop.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, TypeGuard

from polyviz.frontend.nodes import Leaf
from polyviz.model.expression import (
    Assign,
    Binary,
    Branch,
    Conditional,
    Constant,
    Element,
    Logical,
    Unary,
    Zero,
    walk,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from polyviz.frontend.nodes import Choice, Node
    from polyviz.model.expression import Expression, Instruction

_ADDS = ("+", "-")


def as_sums(choice: Choice) -> tuple[Leaf, ...] | None:
    """One sum for each one in ``choice``, or for each of its arms; None where there is anything else in it.

    The cells are single variables, which may be written as they are at any time: an element might lie outside of its
    array where the condition does not hold. No value may look at one of them, nor may the condition.
    """
    found = [*_sums(choice, choice.then, chosen=True), *_sums(choice, choice.otherwise, chosen=False)]
    if not found or None in found:
        return None
    leaves = tuple(leaf for leaf in found if leaf is not None)
    targets = {_added(leaf).target.array for leaf in leaves}
    read = [choice.condition, *(_added(leaf).value for leaf in leaves)]
    if any(isinstance(part, Element) and part.array in targets for value in read for part in walk(value)):
        return None
    return _joined(choice, leaves)


def under_conditions(
    conditions: Sequence[Expression], instructions: tuple[Instruction, ...], unset: Collection[str] = ()
) -> tuple[Instruction, ...]:
    """What is done of ``instructions`` where all ``conditions`` on data hold: a sum adds what they choose.

    Not so a sum in one of the ``unset`` variables, which may have no value yet where they do not hold.
    """
    added = _sum_under(conditions, instructions) if conditions else None
    if added is not None and added.target.array not in unset:
        return (added,)
    for condition in reversed(conditions):
        instructions = (Branch(condition, instructions),)
    return instructions


def _sum_under(conditions: Sequence[Expression], instructions: tuple[Instruction, ...]) -> Assign | None:
    """The only instruction as a sum under ``conditions`` and its own; None where it is none, or they look at it."""
    if len(instructions) != 1 or not _is_sum(one := instructions[0]):
        return None
    value, asked = one.value, [*conditions]
    if isinstance(value, Conditional) and isinstance(value.otherwise, Zero):
        asked += _operands(value.condition)
        value = value.body
    parts = [part for each in (*asked, value) for part in walk(each)]
    if any(isinstance(part, Zero) or (isinstance(part, Element) and part.array == one.target.array) for part in parts):
        return None
    condition = asked[0] if len(asked) == 1 else Logical("and", tuple(asked))
    return replace(one, value=Conditional(condition, value, Zero()))


def _operands(condition: Expression) -> tuple[Expression, ...]:
    return condition.operands if isinstance(condition, Logical) and condition.operator == "and" else (condition,)


def _is_sum(instruction: Instruction) -> TypeGuard[Assign]:
    """Whether something is added to a single variable."""
    return isinstance(instruction, Assign) and instruction.operator in _ADDS and not instruction.target.subscripts


def _joined(choice: Choice, leaves: tuple[Leaf, ...]) -> tuple[Leaf, ...]:
    """One sum in the place of two ``leaves`` where each arm is a sum of the same cell: one is added up in parallel."""
    if len(leaves) != 2 or len(choice.then) != 1 or len(choice.otherwise) != 1:
        return leaves
    first, second = map(_added, leaves)
    if (first.target, first.operator) != (second.target, second.operator):
        return leaves
    then, otherwise = first.value, second.value
    assert isinstance(then, Conditional)
    assert isinstance(otherwise, Conditional)
    chosen = (then.body, otherwise.otherwise)
    if not (all(isinstance(one, Constant) for one in chosen) or all(map(_is_real, chosen))):
        return leaves  # whole numbers of two types may have no type in common that holds both
    value = Conditional(choice.condition, *chosen)
    return (replace(leaves[0], instructions=(replace(first, value=value),)),)


def _is_real(value: Expression) -> bool:
    """Whether ``value`` is computed with fractions, whatever types its arrays are of."""
    match value:
        case Constant(float()) | Binary("/"):
            return True
        case Binary("+" | "-" | "*", left, right):
            return _is_real(left) or _is_real(right)
        case Unary("-", operand):
            return _is_real(operand)
    return False


def _sums(choice: Choice, nodes: tuple[Node, ...], *, chosen: bool) -> Iterator[Leaf | None]:
    """The leaves of one arm, each a sum of what ``choice`` chooses; None for what is no sum."""
    for node in nodes:
        if not isinstance(node, Leaf) or node.requirements or len(node.instructions) != 1:
            yield None
            continue
        yield _choosing(choice, node, chosen=chosen) if _is_sum(node.instructions[0]) else None


def _choosing(choice: Choice, leaf: Leaf, *, chosen: bool) -> Leaf:
    added = _added(leaf)
    nothing = Zero()
    arms: tuple[Expression, Expression] = (added.value, nothing) if chosen else (nothing, added.value)
    value = Conditional(choice.condition, *arms)
    return replace(leaf, instructions=(replace(added, value=value),), span=choice.span, source=choice.source)


def _added(leaf: Leaf) -> Assign:
    [one] = leaf.instructions
    assert isinstance(one, Assign)
    return one
