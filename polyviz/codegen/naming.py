"""Loop variables get the names a person would give them: the source iterator they carry, ``i_tile`` for its tiles."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace

from polyviz.codegen.loops import Block, For, If, Instance, LoopNode, descendants, instances
from polyviz.model.expression import Expression, Name, substitute, walk

Renaming = dict[str, Expression]


def name_loops(node: LoopNode, iterators: Mapping[str, tuple[str, ...]], reserved: frozenset[str]) -> LoopNode:
    """``node`` with every loop variable renamed; ``iterators`` are those of each statement.

    A loop whose variable is one of a statement's iterators takes that name; a loop that only starts such a loop
    (a tile loop) takes ``NAME_tile``; others keep isl's name. No name in ``reserved`` and no name of an enclosing
    loop is taken twice.
    """
    return _rename(node, {}, iterators, reserved)


def inline_single_iterations(node: LoopNode) -> LoopNode:
    """Loops that run exactly once by construction disappear; their variable becomes its value."""
    match node:
        case For(iterator, start, stop, _, body) if _is_next(start, stop):
            return inline_single_iterations(_substituted(body, {iterator: start}))
        case For():
            return replace(node, body=inline_single_iterations(node.body))
        case Block(children):
            return replace(node, children=tuple(inline_single_iterations(child) for child in children))
        case If(_, then, otherwise):
            other = None if otherwise is None else inline_single_iterations(otherwise)
            return replace(node, then=inline_single_iterations(then), otherwise=other)
    return node


def _is_next(start: Expression, stop: Expression) -> bool:
    from polyviz.codegen.scan import plus_one

    return stop == plus_one(start)


def _rename(
    node: LoopNode, names: Renaming, iterators: Mapping[str, tuple[str, ...]], reserved: frozenset[str]
) -> LoopNode:
    match node:
        case Block(children):
            return replace(node, children=tuple(_rename(child, names, iterators, reserved) for child in children))
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
    name = _unused(_preferred(node, iterators), reserved)
    inner = {**names, node.iterator: Name(name)}
    return replace(
        node,
        iterator=name,
        start=_renamed(node.start, names),
        stop=_renamed(node.stop, names),
        body=_rename(node.body, inner, iterators, reserved | {name}),
    )


def _preferred(node: For, iterators: Mapping[str, tuple[str, ...]]) -> str:
    direct = _most_common(_carried_names(node, iterators))
    if direct is not None:
        return direct
    started = [
        inner
        for inner in descendants(node.body)
        if isinstance(inner, For) and any(part == Name(node.iterator) for part in walk(inner.start))
    ]
    tiled = _most_common(name for inner in started for name in _carried_names(inner, iterators))
    return node.iterator if tiled is None else f"{tiled}_tile"


def _carried_names(node: For, iterators: Mapping[str, tuple[str, ...]]) -> Iterator[str]:
    for instance in instances(node.body):
        for name, argument in zip(iterators[instance.statement], instance.arguments, strict=True):
            if argument == Name(node.iterator):
                yield name


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


def _substituted(node: LoopNode, names: Renaming) -> LoopNode:
    match node:
        case Block(children):
            return replace(node, children=tuple(_substituted(child, names) for child in children))
        case If(condition, then, otherwise):
            other = None if otherwise is None else _substituted(otherwise, names)
            return If(_renamed(condition, names), _substituted(then, names), other)
        case Instance(statement, arguments):
            return Instance(statement, tuple(_renamed(argument, names) for argument in arguments))
        case For(_, start, stop, _, body):
            return replace(
                node, start=_renamed(start, names), stop=_renamed(stop, names), body=_substituted(body, names)
            )
    return node
