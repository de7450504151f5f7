"""Which results IEEE 754 does not settle to the last bit, so that two libraries may differ in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from polyviz.model.expression import Binary, Call, walk

if TYPE_CHECKING:
    from collections.abc import Iterator

    from polyviz.model.scop import Scop, Statement

_SETTLED = frozenset(
    (
        "abs",
        "min",
        "max",
        "int",
        "float",
        "bool",
        "round",
        "complex",
        "real",
        "imag",
        "conjugate",
        "sqrt",
        "fabs",
        "floor",
        "ceil",
        "trunc",
        "copysign",
        "isnan",
        "isinf",
        "isfinite",
        "fmod",
        "absolute",
        "minimum",
        "maximum",
        "fmin",
        "fmax",
        "sign",
        "signbit",
        "rint",
        "square",
    )
)
_CAST = ("float", "int", "uint", "bool", "complex")


def rounded_by_libraries(scop: Scop) -> tuple[str, ...]:
    """The functions of the part, ``**`` among them, whose last bit depends on the mathematical library.

    >>> from polyviz.frontend import extract
    >>> rounded_by_libraries(extract("import math\\nfor i in range(len(A)):\\n    A[i] = math.exp(math.sqrt(A[i]))"))
    ('math.exp',)
    """
    return tuple(dict.fromkeys(name for statement in scop.statements for name in _unsettled(statement)))


def _unsettled(statement: Statement) -> Iterator[str]:
    for instruction in statement.body:
        for node in walk(instruction):
            if isinstance(node, Binary) and node.operator == "**":
                yield "**"
            if isinstance(node, Call) and not _is_settled(node.function):
                yield node.function


def _is_settled(function: str) -> bool:
    name = function.rpartition(".")[2]
    return name in _SETTLED or (function.startswith("numpy.") and name.rstrip("_0123456789") in _CAST)
