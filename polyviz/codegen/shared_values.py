"""Values that one assignment asks for several times, and that no compiler recognises as one.

    {
        const double shared0 = floor_div_f64(x[p], dx);
        out[p] = table[checked_index(shared0, n, …)] * (x[p] - shared0 * dx);
    }

Where a helper is written out, each use of its parameters and of its temporaries stands there again. Compilers find that
sums and products are the same, but not what is chosen: two branches on one condition stay two. What is evaluated in any
case is therefore computed once, before the assignment; nothing is computed that was not before, and bits stay the same.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

from polyviz.model.expression import (
    Assign,
    Binary,
    Call,
    Compare,
    Conditional,
    Constant,
    Element,
    Expression,
    Logical,
    children,
    rebuild,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from polyviz.model.expression import Node

_CHOOSING_CALLS = ("min", "max", "int", "round", "numpy.sign", "numpy.minimum", "numpy.maximum", "numpy.clip")
"""Functions that compilers see as choices, or that test what they are given."""


def share_values(
    assign: Assign, name: Callable[[int], str], chooses: Callable[[Expression], bool]
) -> tuple[dict[str, Expression], Assign]:
    """What ``assign`` asks for more than once, by the names that ``name`` gives to the first, the second, …, each in
    terms of those before it; and ``assign`` with them. ``chooses`` tells more operations in which something is decided.

    >>> from polyviz.model.expression import Name
    >>> inside = Call("max", (Name("i"), Name("low")))
    >>> both = Binary("*", inside, Element("A", (inside,)))
    >>> values, changed = share_values(Assign(Element("B"), both), "shared{}".format, lambda part: False)
    >>> values == {"shared0": inside}, changed.value.left
    (True, Element(array='shared0', subscripts=(), affine=True, span=None))
    """
    numbered = _Numbered(chooses)
    roots = [numbered.number(part) for part in (*assign.target.subscripts, assign.value)]
    always = numbered.reached(roots)
    found = numbered.shared(always)
    names = {one: name(place) for place, one in enumerate(found)}
    values = {names[one]: numbered.without(one, names, inside=True) for one in found}

    def named(node: Node) -> Node:
        return numbered.without(numbered.number(node), names) if isinstance(node, Expression) else node

    if not found:
        return {}, assign
    target = rebuild(assign.target, named)
    assert isinstance(target, Element)
    value = named(assign.value)
    assert isinstance(value, Expression)
    return values, Assign(target, value, assign.operator)


@dataclass(slots=True)
class _Part:
    """An expression, its operands by number, and how many operations ask for it."""

    node: Expression
    operands: tuple[int, ...]
    uses: int = 0


class _Numbered:
    """Equal expressions under one number each, operands before what they are operands of."""

    def __init__(self, chooses: Callable[[Expression], bool]) -> None:
        self.chooses = chooses
        self.parts: list[_Part] = []
        self.known: dict[object, int] = {}
        self.seen: dict[int, int] = {}

    def number(self, node: Expression) -> int:
        """The number of ``node``."""
        if id(node) in self.seen:
            return self.seen[id(node)]
        operands = tuple(self.number(one) for one in children(node) if isinstance(one, Expression))
        key = (type(node), *_own(node), operands)
        if key not in self.known:
            self.known[key] = len(self.parts)
            self.parts.append(_Part(node, operands))
            for one in operands:
                self.parts[one].uses += 1
        self.seen[id(node)] = self.known[key]
        return self.seen[id(node)]

    def reached(self, roots: Sequence[int]) -> set[int]:
        """What is evaluated whatever is decided."""
        found: set[int] = set()
        pending = [*roots]
        for one in roots:
            self.parts[one].uses += 1
        while pending:
            one = pending.pop()
            if one not in found:
                found.add(one)
                part = self.parts[one]
                pending += part.operands[: _evaluated(part.node)]
        return found

    def shared(self, always: set[int]) -> list[int]:
        """Which of the values ``always`` evaluated several operations ask for, if something is decided in them and is
        not in a part that has a name already."""
        found: list[int] = []
        deciding: set[int] = set()
        for number, part in enumerate(self.parts):
            if self._decides(part.node) or not deciding.isdisjoint(part.operands):
                if number in always and part.uses > 1:
                    found.append(number)
                else:
                    deciding.add(number)
        return found

    def without(self, number: int, names: dict[int, str], *, inside: bool = False) -> Expression:
        """An expression with the parts that have ``names``, perhaps only those ``inside`` of it, by these."""
        if number in names and not inside:
            return Element(names[number])
        part = self.parts[number]
        operands: Iterator[int] = iter(part.operands)
        changed = rebuild(part.node, lambda _: self.without(next(operands), names))
        assert isinstance(changed, Expression)
        return changed

    def _decides(self, node: Expression) -> bool:
        match node:
            case Conditional() | Logical():
                return True
            case Element(affine=False):
                return True
            case Call(function):
                return function in _CHOOSING_CALLS or self.chooses(node)
            case Binary():
                return self.chooses(node)
        return False


def _own(node: Expression) -> tuple[object, ...]:
    """What ``node`` is besides its operands; numbers that are equal but of other types, or other zeros, differ."""
    if isinstance(node, Constant):
        return type(node.value), repr(node.value)
    values = [getattr(node, item.name) for item in fields(node) if item.name != "span"]
    return tuple(value for value in values if isinstance(value, str | bool) or _is_words(value))


def _is_words(value: object) -> bool:
    return isinstance(value, tuple) and bool(value) and all(isinstance(one, str) for one in value)


def _evaluated(node: Expression) -> int:
    """How many of its first operands ``node`` evaluates in any case."""
    match node:
        case Conditional() | Logical():
            return 1
        case Compare():
            return 2
    return len([*children(node)])
