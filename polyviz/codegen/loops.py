"""The loop IR: the small tree that every printer reads.

Index expressions are ordinary ``polyviz.model.expression`` nodes over 64-bit integers, so one expression printer per
target serves bounds, conditions, subscripts and bodies.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from polyviz.model.expression import Binary, Call, Constant, Expression, Unary

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

LOOP_PREFIX = "~"
"""Variables of scanned loops are called ``~0``, ``~1``, … from outermost inwards; ``naming`` finds better ones."""


@dataclass(frozen=True, slots=True)
class LoopNode:
    """Base of the loop IR."""


@dataclass(frozen=True, slots=True)
class Block(LoopNode):
    """Nodes that run one after the other.

    ``declares`` names the temporaries that live for this block only. ``team`` names the mark of nodes that all threads
    run together, dividing the parallel loops inside; it is empty where one thread is meant.
    """

    children: tuple[LoopNode, ...]
    declares: tuple[str, ...] = ()
    team: str = ""


@dataclass(frozen=True, slots=True)
class Parts:
    """The variables of a loop over tiles that goes through ``count`` parts of about equal size: the ``number`` of the
    one whose turn it is, and where that has its ``end``. All parts but the last are multiples of ``unit``."""

    count: str
    number: str
    end: str
    unit: int


@dataclass(frozen=True, slots=True)
class For(LoopNode):
    """``for iterator in range(start, stop, step)``; ``step`` is a positive number.

    ``parallel`` names the mark that lets iterations run on different threads, empty for a serial loop. ``vector``:
    iterations may run in one vector instruction. ``width`` names a variable that holds the step where it is known only
    when the loop runs; ``step`` is what it would be otherwise. ``unroll``: how many iterations to write in a row, 1 for
    no more than one. ``reduced`` names the mark that lets threads share the loop when each adds into copies of its own.
    ``interleave``: how many iterations the compiler should run side by side, 1 for no more than one; of a vector loop,
    in one instruction. ``jam``: how many may run together inside the vector loop in the body, 1 for no more than one.
    ``pipeline`` names the mark of a loop over rows of tiles that threads take in turn; ``waits``: each iteration, a
    tile, waits until the row before has passed it. ``unroll_jam``: how many iterations may run together inside the
    vector loop in the body although they are not parallel, each column doing them in order; 1 for no more than one.
    ``collapsed``: threads share its iterations together with those of the parallel loop right around it. ``parts``: it
    goes through so many parts of equal size, none longer than ``step``, which are counted when it runs; None for tiles
    of ``step``. ``held``: cells of several iterations may stay in registers through the loops of a sum inside, along
    ``columns`` of memory or in ``rows`` around these; empty for none.
    """

    iterator: str
    start: Expression
    stop: Expression
    step: int
    body: LoopNode
    parallel: str = ""
    vector: bool = False
    unroll: int = 1
    reduced: str = ""
    interleave: int = 1
    jam: int = 1
    pipeline: str = ""
    waits: bool = False
    unroll_jam: int = 1
    collapsed: bool = False
    held: Literal["", "rows", "columns"] = ""
    width: str = ""
    parts: Parts | None = None


@dataclass(frozen=True, slots=True)
class If(LoopNode):
    """A guard left over from the iteration domains."""

    condition: Expression
    then: LoopNode
    otherwise: LoopNode | None = None


@dataclass(frozen=True, slots=True)
class Instance(LoopNode):
    """One statement instance; ``arguments`` are the values of the statement's iterators."""

    statement: str
    arguments: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class TileBody(LoopNode):
    """What runs inside one tile, before full and partial tiles are told apart (``polyviz.codegen.full_tiles``).

    ``mark`` names the tiled band, ``around`` the variables of all loops around the body, outermost first; there are
    none where they hold other values than the schedule gives.
    """

    mark: str
    around: tuple[str, ...]
    body: LoopNode


def rewrite(node: LoopNode, change: Callable[[LoopNode], LoopNode]) -> LoopNode:
    """``node`` with ``change`` applied bottom-up to every node."""
    match node:
        case Block(nodes):
            node = replace(node, children=tuple(rewrite(child, change) for child in nodes))
        case For() | TileBody():
            node = replace(node, body=rewrite(node.body, change))
        case If(_, then, otherwise):
            node = replace(
                node,
                then=rewrite(then, change),
                otherwise=None if otherwise is None else rewrite(otherwise, change),
            )
    return change(node)


def children_of(node: LoopNode) -> tuple[LoopNode, ...]:
    """The nodes right below ``node``, in execution order."""
    match node:
        case Block(nodes):
            return nodes
        case For() | TileBody():
            return (node.body,)
        case If(_, then, otherwise):
            return (then,) if otherwise is None else (then, otherwise)
    return ()


def descendants(node: LoopNode) -> Iterator[LoopNode]:
    """``node`` and everything below it, parents first, in execution order."""
    yield node
    for child in children_of(node):
        yield from descendants(child)


def instances(node: LoopNode) -> Iterator[Instance]:
    """The statement instances below ``node`` in execution order."""
    return (item for item in descendants(node) if isinstance(item, Instance))


def is_whole(loop: For, count: int) -> bool:
    """Whether the iterations of ``loop`` are known to come in groups of ``count``.

    >>> from polyviz.model.expression import Name
    >>> is_whole(For("i", Name("b"), Binary("+", Name("b"), Constant(8)), 1, Block(())), 4)
    True
    """
    match loop.stop:
        case Binary("+", start, Constant(int(length))):
            return loop.step == 1 and start == loop.start and length % count == 0
    return False


def plus_one(bound: Expression) -> Expression:
    """``bound + 1`` in the shape a person would write: ``n - 1`` becomes ``n``, minima are entered.

    >>> from polyviz.model.expression import Name
    >>> plus_one(Binary("-", Name("n"), Constant(1)))
    Name(name='n')
    """
    match bound:
        case Constant(int(value)):
            return Constant(value + 1)
        case Binary("-", left, Constant(int(value))):
            return left if value == 1 else Binary("-", left, Constant(value - 1))
        case Binary("+", left, Constant(int(value))):
            return Binary("+", left, Constant(value + 1))
        case Unary("-", operand):
            return Binary("-", Constant(1), operand)
        case Call("min" | "max" as name, arguments):
            return Call(name, tuple(plus_one(argument) for argument in arguments))
    return Binary("+", bound, Constant(1))
