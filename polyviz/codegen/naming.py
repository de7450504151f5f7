"""Loop variables get the names a person would give them: the source iterator they carry, ``i_tile`` for its tiles."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from polyviz.codegen.loops import (
    LOOP_PREFIX,
    Block,
    For,
    If,
    Instance,
    LoopNode,
    descendants,
    instances,
    plus_one,
)
from polyviz.model.expression import Call, Expression, Name, Unary, substitute, walk
from polyviz.model.linear import linear_terms

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

Renaming = dict[str, Expression]


def name_loops(
    node: LoopNode, iterators: Mapping[str, tuple[str, ...]], reserved: frozenset[str]
) -> LoopNode:
    """``node`` with every loop variable renamed; ``iterators`` are those of each statement.

    A loop whose variable is one of a statement's iterators takes that name; others are named for what they do (see
    ``_preferred``). No name in ``reserved`` and no name of an enclosing
    loop is taken twice.
    """
    return _rename(node, {}, iterators, reserved)


def inline_single_iterations(node: LoopNode) -> LoopNode:
    """Loops that run exactly once by construction disappear; their variable becomes its value.

    A tile that waits for others stays, since its place is needed for that.
    """
    match node:
        case For(iterator, start, stop, _, body, waits=False) if _is_next(start, stop):
            return inline_single_iterations(substituted(body, {iterator: start}))
        case For():
            return replace(node, body=inline_single_iterations(node.body))
        case Block(children):
            return replace(node, children=tuple(inline_single_iterations(child) for child in children))
        case If(_, then, otherwise):
            other = None if otherwise is None else inline_single_iterations(otherwise)
            return replace(node, then=inline_single_iterations(then), otherwise=other)
    return node


def _is_next(start: Expression, stop: Expression) -> bool:
    return stop == plus_one(start)


def _rename(
    node: LoopNode, names: Renaming, iterators: Mapping[str, tuple[str, ...]], reserved: frozenset[str]
) -> LoopNode:
    match node:
        case Block(children):
            return replace(
                node, children=tuple(_rename(child, names, iterators, reserved) for child in children)
            )
        case If(condition, then, otherwise):
            other = None if otherwise is None else _rename(otherwise, names, iterators, reserved)
            return If(_renamed(condition, names), _rename(then, names, iterators, reserved), other)
        case Instance(statement, arguments):
            return Instance(statement, tuple(_renamed(argument, names) for argument in arguments))
        case For():
            return _rename_loop(node, names, iterators, reserved)
    return node


def _rename_loop(
    node: For, names: Renaming, iterators: Mapping[str, tuple[str, ...]], reserved: frozenset[str]
) -> For:
    carried = {name for statement in iterators.values() for name in statement}
    points = frozenset(old for old, new in names.items() if isinstance(new, Name) and new.name in carried)
    name = _unused(_preferred(node, iterators, points), reserved)
    inner = {**names, node.iterator: Name(name)}
    return replace(
        node,
        iterator=name,
        start=_renamed(node.start, names),
        stop=_renamed(node.stop, names),
        body=_rename(node.body, inner, iterators, reserved | {name}),
    )


def _preferred(node: For, iterators: Mapping[str, tuple[str, ...]], points: frozenset[str]) -> str:
    """The source iterator the loop carries, ``i_tile`` for tiles of it, ``wave`` for a diagonal that inner loops cross.

    ``points`` are the loops around it that carry a source iterator.
    """
    carried = _carried_name(node, iterators)
    if carried is not None:
        return carried
    tiled = _tiled_name(node, iterators, points)
    if tiled is not None:
        return f"{tiled}_tile"
    if _is_diagonal(node, iterators) or any(node.iterator in _loop_names(inner.start) for inner in _loops_in(node)):
        return "wave"
    return f"c{node.iterator.removeprefix(LOOP_PREFIX)}"


def _tiled_name(node: For, iterators: Mapping[str, tuple[str, ...]], points: frozenset[str]) -> str | None:
    """The source iterator that the loop carries several values of at a time, or None."""
    # A loop over points may start at a tile less the steps of another point loop: only the tile gives it its name.
    points |= {inner.iterator for inner in _loops_in(node) if _carried_name(inner, iterators) is not None}
    several = [inner for inner in _loops_in(node) if _is_multiple(inner.start, node.iterator, points)]
    own = [
        inner
        for inner in _loops_in(node)
        if _loop_names(inner.start) - points == {node.iterator} and node.step * _factor(inner.start, node.iterator) > 1
    ]
    carried = [_carried_name(inner, iterators) for inner in (*own, *several)]
    name = _most_common(name for name in carried if name is not None)
    if name is not None:
        return name
    inside = (
        "wave" if _is_diagonal(inner, iterators) else _tiled_name(inner, iterators, points) for inner in several
    )
    return _most_common(name for name in inside if name is not None)


def _is_diagonal(node: For, iterators: Mapping[str, tuple[str, ...]]) -> bool:
    """Whether the loop, which carries no source iterator, enters the value of one together with a loop inside it."""
    return any(node.iterator in _loop_names(argument) for _, argument in _arguments(node, iterators))


def _is_multiple(start: Expression, iterator: str, points: frozenset[str]) -> bool:
    """Whether a loop starts at a multiple of ``iterator``, less the steps of ``points``, where nothing cuts it off."""
    if isinstance(start, Call) and start.function == "max":
        return any(_is_multiple(argument, iterator, points) for argument in start.arguments)
    terms = linear_terms(start) or {}
    return terms.get(iterator, 1) > 1 and not terms.keys() - {iterator, ""} - points


def _factor(start: Expression, iterator: str) -> int:
    """How far ``start`` moves with each step of ``iterator``: by 1 along a diagonal, by its size from tile to tile."""
    if isinstance(start, Call) and start.function in ("max", "min"):
        return max((_factor(argument, iterator) for argument in start.arguments), default=0)
    terms = linear_terms(start)
    # What is not linear was rounded to a multiple.
    return int(iterator in _loop_names(start)) * 2 if terms is None else terms.get(iterator, 0)


def _loops_in(node: For) -> list[For]:
    return [inner for inner in descendants(node.body) if isinstance(inner, For)]


def _carried_name(node: For, iterators: Mapping[str, tuple[str, ...]]) -> str | None:
    """``i`` for the iterator itself, ``i_reversed`` for its negative, ``i_skew`` where outer loops are added to it,
    ``i_tile`` where it is several iterations further each time.
    """
    direct = _most_common(
        name for name, argument in _arguments(node, iterators) if argument == Name(node.iterator)
    )
    if direct is not None:
        return direct
    inner = {loop.iterator for loop in descendants(node.body) if isinstance(loop, For)}
    mixed = [
        (name, argument)
        for name, argument in _arguments(node, iterators)
        if node.iterator in _loop_names(argument) and not _loop_names(argument) & inner
    ]
    if not mixed:
        return None
    return f"{_most_common(name for name, _ in mixed)}_{_manner(node.iterator, [argument for _, argument in mixed])}"


def _manner(iterator: str, arguments: list[Expression]) -> str:
    """How the variable of a loop enters the values of a source iterator."""
    if all(argument == Unary("-", Name(iterator)) for argument in arguments):
        return "reversed"
    factors = [(linear_terms(argument) or {}).get(iterator, 1) for argument in arguments]
    return "tile" if all(factor > 1 for factor in factors) else "skew"


def _arguments(node: For, iterators: Mapping[str, tuple[str, ...]]) -> Iterator[tuple[str, Expression]]:
    """The iterators of the statements under ``node`` with their values there."""
    for instance in instances(node.body):
        yield from zip(iterators[instance.statement], instance.arguments, strict=True)


def _loop_names(expression: Expression) -> set[str]:
    """The variables of scanned loops that occur in ``expression``."""
    names = (part.name for part in walk(expression) if isinstance(part, Name))
    return {name for name in names if name.startswith(LOOP_PREFIX)}


def _most_common(names: Iterator[str]) -> str | None:
    counts = Counter(names)
    return counts.most_common(1)[0][0] if counts else None


def _unused(name: str, reserved: frozenset[str]) -> str:
    if name not in reserved:
        return name
    number = 2
    while f"{name}_{number}" in reserved:
        number += 1
    return f"{name}_{number}"


def _renamed(expression: Expression, names: Renaming) -> Expression:
    result = substitute(expression, names)
    assert isinstance(result, Expression)
    return result


def substituted(node: LoopNode, names: Renaming) -> LoopNode:
    """``node`` with the names of outer loops replaced by expressions."""
    match node:
        case Block(children):
            return replace(node, children=tuple(substituted(child, names) for child in children))
        case If(condition, then, otherwise):
            other = None if otherwise is None else substituted(otherwise, names)
            return If(_renamed(condition, names), substituted(then, names), other)
        case Instance(statement, arguments):
            return Instance(statement, tuple(_renamed(argument, names) for argument in arguments))
        case For(_, start, stop, _, body):
            return replace(
                node, start=_renamed(start, names), stop=_renamed(stop, names), body=substituted(body, names)
            )
    return node
