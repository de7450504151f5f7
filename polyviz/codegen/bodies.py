"""Statement bodies as a plan wants them: private copies instead of shared temporaries, last values handed over."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache, reduce
from typing import TYPE_CHECKING, Any

import islpy as isl

from polyviz.codegen.index import simplify_subscripts
from polyviz.codegen.scan import condition_of_set, expression
from polyviz.model.expression import (
    Assign,
    Binary,
    Branch,
    Call,
    Constant,
    Element,
    Expression,
    Instruction,
    Loop,
    Name,
    Node,
    rebuild,
    substitute,
    walk,
)
from polyviz.model.unused_names import unused_name

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from polyviz.model.device import GridEnds
    from polyviz.model.plan import Expansion, Plan
    from polyviz.model.program import ArrayType
    from polyviz.model.scop import Scop, Statement


def private_name(scop: Scop, array: str) -> str:
    """The name of the private copy of ``array``: its own, unless the visible value needs that name."""
    if not scop.array(array).live_out:
        return array
    taken = {item.name for item in scop.arrays} | {item.name for item in scop.parameters}
    taken.update(inner_iterators(scop))
    return unused_name(f"{array}_private", taken.__contains__)


def inner_iterators(scop: Scop) -> list[str]:
    """The variables of loops inside whole statements."""
    return [
        node.iterator
        for statement in scop.statements
        for instruction in statement.body
        for node in walk(instruction)
        if isinstance(node, Loop)
    ]


def planned_body(scop: Scop, plan: Plan, statement: Statement) -> tuple[Instruction, ...]:
    """The body of ``statement`` with each private temporary replaced by its copy.

    Where the statement writes the value that stays visible, a guarded copy to the visible scalar follows.
    """
    place = private_copies(scop, plan, statement)
    if not plan.locals and not plan.expansions:
        return statement.body
    body = tuple(_instruction(place(instruction)) for instruction in statement.body)
    return body + _final_values(scop, plan, statement, place)


@lru_cache(maxsize=64)
def apart(plan: Plan, tree: isl.Schedule) -> Plan:
    """What computes final values before or behind the loops of ``plan`` in the order of ``tree``, as a plan."""
    nothing: dict[str, Any] = dict.fromkeys(_OF_LOOPS, ())
    return replace(plan, tree=tree, **nothing)


def reading_back(scop: Scop, plan: Plan) -> dict[str, tuple[Instruction, ...]]:
    """What statements that have stored a temporary do to read it back."""
    return {name: _turned(scop.statement(name)) for name in plan.read_back}


def _turned(statement: Statement) -> tuple[Instruction, ...]:
    (stored,) = statement.body
    assert isinstance(stored, Assign)
    assert isinstance(stored.value, Element)
    return (replace(stored, target=stored.value, value=stored.target),)


def fits(scop: Scop, plan: Plan, types: Mapping[str, ArrayType]) -> bool:
    """Whether what is read back has the type of the temporary that was stored."""
    copied = [part for name in plan.read_back for part in _turned(scop.statement(name))]
    pairs = [[one.array for one in walk(part) if isinstance(one, Element)] for part in copied]
    return all(types[temporary].dtype == types[array].dtype for temporary, array, *_ in pairs)


_OF_LOOPS = ("locals", "expansions", "final_values", "full_tiles", "register_tiles")
"""What a plan says of loops, and of temporaries with copies."""


def private_copies(scop: Scop, plan: Plan, statement: Statement) -> Callable[[Node], Node]:
    """What replaces each private temporary in a part of the body of ``statement`` by its copy."""
    expansions = {expansion.array: expansion for expansion in plan.expansions}
    private = set(plan.locals) | set(expansions)

    def place(node: Node) -> Node:
        if isinstance(node, Element) and node.array in private:
            return _copy_element(scop, statement, node, expansions.get(node.array))
        return rebuild(node, place)

    return place


def placed_body(
    statement: Statement, body: Sequence[Instruction], arguments: Sequence[Expression]
) -> list[Instruction]:
    """``body`` for one instance: iterators replaced by their values at this place of the loops.

    Where the values are the iterators themselves, the text stays as the user wrote it.
    """
    values = dict(zip(statement.iterators, arguments, strict=True))
    if all(value == Name(name) for name, value in values.items()):
        return list(body)
    return [_instruction(simplify_subscripts(substitute(instruction, values))) for instruction in body]


def _copy_element(scop: Scop, statement: Statement, element: Element, expansion: Expansion | None) -> Element:
    name = private_name(scop, element.array)
    if expansion is None:
        return replace(element, array=name)
    iterators = statement.iterators[expansion.shared : expansion.depth]
    if expansion.window:
        cell = Binary("&", Name(iterators[-1]), Constant(expansion.window - 1))
        return replace(element, array=name, subscripts=(cell,))
    subscripts = tuple(
        _shifted(Name(iterator), bound_expression(lower))
        for iterator, lower in zip(iterators, expansion.lower, strict=True)
    )
    return replace(element, array=name, subscripts=subscripts)


def _shifted(iterator: Expression, lower: Expression) -> Expression:
    return iterator if lower == Constant(0) else Binary("-", iterator, lower)


@lru_cache(maxsize=512)
def bound_expression(bound: isl.PwAff) -> Expression:
    """A piecewise affine function of the parameters as an expression, found once: many pieces take a while."""
    return expression(isl.AstBuild.from_context(bound.domain()).expr_from_pw_aff(bound))


def work_of(plan: Plan, mark: str) -> Expression | None:
    """How many statement instances the loop under ``mark`` has at most; None where nobody knows."""
    found = (work.extents for work in plan.work if work.mark == mark and work.extents)
    extents = next(found, None)
    return None if extents is None else box_size(extents)


def box_size(extents: Sequence[isl.PwAff]) -> Expression:
    """How many instances a box has; several lengths are multiplied as doubles, since whole numbers might overflow."""
    lengths = [bound_expression(extent) for extent in extents]
    if sum(not isinstance(length, Constant) for length in lengths) > 1:
        lengths = [Constant(1.0), *lengths]
    return reduce(lambda left, right: Binary("*", left, right), lengths)


def grid_ends(ends: GridEnds) -> tuple[Expression, Expression]:
    """The first and the last block along an axis, over sizes and host loops."""
    first, last = (tuple(dict.fromkeys(map(bound_expression, bounds))) for bounds in (ends.first, ends.last))
    return (
        first[0] if len(first) == 1 else Call("max", first),
        last[0] if len(last) == 1 else Call("min", last),
    )


def _final_values(
    scop: Scop, plan: Plan, statement: Statement, place: Callable[[Node], Node]
) -> tuple[Instruction, ...]:
    copies: list[Instruction] = []
    for final in plan.final_values:
        if final.statement != statement.name:
            continue
        condition = condition_of_set(_named(final.instances, statement), isl.Set.universe(scop.context.get_space()))
        value = place(Element(final.array))
        assert isinstance(value, Expression)
        copies.append(Branch(condition, (Assign(Element(final.array), value),)))
    return tuple(copies)


def _named(instances: isl.Set, statement: Statement) -> isl.Set:
    """Give the dimensions the iterators' names and drop what the domain already guarantees."""
    gist = instances.gist(statement.domain)
    for position, name in enumerate(statement.iterators):
        gist = gist.set_dim_name(isl.dim_type.set, position, name)
    return gist


def _instruction(node: Node) -> Instruction:
    assert isinstance(node, Instruction)
    return node
