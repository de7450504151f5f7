"""The domain in the tiles of a schedule, or in the blocks of a device, as static pictures.

They are made of the JSON of the linked views, so that they show what those show.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from polyviz.model.words import plural
from polyviz.views import domain
from polyviz.views.html import image, items, paragraph
from polyviz.views.instances import Cell, Pane

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from polyviz.views.linked_schema import (
        InspectorModel,
        LinkedBlocksModel,
        LinkedNodeModel,
        LinkedStatementModel,
        VariantModel,
    )

MOST = 6
"""Statements of which there is a picture; more would make a notebook heavy."""
_DRAWN = 3
_COLOURS = 5
_STRENGTHS = 4
Place = tuple[int, ...]
Groups = dict[Place, list[int]]
"""The numbers of the instances of a statement by the tile or the block that they are in."""


def tile_forms(model: InspectorModel, variant: VariantModel) -> tuple[str, str] | None:
    """The tiles of ``variant`` as HTML and as text; None where all that is drawn lies in one, or there are none.

    >>> import polyviz as pv
    >>> from polyviz.api.workbench import Workbench
    >>> bench = Workbench(pv.inspect("def f(A):\\n    for i in range(6):\\n        A[i] = 0", schedules=("original",)))
    >>> bench.apply("original", "tile", "i", {"sizes": (4,)})
    >>> model = bench.model()
    >>> print(tile_forms(model, model["variants"][1])[1])
    S0: 6 instances in 2 tiles
    """
    groups = [
        (one, _by_tile(variant, one["name"], loops))
        for one in model["statements"]
        if (loops := [time for time, names in _tile_loops(variant["tree"]) if one["name"] in names])
    ]
    return _forms(model, groups, "tile", None, []) if any(len(own) > 1 for _, own in groups) else None


def block_forms(model: InspectorModel, variant: VariantModel) -> tuple[str, str] | None:
    """The blocks and threads of ``variant`` as HTML and as text; None where they are not known."""
    blocks = None if variant["device"] is None else variant["device"]["blocks"]
    if blocks is None:
        return None
    groups = [(one, _by_block(blocks, one["name"])) for one in model["statements"] if one["points"]]
    notes = [
        "A colour and an outline for each block; how strong a point is drawn tells threads beside each other apart.",
        *blocks["notes"],
    ]
    return _forms(model, groups, "block", blocks, notes)


def _tile_loops(node: LinkedNodeModel) -> Iterator[tuple[int, Sequence[str]]]:
    for member in node["members"]:
        if member["role"] == "tile":
            yield member["time"], node["statements"]
    for child in node["children"]:
        yield from _tile_loops(child)


def _by_tile(variant: VariantModel, name: str, loops: Sequence[int]) -> Groups:
    groups: Groups = {}
    for number, time in enumerate(variant["times"].get(name, ())):
        groups.setdefault(tuple(time[loop] for loop in loops), []).append(number)
    # Tiles may be counted in iterations: neighbours differ by one rank.
    ranks = [{value: rank for rank, value in enumerate(sorted(set(axis)))} for axis in zip(*groups, strict=True)]
    return {
        tuple(rank[value] for rank, value in zip(ranks, tile, strict=True)): own for tile, own in groups.items()
    }


def _by_block(blocks: LinkedBlocksModel, name: str) -> Groups:
    groups: Groups = {}
    for number, (block, _) in enumerate(blocks["at"].get(name, ())):
        groups.setdefault(tuple(blocks["blocks"][block][1:]), []).append(number)
    return groups


def _forms(
    model: InspectorModel,
    groups: Sequence[tuple[LinkedStatementModel, Groups]],
    what: str,
    blocks: LinkedBlocksModel | None,
    notes: Sequence[str],
) -> tuple[str, str]:
    values = {one["name"]: one["value"] for one in model["parameters"]}
    told = [
        f"{one['name']}: {plural(len(one['points']), 'instance')} in {plural(len(own), what)}" for one, own in groups
    ]
    drawn = [(one, own) for one, own in groups if one["iterators"] and one["points"]][:MOST]
    pictures = [(_pane(one, own, values, what, blocks), line) for (one, own), line in zip(drawn, told, strict=False)]
    shown = "".join(image(domain.draw(pane), f"{domain.describe(pane)} {line}.") for pane, line in pictures)
    left = len(groups) - len(drawn)
    more = [f"{plural(left, 'statement')} more without a picture here."] if left else []
    html = f"<div>{shown}</div>{paragraph('; '.join(told) + '.')}{items([*notes, *more])}"
    return html, "\n".join([*told, *notes, *more])


def _pane(
    statement: LinkedStatementModel,
    groups: Groups,
    values: Mapping[str, int],
    what: str,
    blocks: LinkedBlocksModel | None,
) -> Pane:
    points = [tuple(point) for point in statement["points"]]
    surplus = max(0, len(statement["iterators"]) - _DRAWN)
    held = _nearest_to_middle([point[:surplus] for point in points])
    threads = [] if blocks is None else [blocks["threads"][one] for _, one in blocks["at"][statement["name"]]]
    cells = []
    for place, numbers in groups.items():
        own = [number for number in numbers if points[number][:surplus] == held]
        if own:
            strengths = tuple(_strength(threads[number]) if threads else 0 for number in own)
            kept = tuple(points[number][surplus:] for number in own)
            cells.append(Cell(_label(what, place), _colour(place, what), kept, strengths))
    slice_of = ", ".join(f"{name} = {at}" for name, at in zip(statement["iterators"], held, strict=False))
    return Pane(
        statement=statement["name"],
        source=statement["source"],
        line=statement["line"],
        values=values,
        iterators=tuple(statement["iterators"][surplus:]),
        points=tuple(point for cell in cells for point in cell.points),
        arrows=(),
        complete=not surplus and not statement["notes"],
        notes=(*statement["notes"], *([f"the slice {slice_of}"] if surplus else [])),
        analysed=False,
        cells=tuple(cells),
    )


def _nearest_to_middle(places: Sequence[Place]) -> Place:
    """The one of ``places`` that is nearest to the middle of their box."""
    middle = [(min(axis) + max(axis)) / 2 for axis in zip(*places, strict=True)]
    return min(places, key=lambda place: (sum(abs(a - b) for a, b in zip(place, middle, strict=True)), place))


def _label(what: str, place: Place) -> str:
    """Blocks are told by their coordinates; along axes with one block there is nothing to tell."""
    known: Any = place if what == "tile" or place[2] else place[:2]
    return f"{what} {tuple(known)}" if len(known) > 1 else f"{what} {known[0]}"


def _colour(place: Place, what: str) -> int:
    weights = (1, 2, 3) if what == "block" else (1,) * len(place)
    count = _COLOURS if what == "block" else 2
    return sum(weight * at for weight, at in zip(weights, place, strict=True)) % count


def _strength(thread: Sequence[int]) -> int:
    x, y, z = thread
    return (x + 2 * y + z) % _STRENGTHS
