"""Sizes that numbers among the arguments tell: ``int(3 * sigma + 0.5)``, ``math.ceil(length / step)``.

What such numbers are is known when a call begins, so whatever is made whole of them may be as well. Loops that run so
far are affine, and arrays may be as long.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from polyviz.frontend.integer_forms import MAKES_WHOLE
from polyviz.model.expression import Binary, Call, Constant, Element, Name, Unary, walk

if TYPE_CHECKING:
    from polyviz.frontend.program import Program
    from polyviz.model.expression import Expression


def told_by_numbers(call: Call, program: Program) -> Expression:
    """The parameter for ``call`` where it makes numbers among the arguments whole, and ``call`` itself elsewhere.

    In loops and branches it stays: there Python may never get to what cannot be made whole, such as ``int(1 / x)``.
    """
    is_whole = call.function in MAKES_WHOLE and any(isinstance(part, Element) for part in walk(call))
    if program.depth or not is_whole or not all(_is_told(argument, program) for argument in call.arguments):
        return call
    return program.parameters.derived(call)


def _is_told(expression: Expression, program: Program) -> bool:
    """Whether ``expression`` is made of sizes and of numbers that nothing in the program changes."""
    match expression:
        case Constant():
            return True
        case Name(name):
            return name in program.parameters.names
        case Element(array, ()):
            draft = program.scalars.get(array)
            return draft is not None and draft.origin == "argument" and array not in program.usage.assigned
        case Unary("-", operand):
            return _is_told(operand, program)
        case Binary(_, left, right):
            return _is_told(left, program) and _is_told(right, program)
        case Call(_, arguments):
            return all(_is_told(argument, program) for argument in arguments)
        case _:
            return False
