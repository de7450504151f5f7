"""Statements in which a last bit decides about a whole number.

``gray[i] = 0.299 * r[i] + 0.587 * g[i] + 0.114 * b[i]`` into bytes cuts off a fraction: where the sum is 255, a product
that is fused with a sum may make 254 of it. No tolerance covers that, so the compiler gets no freedom there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from polyviz.codegen.typing import assignments, infer
from polyviz.model.expression import (
    Assign,
    Binary,
    Branch,
    Break,
    Call,
    Element,
    Expression,
    Instruction,
    Loop,
    While,
    walk,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from polyviz.codegen.typing import Environment
    from polyviz.model.scop import Scop

_ROUNDINGS = frozenset({"round", *(f"numpy.{name}" for name in ("floor", "ceil", "trunc", "rint", "round", "around"))})
"""Functions that make a whole of a number with a fraction, whatever the type of their result."""

_OPERATIONS = 2
"""One operation alone is rounded as IEEE 754 says, whoever compiles it."""


def decisive_statements(scop: Scop, environment: Environment) -> tuple[str, ...]:
    """The names of the statements that make a whole number, or a choice between whole numbers, of a computed fraction.

    >>> from polyviz import extract
    >>> from polyviz.codegen.typing import Environment
    >>> part = extract('''
    ... for i in range(n):
    ...     gray[i] = 0.3 * red[i] + 0.6 * green[i]
    ... ''')
    >>> types = {name: "uint8" for name in ("gray", "red", "green")}
    >>> decisive_statements(part, Environment(types))
    ('S0',)
    >>> decisive_statements(part, Environment(types | {"gray": "float64"}))
    ()
    """
    found = _Decisions(scop, environment)
    return tuple(one.name for one in scop.statements if found.in_any(one.body))


class _Decisions:
    """Looks through the instructions of a part. ``written``: arrays and scalars whose fractions the part computes."""

    def __init__(self, scop: Scop, environment: Environment) -> None:
        self.environment = environment
        targets = {part.target.array for one in scop.statements for part in assignments(one.body)}
        self.written = {name for name in targets if not environment.array(name).is_integral}

    def in_any(self, instructions: Iterable[Instruction]) -> bool:
        """Whether one of the ``instructions``, or one inside it, decides."""
        return any(map(self._decides, instructions))

    def _decides(self, instruction: Instruction) -> bool:
        match instruction:
            case Assign(target, value):
                return (self._is_whole(target) and self._in_value(instruction)) or any(
                    self._is_computed(one) for one in self._rounded((target, value))
                )
            case Branch(condition, then, otherwise):
                inside = (*then, *otherwise)
                if any(isinstance(node, Break) for one in inside for node in walk(one)):
                    return self._is_computed(condition) or self.in_any(inside)
                chosen = any(self._is_whole(one.target) for one in assignments(inside))
                return (chosen and self._computes(condition)) or self.in_any(inside)
            case Loop(_, start, stop, step, body):
                return any(map(self._is_computed, (start, stop, step))) or self.in_any(body)
            case While(condition, body):
                return self._is_computed(condition) or self.in_any(body)
        return False

    def _in_value(self, instruction: Assign) -> bool:
        """Whether a fraction is computed in what the whole number gets; ``n += a * b`` adds as a fraction, too."""
        value, operator = instruction.value, instruction.operator
        return self._is_computed(Binary(operator, instruction.target, value) if operator else value)

    def _rounded(self, expressions: Iterable[Expression]) -> Iterator[Expression]:
        """What is made whole inside the ``expressions``."""
        for node in (part for expression in expressions for part in walk(expression)):
            match node:
                case Element(_, subscripts):
                    yield from subscripts
                case Call(function, arguments) if function in _ROUNDINGS or self._is_whole(node):
                    yield from arguments
                case Binary("//" | "%"):
                    yield node

    def _is_whole(self, expression: Expression) -> bool:
        return infer(expression, self.environment).is_integral

    def _is_computed(self, expression: Expression) -> bool:
        """Whether a fraction in ``expression`` may have another last bit if operations are fused or reordered."""
        return self._reads_computed(expression) or self._operations(expression) >= _OPERATIONS

    def _computes(self, condition: Expression) -> bool:
        """The same of a ``condition`` that computes. One that compares finished sums has met their orders already."""
        return self._operations(condition) >= _OPERATIONS - self._reads_computed(condition)

    def _operations(self, expression: Expression) -> int:
        return sum(isinstance(node, Binary) and not self._is_whole(node) for node in walk(expression))

    def _reads_computed(self, expression: Expression) -> bool:
        return any(isinstance(node, Element) and node.array in self.written for node in walk(expression))
