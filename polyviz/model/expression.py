"""What one statement instance computes: typed-later expressions and the few instructions of a body.

The meaning of every node is Python's as numba compiles it; types are inferred when array element types are known
(``polyviz.codegen.typing``). Affine parts (loops, guards, subscripts) live in isl objects beside these trees; the
trees keep the user's spelling, so that generated code reads like the source.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from polyviz.errors import Span


@dataclass(frozen=True, slots=True)
class Expression:
    """Base of all expression nodes."""


@dataclass(frozen=True, slots=True)
class Constant(Expression):
    """A literal: ``bool``, ``int``, ``float`` or ``complex`` (``np.pi`` and the like arrive as their value)."""

    value: bool | int | float | complex


@dataclass(frozen=True, slots=True)
class Zero(Constant):
    """What the sum over an array starts with, and what a sum under a condition adds where that does not hold: a zero
    of the type that its elements add up in.

    It is known once the types of the arrays are (``polyviz.codegen.zeros``); until then it is a 0.
    """

    value: bool | int | float | complex = 0


@dataclass(frozen=True, slots=True)
class Name(Expression):
    """An integer that is not stored in an array: a loop iterator or a parameter."""

    name: str


@dataclass(frozen=True, slots=True)
class Element(Expression):
    """One cell of an array, read or (as an assignment target) written; scalars have no subscripts.

    ``affine`` tells that the subscripts are affine in iterators and parameters, so that the access relation is exact
    and the bounds are checked by the analysis; otherwise the generated code checks each use where asked to.
    Negative constant subscripts keep the user's spelling (``A[-1]``).
    """

    array: str
    subscripts: tuple[Expression, ...] = ()
    affine: bool = True
    span: Span | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Unary(Expression):
    """``-x``, ``+x``, ``~x`` or ``not x``."""

    operator: str
    operand: Expression


@dataclass(frozen=True, slots=True)
class Binary(Expression):
    """Python's binary operators: ``+ - * / // % ** & | ^ << >>``."""

    operator: str
    left: Expression
    right: Expression


@dataclass(frozen=True, slots=True)
class NotNegative(Binary):
    """A quotient or remainder (``//`` or ``%``) of two whole numbers of which neither is negative, nor the second 0."""


@dataclass(frozen=True, slots=True)
class Compare(Expression):
    """A comparison chain ``a < b <= c``: one operator fewer than operands; operators ``== != < <= > >=``."""

    operators: tuple[str, ...]
    operands: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Logical(Expression):
    """Short-circuit ``and`` / ``or`` over two or more operands; the value is that of the deciding operand."""

    operator: str
    operands: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Conditional(Expression):
    """``body if condition else otherwise``."""

    condition: Expression
    body: Expression
    otherwise: Expression


@dataclass(frozen=True, slots=True)
class Call(Expression):
    """A call of a pure scalar function by its canonical name.

    Canonical names: ``abs min max int float bool complex round pow`` for builtins, ``math.NAME``, ``numpy.NAME``
    (casts too: ``numpy.float32``), and the attributes of complex numbers as ``real``, ``imag``, ``conjugate``.
    """

    function: str
    arguments: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Instruction:
    """Base of what a statement body is made of."""


@dataclass(frozen=True, slots=True)
class Assign(Instruction):
    """``target = value`` or, with an operator, ``target operator= value`` (the target is then read first)."""

    target: Element
    value: Expression
    operator: str | None = None

    @property
    def assigned(self) -> Expression:
        """What the target becomes, its operator written out.

        >>> print(Assign(Element("s"), Constant(1), "+").assigned.operator)
        +
        """
        return self.value if self.operator is None else Binary(self.operator, self.target, self.value)


@dataclass(frozen=True, slots=True)
class Branch(Instruction):
    """A condition that depends on data: the statement that holds it stays whole, its accesses are *may* accesses."""

    condition: Expression
    then: tuple[Instruction, ...]
    otherwise: tuple[Instruction, ...] = ()


@dataclass(frozen=True, slots=True)
class Loop(Instruction):
    """A loop whose bounds depend on data, inside a statement that stays whole: ``for iterator in range(...)``."""

    iterator: str
    start: Expression
    stop: Expression
    step: Expression
    body: tuple[Instruction, ...]

    @property
    def ends_early(self) -> bool:
        """Whether a ``break`` may leave the loop before its range ends."""
        return _may_break(self.body)


@dataclass(frozen=True, slots=True)
class While(Instruction):
    """A loop that runs as long as a condition on data holds, inside a statement that stays whole."""

    condition: Expression
    body: tuple[Instruction, ...]


@dataclass(frozen=True, slots=True)
class Break(Instruction):
    """Leaves the innermost loop around it, which is one of a statement that stays whole."""


def _may_break(body: tuple[Instruction, ...]) -> bool:
    """Whether ``body`` may leave the loop that it is the body of."""
    return any(
        isinstance(one, Break) or (isinstance(one, Branch) and (_may_break(one.then) or _may_break(one.otherwise)))
        for one in body
    )


Node = Expression | Instruction
_NODES = (Expression, Instruction)


def children(node: Node) -> Iterator[Node]:
    """The direct sub-nodes in evaluation order of the text.

    >>> [child.value for child in children(Binary("+", Constant(1), Constant(2)))]
    [1, 2]
    """
    for name in node.__dataclass_fields__:  # as `fields` says, which makes a tuple for each node
        value = getattr(node, name)
        if isinstance(value, _NODES):
            yield value
        elif isinstance(value, tuple):
            yield from (part for part in value if isinstance(part, _NODES))


def whole_literal(node: Expression) -> int | None:
    """The whole number that ``node`` is, with or without a sign; None for anything else.

    >>> whole_literal(Unary("-", Constant(2))), whole_literal(Constant(3)), whole_literal(Constant(0.5))
    (-2, 3, None)
    """
    match node:
        case Constant(int(value)):
            return int(value)
        case Unary("-", Constant(int(value))):
            return -int(value)
    return None


def walk(node: Node) -> Iterator[Node]:
    """``node`` and everything below it, parents first.

    >>> sum(isinstance(part, Constant) for part in walk(Binary("+", Constant(1), Unary("-", Constant(2)))))
    2
    """
    pending = [node]
    while pending:
        first = pending.pop()
        yield first
        pending += reversed([*children(first)])


def rebuild(node: Node, transform: Callable[[Node], Node]) -> Node:
    """``node`` with ``transform`` applied to each direct child (not recursively).

    >>> rebuild(Unary("-", Name("i")), lambda child: Name("j"))
    Unary(operator='-', operand=Name(name='j'))
    """
    changes: dict[str, Any] = {}
    for item in fields(node):
        value = getattr(node, item.name)
        if isinstance(value, Expression | Instruction):
            changes[item.name] = transform(value)
        elif isinstance(value, tuple):
            changes[item.name] = tuple(
                transform(part) if isinstance(part, Expression | Instruction) else part for part in value
            )
    return replace(node, **changes)


def rewritten(body: Iterable[Instruction], transform: Callable[[Node], Node]) -> tuple[Instruction, ...]:
    """``body`` with ``transform`` applied to each instruction, which stays one.

    >>> body = (Assign(Element("x"), Name("i")),)
    >>> rewritten(body, lambda node: substitute(node, {"i": Constant(3)}))[0].value
    Constant(value=3)
    """
    found = []
    for instruction in body:
        placed = transform(instruction)
        assert isinstance(placed, Instruction)
        found.append(placed)
    return tuple(found)


def substitute(node: Node, names: dict[str, Expression]) -> Node:
    """``node`` with each ``Name`` found in ``names`` replaced.

    >>> substitute(Binary("+", Name("i"), Constant(1)), {"i": Name("c0")})
    Binary(operator='+', left=Name(name='c0'), right=Constant(value=1))
    """
    if isinstance(node, Name):
        return names.get(node.name, node)
    return rebuild(node, lambda child: substitute(child, names))
