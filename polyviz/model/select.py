"""A branch that only replaces one cell, as a choice between two values of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from polyviz.model.expression import Assign, Branch, Call, Compare, Conditional, Element, walk

if TYPE_CHECKING:
    from polyviz.model.expression import Expression, Instruction


def selection(instruction: Instruction) -> Assign | None:
    """``if condition: cell = value`` as ``cell = value if condition else cell``, where the condition looks at the cell,
    or is one of a chain of conditions that all replace it; None for anything else.

    So is ``cell = min(cell, value)`` whose value is made of other cells of the same array.

    One condition on something else may hardly ever hold, and then stores would be all that is left to wait for.

    >>> from polyviz.model.expression import Compare, Name
    >>> smaller = Compare(("<",), (Name("x"), Element("best")))
    >>> selection(Branch(smaller, (Assign(Element("best"), Name("x")),))).value
    Conditional(condition=Compare(operators=('<',), operands=(Name(name='x'), Element(array='best', subscripts=(), \
affine=True, span=None))), body=Name(name='x'), otherwise=Element(array='best', subscripts=(), affine=True, span=None))
    """
    match instruction:
        case Branch(condition, (Assign() as assign,), otherwise):
            target = assign.target
            other = _otherwise(otherwise, target)
            if other is None or (other == target and not _looks_at(condition, target)):
                return None
            return Assign(target, Conditional(condition, assign.assigned, other))
        case Assign(target, Call("min" | "max" as name, (cell, value)), None) if cell == target:
            if not any(isinstance(node, Element) and node.array == target.array for node in walk(value)):
                return None
            condition = Compare(("<" if name == "min" else ">",), (value, target))
            return Assign(target, Conditional(condition, value, target))
    return None


def choices_between(branch: Branch) -> tuple[Assign, ...]:
    """What ``branch`` makes of each of its variables, without a branch; nothing if it does more than assign to them.

    A variable that a condition looks at is replaced last, when nothing asks for its old value any more.

    >>> from polyviz.model.expression import Compare, Name
    >>> branch = Branch(Compare(("<",), (Name("x"), Element("best"))), (
    ...     Assign(Element("best"), Name("x")), Assign(Element("place"), Name("i"))))
    >>> [assign.target.array for assign in choices_between(branch)]
    ['place', 'best']
    """
    values = _after(branch)
    if values is None:
        return ()
    left = [Assign(target, value) for target, value in values.items() if value != target]
    ordered: list[Assign] = []
    while left:
        free = next((one for one in left if not any(_reads(other, one) for other in left)), None)
        if free is None:
            return ()
        left.remove(free)
        ordered.append(free)
    return tuple(ordered)


def _after(instruction: Instruction) -> dict[Element, Expression] | None:
    """The variables that ``instruction`` may change, with their values behind it in terms of those before."""
    match instruction:
        case Assign(Element(_, ()) as target):
            return {target: instruction.assigned}
        case Branch(condition, then, otherwise):
            first, second = _after_all(then), _after_all(otherwise)
            if first is None or second is None:
                return None
            targets = dict.fromkeys((*first, *second))
            return {one: Conditional(condition, first.get(one, one), second.get(one, one)) for one in targets}
    return None


def _after_all(instructions: tuple[Instruction, ...]) -> dict[Element, Expression] | None:
    """The same for several ones of which none reads what one before it writes."""
    found: dict[Element, Expression] = {}
    for instruction in instructions:
        after = _after(instruction)
        if after is None or any(_looks_at(value, cell) for value in after.values() for cell in found):
            return None
        found |= after
    return found


def _reads(one: Assign, other: Assign) -> bool:
    """Whether ``one`` reads what ``other``, another one, writes."""
    return one is not other and _looks_at(one.value, other.target)


def _otherwise(instructions: tuple[Instruction, ...], target: Element) -> Expression | None:
    """What ``target`` is where a condition does not hold, of nothing or a chain of others; None for anything else."""
    match instructions:
        case ():
            return target
        case (Branch(condition, (Assign() as assign,), otherwise),) if assign.target == target:
            last = otherwise[0] if len(otherwise) == 1 else None
            is_new = isinstance(last, Assign) and last.target == target
            other = last.assigned if is_new and isinstance(last, Assign) else _otherwise(otherwise, target)
            return None if other is None else Conditional(condition, assign.assigned, other)
    return None


def _looks_at(condition: Expression, cell: Element) -> bool:
    return any(isinstance(node, Element) and node == cell for node in walk(condition))
