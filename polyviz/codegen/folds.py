"""What an innermost loop folds into cells that stay where they are: the updates, and the values they take from
temporaries of the same iteration."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from polyviz.codegen.bodies import placed_body
from polyviz.codegen.calling import is_checked
from polyviz.codegen.choices_c import between_choices
from polyviz.codegen.loops import Block, Instance
from polyviz.codegen.wraps import replaced
from polyviz.model.expression import Assign, Binary, Call, Conditional, Element, Expression, Name, Unary, walk

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from polyviz.codegen.arrays_c import ArrayPrinter
    from polyviz.codegen.loops import For, LoopNode
    from polyviz.model.expression import Instruction, Node
    from polyviz.model.plan import Accumulation
    from polyviz.model.scop import Scop, Statement

LIGHT_OPERATORS = ("+", "-", "*")
LIGHT_FUNCTIONS = ("abs", "min", "max")


@dataclass(frozen=True, slots=True)
class Update:
    """One instance in a loop: ``assign`` folds a value into a cell as ``accumulation`` says."""

    statement: Statement
    assign: Assign
    accumulation: Accumulation


@dataclass(frozen=True, slots=True)
class Value:
    """One instance in a loop that gives a temporary of the iteration, ``assign``'s target, its only value there."""

    statement: Statement
    assign: Assign


@dataclass(frozen=True, slots=True)
class Fold:
    """A loop that does nothing but ``updates``, each of a cell that stays where it is and that is only updated, from
    ``values`` perhaps, whose temporaries ``blocks`` declare: they are those of one iteration."""

    loop: For
    updates: tuple[Update, ...]
    values: tuple[Value, ...] = ()
    blocks: tuple[Block, ...] = ()

    @property
    def assigned(self) -> list[Assign]:
        """All that happens in one iteration."""
        return [value.assign for value in self.values] + [update.assign for update in self.updates]

    @property
    def is_light(self) -> bool:
        """Whether it takes less time than an addition that waits for the one before."""
        parts = [part for assign in self.assigned for part in walk(assign.value)]
        operators = [part.operator for part in parts if isinstance(part, Binary)]
        functions = [part.function for part in parts if isinstance(part, Call)]
        return all(one in LIGHT_OPERATORS for one in operators) and all(one in LIGHT_FUNCTIONS for one in functions)


def instances_only(node: LoopNode, *, declares: bool = False) -> list[Instance]:
    """The instances that are all of ``node``; none where there is something else in it. ``declares``: blocks may
    declare temporaries."""
    if isinstance(node, Instance):
        return [node]
    if not isinstance(node, Block) or (node.declares and not declares) or node.team:
        return []
    inside = [instances_only(child, declares=declares) for child in node.children]
    return [instance for found in inside for instance in found] if all(inside) else []


def are_apart(updates: Sequence[Update], values: Sequence[Value] = ()) -> bool:
    """Whether no update, and none of the ``values``, touches an array that another update accumulates into, but for the
    cell of further steps into it: whoever else reads that cell would miss what is still in the register."""
    for update in updates:
        target = update.assign.target
        others: tuple[Update | Value, ...] = (*updates, *values)
        for other in others:
            is_step = other.assign.target == target
            allowed = target if is_step else None
            parts = () if other is update else walk(other.assign)
            if any(isinstance(part, Element) and part.array == target.array and part != allowed for part in parts):
                return False
    return True


def may_always_run(fold: Fold, arrays: ArrayPrinter) -> bool:
    """Whether ``fold`` may be worked out in any iteration, whatever is chosen there: lanes do not branch."""
    for update in fold.updates:
        arrays.enter(update.statement)
        if not (update.statement.is_certain or all(map(arrays.is_free, between_choices(update.assign.value)))):
            return False
    return True


def is_tested(fold: Fold, scop: Scop, arrays: ArrayPrinter) -> bool:
    """Whether the values that ``fold`` adds up stand at subscripts that only tests as they come can tell of."""
    asked = arrays.untested or arrays.in_range is not None
    return not asked and any(
        isinstance(node, Element) and is_checked(scop, node, update.statement)
        for update in fold.updates
        for node in walk(update.assign.value)
    )


def in_one_order(fold: Fold) -> bool:
    """Whether no sum or product in an iteration of ``fold`` has three parts, which could be taken in another order."""
    known: dict[Expression, Expression] = {}
    for value in fold.values:
        known[value.assign.target] = _replaced(value.assign.value, known)
    for update in fold.updates:
        assign = update.assign
        whole = Binary(assign.operator, assign.target, assign.value) if assign.operator else assign.value
        if any(_has_three_parts(node) for node in walk(_replaced(whole, known))):
            return False
    return True


def _replaced(value: Expression, known: Mapping[Expression, Expression]) -> Expression:
    found = replaced(value, known)
    assert isinstance(found, Expression)
    return found


def _has_three_parts(node: Node) -> bool:
    if not isinstance(node, Binary):
        return False
    kind = {"+": "+-", "-": "+-", "*": "*"}.get(node.operator, "")
    parts = (part.operand if isinstance(part, Unary) else part for part in (node.left, node.right))
    return any(isinstance(part, Binary) and part.operator in kind for part in parts)


def mentions(target: Element, iterator: str) -> bool:
    """Whether the place of ``target`` depends on ``iterator``."""
    return any(isinstance(part, Name) and part.name == iterator for part in walk(target))


def may_join(fold: Fold) -> bool:
    """Whether the results of the lanes may be joined: all updates of one cell do the same with it."""
    does: dict[Element, tuple[str, str]] = {}
    for update in fold.updates:
        value = update.assign.value
        call = value.function if isinstance(value, Call) and update.accumulation.operator in ("min", "max") else ""
        own = (update.accumulation.operator, call)
        if does.setdefault(update.assign.target, own) != own:
            return False
    return True


def one_each(fold: Fold) -> bool:
    """Whether no two updates are of one cell."""
    return len({update.assign.target for update in fold.updates}) == len(fold.updates)


def values_of(
    scop: Scop, instances: Sequence[Instance], names: Sequence[str], bodies: Mapping[str, Sequence[Instruction]]
) -> tuple[Value, ...] | None:
    """What ``instances`` give to the temporaries ``names``, one each; None where anything else happens in them."""
    found: list[Value] = []
    for instance in instances:
        statement = scop.statement(instance.statement)
        body = placed_body(statement, bodies[instance.statement], instance.arguments)
        if len(body) != 1 or not isinstance(body[0], Assign) or body[0].operator:
            return None
        target = body[0].target
        if target.subscripts or target.array not in names or any(target == one.assign.target for one in found):
            return None
        found.append(Value(statement, body[0]))
    return tuple(found)


def is_choice(node: Node) -> bool:
    """Whether ``node`` is one of several values."""
    return isinstance(node, Conditional) or (isinstance(node, Call) and node.function in ("min", "max"))


def jumps(updates: Sequence[Update]) -> bool:
    """Whether what is added up lies far apart, so that it is loaded singly."""
    return any(update.accumulation.stride == "strided" for update in updates)
