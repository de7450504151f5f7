"""From a schedule tree to the loop IR: isl scans the polyhedra, this module reads its syntax tree."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import islpy as isl

from polyviz.codegen.grouping import group_copies, group_fronts, join_pipelines
from polyviz.codegen.loop_times import LoopTimes, watch_times
from polyviz.codegen.loops import LOOP_PREFIX, Block, For, If, Instance, LoopNode, TileBody, plus_one
from polyviz.errors import CodegenError
from polyviz.model.expression import (
    Binary,
    Call,
    Compare,
    Conditional,
    Constant,
    Expression,
    Logical,
    Name,
    Unary,
)
from polyviz.model.isl_callbacks import interrupts_afterwards
from polyviz.model.isl_limits import LimitError, at_most, step_by_step
from polyviz.model.plan import (
    COLLAPSED,
    END,
    HELD_COLUMNS,
    HELD_ROWS,
    INTERLEAVE,
    JAM,
    LOCAL,
    PARALLEL,
    PIPELINE,
    POINTS,
    REDUCED,
    TEAM,
    UNROLL,
    UNROLL_JAM,
    VECTOR,
    WAITING,
)
from polyviz.transform.tree import bands

_BINARY = {
    "add": "+",
    "sub": "-",
    "mul": "*",
    "div": "//",
    "fdiv_q": "//",
    "pdiv_q": "//",
    "pdiv_r": "%",
    "zdiv_r": "%",
}
_COMPARE = {
    "eq": "==",
    "le": "<=",
    "lt": "<",
    "ge": ">=",
    "gt": ">",
}
_LOGICAL = {
    "and_": "and",
    "and_then": "and",
    "or_": "or",
    "or_else": "or",
}
_CONDITIONAL = ("cond", "select")
_OPERATIONS = 2_000_000
"""What isl may spend on one program: PolyBench needs a third of it at most, a wave in three dimensions whose arrays
change places nearly all of it; some skewed tiles would never end. A million takes about a second, hardly ever many."""
_LAST_OPERATIONS = 5_000_000
"""The same where no simpler order is left to fall back on."""


class EndlessLoopsError(CodegenError):
    """isl would need too long to write the loops of a schedule."""


def scan_schedule(tree: isl.Schedule, context: isl.Set, *, whole_fronts: bool = False) -> LoopNode:
    """The loops that visit every instance of ``tree`` in its order.

    With ``whole_fronts`` tiles that several statements share are written once, not once for each part of their fronts.
    The code is valid for parameter values in ``context``. Raises ``CodegenError`` when isl cannot generate code, and
    ``EndlessLoopsError`` when it needs too long.
    """
    try:
        known = in_order_of(tree.get_domain(), context)
        plain = isl.AstBuild.from_context(known).set_iterators(_loop_identifiers(tree))
        together = join_pipelines(group_copies(tree))
        grouped = group_fronts(together) if whole_fronts else together

        def generate() -> tuple[isl.AstNode, LoopTimes]:
            build, watched = watch_times(plain)
            # What watches the loops is called in the middle of isl's work.
            with interrupts_afterwards():
                return build.node_from_schedule(grouped), watched

        loops, watched = step_by_step(generate, _OPERATIONS)
        return _node(loops, _Place(shifted=watched.shifted(grouped)))
    except isl.Error as error:
        raise _failure(error) from error


def _failure(error: isl.Error) -> CodegenError:
    limit = isinstance(error, LimitError)
    return (EndlessLoopsError if limit else CodegenError)(
        "isl could not generate loops for this schedule.",
        reason="It needs more steps than it may take." if limit else str(error),
        hint="Try it without tiles (`tile=False`) or with another schedule.",
    )


def scan_order(
    order: isl.UnionMap, context: isl.Set, uniform: int = 0, *, is_last: bool = False
) -> LoopNode:
    """The loops that visit the instances in the domain of ``order`` by its values, valid for parameters in ``context``.

    Each of the first ``uniform`` values makes one loop for all instances, never several with fewer of them.
    isl gets more time where ``is_last`` tells that there is no simpler order.
    Raises as :func:`scan_schedule`.
    """
    maps = order.get_map_list()
    depth = max((maps.get_at(place).dim(isl.dim_type.out) for place in range(maps.n_map())), default=0)
    values = ", ".join(f"v{place}" for place in range(depth))
    options = isl.UnionMap(f"{{ [{values}] -> atomic[x] : 0 <= x < {uniform} }}")
    try:
        known = in_order_of(order, context)
        build = isl.AstBuild.from_context(known).set_options(options).set_iterators(_identifiers(depth))
        with at_most(_LAST_OPERATIONS if is_last else _OPERATIONS):
            return _node(build.node_from_schedule_map(order), _Place())
    except isl.Error as error:
        raise _failure(error) from error


def in_order_of(scanned: isl.Set | isl.UnionSet | isl.UnionMap, context: isl.Set) -> isl.Set:
    """``context`` with the parameters in the order of ``scanned``, its own behind.

    Where the orders differ, isl takes one parameter for another in conditions on the offset of a stride.
    """
    return context.align_params(scanned.get_space())


def _loop_identifiers(tree: isl.Schedule) -> isl.IdList:
    """Names for isl's loop variables that no name of the source can equal; isl itself would take ``c0``, ``c1``."""
    return _identifiers(
        max((band.get_schedule_depth() + band.band_n_member() for _, band in bands(tree)), default=0)
    )


def _identifiers(depth: int) -> isl.IdList:
    identifiers = isl.IdList.alloc(isl.DEFAULT_CONTEXT, depth)
    for position in range(depth):
        identifiers = identifiers.add(isl.Id(f"{LOOP_PREFIX}{position}"))
    return identifiers


def condition_of_set(instances: isl.Set, context: isl.Set) -> Expression:
    """A condition over iterator and parameter names that holds exactly on ``instances``; dimensions must be named.

    >>> domain = isl.Set("[n] -> { S[i] : 0 <= i < n }")
    >>> condition_of_set(isl.Set("[n] -> { S[i] : i = 0 }"), domain.params())
    Compare(operators=('==',), operands=(Name(name='i'), Constant(value=0)))
    """
    count = instances.dim(isl.dim_type.set)
    names = [instances.get_dim_name(isl.dim_type.set, position) or "" for position in range(count)]
    parameters = instances.dim(isl.dim_type.param)
    moved = instances.reset_tuple_id().move_dims(isl.dim_type.param, parameters, isl.dim_type.set, 0, count)
    for position, name in enumerate(names):
        moved = moved.set_dim_name(isl.dim_type.param, parameters + position, name)
    known = in_order_of(moved.params(), context)
    return expression(isl.AstBuild.from_context(known).expr_from_set(moved.params()))


def expression(node: isl.AstExpr) -> Expression:
    """An isl integer expression as ours; isl's several divisions all become Python's ``//`` and ``%``.

    They agree wherever isl emits them: ``pdiv`` has a non-negative dividend, ``div`` divides exactly and ``zdiv_r``
    is only compared with zero.
    """
    kind = _kind(node.get_type())
    if kind == "id":
        return Name(node.get_id().get_name())
    if kind == "int":
        return Constant(node.get_val().to_python())
    return _operation(node)


def _kind(value: Any) -> str:
    """The name of one of isl's enumeration values; the stubs of islpy call them integers."""
    return str(value.name)


def _operation(node: isl.AstExpr) -> Expression:
    operator = _kind(node.get_op_type())
    operands = tuple(expression(node.get_op_arg(position)) for position in range(node.get_op_n_arg()))
    if operator == "add":
        return _sum(*operands)
    if operator in _BINARY:
        return Binary(_BINARY[operator], *operands)
    if operator in _COMPARE:
        return Compare((_COMPARE[operator],), operands)
    if operator in _LOGICAL:
        return _logical(_LOGICAL[operator], operands)
    if operator in _CONDITIONAL:
        return Conditional(*operands)
    if operator == "minus":
        return _negated(operands[0])
    if operator in ("min", "max"):
        return Call("min" if operator == "min" else "max", operands)
    raise CodegenError(f"isl produced an operation this generator does not know: {node.to_C_str()}")


def _sum(left: Expression, right: Expression) -> Expression:
    """``left + right`` with a negative term after a positive one: ``i - 2*t`` instead of ``-2*t + i``."""
    if _is_negative(right):
        return Binary("-", left, _negated(right))
    if _is_negative(left):
        return Binary("-", right, _negated(left))
    return Binary("+", left, right)


def _is_negative(term: Expression) -> bool:
    match term:
        case Constant(value) | Binary("*", Constant(value), _):
            return isinstance(value, int) and value < 0
        case Unary("-", _):
            return True
    return False


def _logical(operator: str, operands: tuple[Expression, ...]) -> Expression:
    """One flat chain instead of isl's nested pairs."""
    flat: list[Expression] = []
    for operand in operands:
        if isinstance(operand, Logical) and operand.operator == operator:
            flat.extend(operand.operands)
        else:
            flat.append(operand)
    return Logical(operator, tuple(flat))


def _negated(operand: Expression) -> Expression:
    match operand:
        case Constant(value):
            return Constant(-value)
        case Unary("-", inner):
            return inner
        case Binary("*", Constant(factor), inner):
            return inner if factor == -1 else Binary("*", Constant(-factor), inner)
    return Unary("-", operand)


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a node stands: the loops around it, and the marks directly above it."""

    around: tuple[str, ...] = ()
    marks: frozenset[str] = frozenset()
    shifted: frozenset[str] = frozenset()
    """Marks of bands around which loops hold other values than the schedule gives."""


def _node(node: isl.AstNode, place: _Place) -> LoopNode:
    kind = _kind(node.get_type())
    if kind == "block":
        children = node.block_get_children()
        return Block(
            tuple(_node(children.get_at(position), place) for position in range(children.n_ast_node()))
        )
    if kind == "for_":
        return _for(node, place)
    if kind == "if_":
        otherwise = _node(node.if_get_else_node(), place) if node.if_has_else_node() else None
        return If(expression(node.if_get_cond()), _node(node.if_get_then_node(), place), otherwise)
    if kind == "mark":
        return _mark(node, place)
    return _user(node)


def _mark(node: isl.AstNode, place: _Place) -> LoopNode:
    name = node.mark_get_id().get_name()
    kind, _, ending = name.partition(":")
    if kind == LOCAL:
        return Block((_node(node.mark_get_node(), place),), tuple(ending.split(",")))
    if kind == TEAM:
        return Block((_node(node.mark_get_node(), place),), team=name)
    if kind == POINTS:
        around = () if name in place.shifted else place.around
        return TileBody(name, around, _node(node.mark_get_node(), place))
    marks = frozenset() if kind == END else place.marks | {name}
    return _node(node.mark_get_node(), replace(place, marks=marks))


def _for(node: isl.AstNode, place: _Place) -> LoopNode:
    iterator = expression(node.for_get_iterator())
    assert isinstance(iterator, Name)
    start = expression(node.for_get_init())
    body = _node(node.for_get_body(), _Place((*place.around, iterator.name), shifted=place.shifted))
    if node.for_is_degenerate():
        stop, step = plus_one(start), 1
    else:
        stop, step = _stop(node), int(node.for_get_inc().get_val().to_python())
    parallel, reduced, pipeline = (_named(place.marks, kind) for kind in (PARALLEL, REDUCED, PIPELINE))
    copies, chains, jam, jammed = (_count(place.marks, kind) for kind in (UNROLL, INTERLEAVE, JAM, UNROLL_JAM))
    vector = VECTOR in place.marks
    waits, collapsed = WAITING in place.marks, COLLAPSED in place.marks
    return For(
        iterator.name,
        start,
        stop,
        step,
        body,
        parallel,
        vector,
        copies,
        reduced,
        chains,
        jam,
        pipeline,
        waits,
        jammed,
        collapsed,
        "rows" if HELD_ROWS in place.marks else "columns" if HELD_COLUMNS in place.marks else "",
    )


def _named(marks: frozenset[str], kind: str) -> str:
    """The mark of this kind with its ending; empty where there is none."""
    return next((mark for mark in marks if mark.partition(":")[0] == kind), "")


def _count(marks: frozenset[str], kind: str) -> int:
    """The number behind a mark of this kind; 1 where there is none."""
    return next((int(mark.partition(":")[2]) for mark in marks if mark.partition(":")[0] == kind), 1)


def _stop(node: isl.AstNode) -> Expression:
    condition = node.for_get_cond()
    bound = expression(condition.get_op_arg(1))
    if _kind(condition.get_op_type()) == "lt":
        return bound
    return plus_one(bound)


def _user(node: isl.AstNode) -> LoopNode:
    call = node.user_get_expr()
    name = expression(call.get_op_arg(0))
    assert isinstance(name, Name)
    arguments = tuple(expression(call.get_op_arg(position)) for position in range(1, call.get_op_n_arg()))
    return Instance(name.name, arguments)
