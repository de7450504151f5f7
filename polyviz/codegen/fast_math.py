"""What LLVM may do with the order and the rounding of operations in a program for numba."""

from __future__ import annotations

from typing import TYPE_CHECKING

from polyviz.codegen.cancelling import is_exact
from polyviz.model.expression import Assign, Binary, Constant, walk
from polyviz.model.reciprocals import is_ordinary

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from polyviz.codegen.typing import Environment
    from polyviz.model.expression import Expression, Node
    from polyviz.model.program import FloatingPoint
    from polyviz.model.scop import Scop


def fast_math(scop: Scop, environment: Environment, floating_point: FloatingPoint) -> str:
    """The option of ``numba.njit``; empty where every element keeps its operations as written.

    LLVM may multiply by the reciprocal of what it divides by where that is a number whose reciprocal is one, too: that
    of the smallest numbers is infinite, and ``0.0 / x`` would not be a number.

    >>> from polyviz import extract
    >>> thirds, shares = (extract(f"for i in range(n): A[i] = A[i] / {by}") for by in ("3.0", "B[i]"))
    >>> from polyviz.codegen.typing import Environment
    >>> types = Environment({"A": "float64", "B": "float64"})
    >>> fast_math(thirds, types, "reassociate")
    'fastmath={"reassoc", "contract", "nsz", "arcp"}'
    >>> fast_math(shares, types, "reassociate"), fast_math(thirds, types, "strict")
    ('fastmath={"reassoc", "contract", "nsz"}', '')
    """
    if floating_point != "reassociate" or is_exact(scop, environment):
        return ""
    divisors = _divisors(part for one in scop.statements for line in one.body for part in walk(line))
    reciprocal = ', "arcp"' if all(isinstance(by, Constant) and is_ordinary(by.value) for by in divisors) else ""
    return f'fastmath={{"reassoc", "contract", "nsz"{reciprocal}}}'


def _divisors(parts: Iterable[Node]) -> Iterator[Expression]:
    """What is divided by in one of ``parts``."""
    for part in parts:
        match part:
            case Binary("/", _, divisor) | Assign(_, divisor, "/"):
                yield divisor
