"""Sequences in a tree: where they are, their children, and orders of these."""

from __future__ import annotations

from typing import TYPE_CHECKING

from polyviz.errors import OptionError
from polyviz.transform.shape import Branches, shape_of, statements_in

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    import islpy as isl

    from polyviz.transform.shape import Shape
    from polyviz.transform.tree import Path


def branch_paths(tree: isl.Schedule, fits: Callable[[Branches], bool]) -> tuple[Path, ...]:
    """Every sequence of ``tree`` that ``fits``, in depth-first order.

    >>> import islpy as isl
    >>> text = '{ domain: "{ S[i]; T[] }", child: { sequence: [ { filter: "{ T[] }" }, { filter: "{ S[i] }" } ] } }'
    >>> branch_paths(isl.Schedule(text), lambda branches: True)
    ((0,),)
    """
    return tuple(
        path for path, node in _walk(shape_of(tree), (0,)) if isinstance(node, Branches) and fits(node)
    )


def _walk(shape: Shape, path: Path) -> Iterator[tuple[Path, Shape]]:
    yield path, shape
    for position, child in enumerate(shape.children):
        yield from _walk(child, (*path, position))


def checked_parts(branches: Branches, places: Sequence[int], least: int) -> tuple[int, ...]:
    """``places``, at least ``least`` different children of ``branches``; raises ``OptionError`` for others."""
    count = len(branches.parts)
    if len(places) < least or len(set(places)) < len(places) or not set(places) <= set(range(count)):
        raise OptionError(
            f"{tuple(places)} does not name {least} or more of the {count} children of a sequence."
        )
    return tuple(places)


def union(sets: Iterable[isl.UnionSet]) -> isl.UnionSet:
    """The union of at least one set."""
    first, *others = sets
    for other in others:
        first = first.union(other)
    return first


def child_with(branches: Branches, statement: str) -> int:
    """The position of the child that runs ``statement``; raises ``OptionError`` when none does."""
    for place, part in enumerate(branches.parts):
        if statement in statements_in(part.instances):
            return place
    known = ", ".join(name for part in branches.parts for name in statements_in(part.instances))
    raise OptionError(f"{statement} is not in this sequence, which runs {known}.")
