"""The type of every expression and of every scalar local, as numba infers them.

An expression's type follows from those of the arrays it reads (``infer``). A scalar local has one type: that of all
values assigned to it, unified until nothing changes (``infer_scalars``). numba gives each version of a variable its own
type where two versions never meet; here a variable has one type throughout, the unified one.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import reduce, singledispatch
from typing import TYPE_CHECKING

from polyviz.codegen import dtypes
from polyviz.codegen.dtypes import (
    BOOL,
    C_TYPE_NAMES,
    COMPLEX128,
    FLOAT64,
    INT64,
    UINT64,
    Type,
    sum_type,
    type_named,
    unify,
)
from polyviz.codegen.functions import signature
from polyviz.errors import CodegenError, Span
from polyviz.model.expression import (
    Assign,
    Binary,
    Call,
    Compare,
    Conditional,
    Constant,
    Element,
    Expression,
    Instruction,
    Logical,
    Name,
    Node,
    Unary,
    Zero,
    children,
    walk,
)

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator, Mapping

__all__ = [
    "C_TYPE_NAMES",
    "Environment",
    "assigned_type",
    "assignments",
    "first_span",
    "infer",
    "infer_scalars",
]


class UnknownTypeError(CodegenError):
    """A scalar whose type is not known yet; an error only when it stays so."""


@dataclass(frozen=True, slots=True)
class Environment:
    """The dtype names of arrays and scalars; iterators and parameters are 64-bit integers.

    >>> str(Environment({"A": "float32"}).array("A"))
    'float32'
    """

    types: Mapping[str, str] = field(default_factory=dict)

    def array(self, name: str, span: Span | None = None) -> Type:
        """The element type of an array or scalar; raises ``CodegenError`` when it is not known."""
        if name not in self.types:
            raise UnknownTypeError(f"The type of `{name}` is not known.", span=span)
        return type_named(self.types[name])

    def name(self, name: str) -> Type:
        """The type of an iterator or parameter."""
        return type_named(self.types.get(name, "int64"))


@singledispatch
def infer(expression: Expression, environment: Environment) -> Type:
    """The type of an expression; raises ``CodegenError`` for an operation that its operands do not have.

    >>> half = Binary("*", Element("A"), Constant(0.5))
    >>> str(infer(half, Environment({"A": "float32"})))
    'float64'
    """
    raise TypeError(f"not an expression: {expression!r}")


@infer.register
def _(expression: Constant, environment: Environment) -> Type:
    value = expression.value
    if isinstance(value, bool):
        return BOOL
    if isinstance(value, int):
        if 2**63 <= value < 2**64:
            return UINT64
        if not -(2**63) <= value < 2**63:
            raise CodegenError(
                f"The integer {value} does not fit into 64 bits.",
                hint="Integers are 64 bits wide, as in numba; write it as a float if that is precise enough.",
            )
        return INT64
    return FLOAT64 if isinstance(value, float) else COMPLEX128


@infer.register
def _(expression: Name, environment: Environment) -> Type:
    return environment.name(expression.name)


@infer.register
def _(expression: Element, environment: Environment) -> Type:
    return environment.array(expression.array, expression.span)


@infer.register
def _(expression: Unary, environment: Environment) -> Type:
    match expression:
        case Unary("-", Constant(int() as value)) if value > 1:
            # The smallest integer is written as the negative of one that does not exist.
            return infer(Constant(-value), environment)
    return dtypes.unary(expression.operator, infer(expression.operand, environment)).result


@infer.register
def _(expression: Binary, environment: Environment) -> Type:
    left, right = infer(expression.left, environment), infer(expression.right, environment)
    return dtypes.binary(expression.operator, left, right).result


@infer.register
def _(expression: Compare, environment: Environment) -> Type:
    operands = [infer(operand, environment) for operand in expression.operands]
    for operator, left, right in zip(expression.operators, operands, operands[1:], strict=False):
        dtypes.compare(operator, left, right)
    return BOOL


@infer.register
def _(expression: Logical, environment: Environment) -> Type:
    return reduce(unify, (infer(operand, environment) for operand in expression.operands))


@infer.register
def _(expression: Conditional, environment: Environment) -> Type:
    infer(expression.condition, environment)
    arms = [expression.body, expression.otherwise]
    # The zero beside a sum is of the type of what it adds.
    return reduce(unify, (infer(arm, environment) for arm in arms if not isinstance(arm, Zero)))


@infer.register
def _(expression: Call, environment: Environment) -> Type:
    operands = tuple(infer(argument, environment) for argument in expression.arguments)
    return signature(expression.function, operands).result


def assigned_type(assignment: Assign, environment: Environment) -> Type:
    """The type of the value an assignment stores, before conversion to the target's type."""
    if assignment.operator is None:
        return infer(assignment.value, environment)
    return infer(Binary(assignment.operator, assignment.target, assignment.value), environment)


def infer_scalars(
    bodies: Iterable[Iterable[Instruction]], known: Mapping[str, str], made: Container[str] = ()
) -> dict[str, str]:
    """The dtype names of the scalars that ``bodies`` assign and ``known`` does not hold, and of the arrays ``made`` of
    the value that is stored first.

    ``known`` maps arrays and scalar arguments to dtype names. Raises ``CodegenError``, with the place of the first
    assignment, for a scalar whose type does not follow from its assignments.

    >>> body = [Assign(Element("s"), Constant(0)), Assign(Element("s"), Element("A", (Name("i"),)), "+")]
    >>> infer_scalars([body], {"A": "float64"})
    {'s': 'float64'}
    """
    scalars, stored = [], set[str]()
    for assignment in (one for body in bodies for one in assignments(body)):
        name = assignment.target.array
        is_first = name in made and name not in stored
        stored.add(name)
        if name not in known and (is_first or not assignment.target.subscripts):
            scalars.append(assignment)
    types: dict[str, str] = {}
    while changes := _propagate(scalars, {**known, **types}) or _closed(scalars, {**known, **types}):
        types.update(changes)
    for assignment in scalars:
        if assignment.target.array not in types:
            raise CodegenError(
                f"The type of `{assignment.target.array}` does not follow from what is assigned to it.",
                span=assignment.target.span,
                hint="Assign a number to it before it is used.",
            )
    return types


def assignments(body: Iterable[Instruction]) -> Iterator[Assign]:
    """All assignments of a body, those inside branches and loops included, in text order."""
    for instruction in body:
        yield from (node for node in walk(instruction) if isinstance(node, Assign))


def first_span(node: Node) -> Span | None:
    """Where a node stands in the source: the place of its first array reference."""
    return next((part.span for part in walk(node) if isinstance(part, Element) and part.span), None)


def _closed(scalars: Iterable[Assign], types: Mapping[str, str]) -> dict[str, str]:
    """The type of one scalar that is computed from itself: the smallest that its assignments do not widen."""
    for name in dict.fromkeys(assignment.target.array for assignment in scalars):
        if name in types:
            continue
        own = [assignment for assignment in scalars if assignment.target.array == name]
        leaves = [part for assignment in own for part in walk(assignment.value) if not any(children(part))]
        if all(isinstance(leaf, Element) and leaf.array == name for leaf in leaves):
            continue
        for candidate in _WIDENING:
            if _propagate(own, {**types, name: candidate}) == {} and _is_typed(own, {**types, name: candidate}):
                return {name: candidate}
    return {}


_WIDENING = ("bool", "int64", "float32", "float64", "complex64", "complex128")
"""Candidates for the type of a scalar that is computed from itself, smallest first."""


def _is_typed(own: Iterable[Assign], types: Mapping[str, str]) -> bool:
    try:
        for assignment in own:
            assigned_type(assignment, Environment(types))
    except UnknownTypeError:
        return False
    return True


def _assigned_to(assignment: Assign, environment: Environment, *, is_new: bool) -> Type:
    """The type of the value an assignment stores; ``is_new``: the target is a sum of which nothing else is known."""
    return sum_type(infer(assignment.value, environment)) if is_new else assigned_type(assignment, environment)


def _propagate(scalars: Iterable[Assign], types: Mapping[str, str]) -> dict[str, str]:
    scalars, current = list(scalars), dict(types)
    summed = {assignment.target.array for assignment in scalars if isinstance(assignment.value, Zero)}
    for assignment in scalars:
        name = assignment.target.array
        if isinstance(assignment.value, Zero):
            continue  # It takes the type of what is added to it.
        try:
            value = _assigned_to(assignment, Environment(current), is_new=name in summed and name not in current)
        except UnknownTypeError:
            continue
        current[name] = unify(value, type_named(current[name])).name if name in current else value.name
    return {name: value for name, value in current.items() if types.get(name) != value}
