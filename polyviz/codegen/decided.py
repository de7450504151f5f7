"""Bodies without what is decided: choices and branches whose condition is a truth value."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from polyviz.codegen.typing import infer
from polyviz.model.expression import (
    Branch,
    Conditional,
    Constant,
    Expression,
    Instruction,
    Logical,
    Loop,
    While,
    rebuild,
)
from polyviz.model.truth import is_decided, joined

if TYPE_CHECKING:
    from collections.abc import Sequence

    from polyviz.codegen.typing import Environment
    from polyviz.model.expression import Node


def without_decided(body: Sequence[Instruction], environment: Environment) -> tuple[Instruction, ...]:
    """``body`` with what its conditions leave of it, where some of them are true or false.

    >>> from polyviz.codegen.typing import Environment
    >>> from polyviz.model.expression import Assign, Compare, Element, Name
    >>> halt = Logical("or", (Constant(False), Compare(("<",), (Element("x"), Constant(0.0)))))
    >>> (branch,) = without_decided([Branch(halt, ())], Environment({"x": "float64"}))
    >>> branch.condition
    Compare(operators=('<',), operands=(Element(array='x', subscripts=(), affine=True, span=None), Constant(value=0.0)))
    >>> chosen = Conditional(Constant(True), Name("i"), Constant(0))
    >>> branch = Branch(Constant(True), (Assign(Element("x"), chosen),))
    >>> without_decided([branch], Environment({"x": "float64"}))[0].value
    Name(name='i')
    """
    found: list[Instruction] = []
    for line in body:
        left = _left(line, environment)
        if isinstance(left, Branch) and is_decided(left.condition):
            found += left.then if left.condition == Constant(True) else left.otherwise
        elif isinstance(left, Instruction):
            found.append(left)
    return tuple(found)


def _left(node: Node, environment: Environment) -> Node:
    """``node`` with what is decided in it; a choice stays where it has another type than what is chosen."""
    match node:
        case Branch():
            condition = _left(node.condition, environment)
            assert isinstance(condition, Expression)
            return Branch(condition, *(without_decided(part, environment) for part in (node.then, node.otherwise)))
        case Loop() | While():
            return replace(node, body=without_decided(node.body, environment))
    found = rebuild(node, lambda part: _left(part, environment))
    match found:
        case Logical(operator, operands):
            return joined(operator, operands)
        case Conditional(decided, body, otherwise) if is_decided(decided):
            chosen = body if decided == Constant(True) else otherwise
            return chosen if infer(chosen, environment) == infer(found, environment) else found
    return found
