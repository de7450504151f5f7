"""Perfect nests: bands directly inside one another, which moves on several loops need as one band."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from polyviz.errors import OptionError
from polyviz.transform.rows import loop_text
from polyviz.transform.shape import (
    Loops,
    Marked,
    Shape,
    loops_around,
    loops_at,
    part_at,
    shape_of,
    tree_of,
    with_part,
)
from polyviz.transform.tree import Path, band_at, bands

if TYPE_CHECKING:
    import islpy as isl

Rows = tuple["isl.UnionPwAff", ...]

_MARKS_OF_TILES = ("tile", "point")


def unwrapped(shape: Shape) -> tuple[Rows, Shape]:
    """All rows of the bands directly inside one another from ``shape`` on, and what is inside the last one."""
    rows: list[isl.UnionPwAff] = []
    while isinstance(shape, Loops):
        rows += shape.rows
        shape = shape.child
    return tuple(rows), shape


def one_band(tree: isl.Schedule, path: Path, member: int, count: int) -> tuple[isl.Schedule, Path]:
    """The tree with ``count`` nested loops as a band of their own, and the path of that band.

    The first of them is ``member`` of the band at ``path``, the others follow inside it. The order is the same as
    before; flags are kept only when the band is one already. Loops over tiles and over points that become members of
    one band are loops like others: the marks that told them apart are gone, so that strips can be interchanged with the
    loops around them, which is how tiles come about. Raises ``OptionError`` when there are fewer loops.

    >>> import islpy as isl
    >>> inner = '{ schedule: "[{ S[i, j] -> [j] }]" }'
    >>> text = f'{{ domain: "{{ S[i, j] }}", child: {{ schedule: "[{{ S[i, j] -> [i] }}]", child: {inner} }} }}'
    >>> tree, path = one_band(isl.Schedule(text), (0,), 0, 2)
    >>> band_at(tree, path).band_n_member()
    2
    """
    if member == 0 and count == band_at(tree, path).band_n_member():
        return tree, path
    shape = shape_of(tree)
    rows, inside = unwrapped(loops_at(shape, path))
    if len(rows) < member + count and isinstance(inside, Marked) and inside.name in _MARKS_OF_TILES:
        shape, path = _without_tiles(shape, path)
        rows, inside = unwrapped(loops_at(shape, path))
    if not (member >= 0 and member + count <= len(rows)):
        if isinstance(inside, Marked):
            raise OptionError(
                f"The mark `{inside.name}` stands between the loops: make this move before marking."
            )
        found = max(0, len(rows) - member)
        verb = "is" if found == 1 else "are"
        there = f"from loop {loop_text(rows[member])} on there {verb} {found}" if found else "there is none"
        raise OptionError(f"The move needs {count} loops directly inside one another; {there}.")
    nested = loops_around(rows[member : member + count], loops_around(rows[member + count :], inside))
    changed = with_part(shape, path, loops_around(rows[:member], nested))
    return tree_of(tree.get_domain(), changed), (*path, 0) if member else path


def _without_tiles(shape: Shape, path: Path) -> tuple[Shape, Path]:
    """The nest at ``path`` without the marks of its tiles, inside it and directly above it, and where it stands now."""
    nest = _unmarked(loops_at(shape, path))
    above = part_at(shape, path[:-1]) if len(path) > 1 else shape
    if isinstance(above, Marked) and above.name == "tile":
        path = path[:-1]
    return with_part(shape, path, nest), path


def _unmarked(shape: Shape) -> Shape:
    if isinstance(shape, Marked) and shape.name in _MARKS_OF_TILES:
        return _unmarked(shape.child)
    return replace(shape, child=_unmarked(shape.child)) if isinstance(shape, Loops) else shape


def gathered(tree: isl.Schedule) -> isl.Schedule:
    """The tree with every perfect nest as one band; what was known of merged bands is forgotten."""
    shape = shape_of(tree)
    return tree_of(tree.get_domain(), _gathered(shape))


def _gathered(shape: Shape) -> Shape:
    if isinstance(shape, Loops) and isinstance(shape.child, Loops):
        rows, inside = unwrapped(shape)
        return loops_around(rows, _gathered(inside))
    return shape.with_children([_gathered(child) for child in shape.children])


def apart(tree: isl.Schedule) -> isl.Schedule:
    """The tree with every loop as a band of its own; what was known of the bands is forgotten."""
    return tree_of(tree.get_domain(), _apart(shape_of(tree)))


def _apart(shape: Shape) -> Shape:
    if isinstance(shape, Loops):
        return _one_by_one(replace(shape, child=_apart(shape.child)))
    return shape.with_children([_apart(child) for child in shape.children])


def loosened(tree: isl.Schedule) -> isl.Schedule:
    """The tree, whose flags are known, with the loops of every band that is not permutable as bands of their own.

    A band of several loops promises that they may change places. Where they may not, whether a loop is parallel is
    judged inside the loops around it, which carry what they carry.
    """
    shape = shape_of(tree)
    changed = _loosened(shape)
    return tree if changed is shape else tree_of(tree.get_domain(), changed)


def _loosened(shape: Shape) -> Shape:
    children = [_loosened(child) for child in shape.children]
    if any(new is not old for new, old in zip(children, shape.children, strict=True)):
        shape = shape.with_children(children)
    return _one_by_one(shape) if isinstance(shape, Loops) and len(shape.rows) > 1 and not shape.permutable else shape


def _one_by_one(shape: Loops) -> Shape:
    inner = shape.child
    for row in reversed(shape.rows):
        inner = Loops(inner, (row,))
    return inner


def nested_bands(tree: isl.Schedule) -> tuple[Path, ...]:
    """The bands from which on at least two loops are directly inside one another."""
    return tuple(
        path
        for path, band in bands(tree)
        if band.band_n_member() > 1 or band.child(0).get_type() == band.get_type()
    )
