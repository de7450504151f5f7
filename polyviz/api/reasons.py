"""Why the loops of a schedule are tiled and fused, or not: what the exact check allows, and what was made of it."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, cast

from polyviz.api.statement_reasons import StatementReasons
from polyviz.editing.places import places_of
from polyviz.errors import OptionError, PolyvizError
from polyviz.mapping.locality import band_locality
from polyviz.model.reason import Reason
from polyviz.model.words import listed
from polyviz.transform.tree import bands

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from polyviz.editing import Edit
    from polyviz.editing.places import Loop, Places
    from polyviz.model.dependences import Legality, Violation
    from polyviz.model.details import ComponentsDetails
    from polyviz.model.plan import Plan
    from polyviz.model.schedule import Decision

ORIGINAL = "original"
TILE = 32
"""The tile that legality is tried with, as in the menu of moves."""
INSTEAD = ("strip", "fuse-passes", "split", "distribute")
"""Steps of a plan's log that tell what became of loops without tiles."""


def reasons_of(edit: Edit, plan: Plan | None) -> tuple[Reason, ...]:
    """Every reason about the order of ``edit``, loops first; ``plan`` is that of the program made of it, if any."""
    places = places_of(edit.tree)
    found = [*_tiles(edit, places, plan), *_fusion(edit, places)]
    if plan is not None:
        found += StatementReasons(edit.scop, edit.dependences, edit.schedule, plan).all()
    return tuple(found)


def _tiles(edit: Edit, places: Places, plan: Plan | None) -> Iterator[Reason]:
    for whole in _nests(places):
        nest, inside = _over_and_inside(whole)
        if inside:
            yield from _tiled_already(edit, places, whole, inside)
        start, end = 0, len(nest) if not inside else sum(not loop.over_tiles for loop in nest)
        while start < end:
            together, pair, refusal = _tiled_together(edit, places, nest[start:])
            names = [places.address(loop) for loop in nest[start:]]
            text = _tiles_text(names, together, refusal if pair is None else pair.explanation)
            made = _made(edit, nest[start], plan) if together > 1 and not inside else ""
            for loop in nest[start : start + together]:
                yield Reason("tiles", places.address(loop), tuple(sorted(loop.names)), text + made, pair)
            start += together


def _over_and_inside(nest: list[Loop]) -> tuple[list[Loop], list[Loop]]:
    """The loops of ``nest`` down to the last one over tiles, and those inside a tile; without tiles all, and none."""
    last = max((place for place, loop in enumerate(nest) if loop.over_tiles), default=-1)
    return (nest[: last + 1], nest[last + 1 :]) if -1 < last < len(nest) - 1 else (nest, [])


def _tiled_already(edit: Edit, places: Places, nest: list[Loop], inside: list[Loop]) -> Iterator[Reason]:
    """An order that has tiles: what is said of the loops over them and of those inside."""
    over = [loop for loop in nest if loop.over_tiles]
    names, points = ([places.address(loop) for loop in loops] for loops in (over, inside))
    made = [
        _plain(one)
        for one in edit.schedule.decisions
        if one.step in ("tile", "strip-mine") and set(one.statements) & set(nest[0].names)
    ]
    text = (
        f"This order has tiles: {_subject(names)} {'go' if len(names) > 1 else 'goes'} from tile to tile, "
        f"{_subject(points)} {'run' if len(points) > 1 else 'runs'} inside one."
    )
    for loop in (*over, *inside):
        yield Reason(
            "tiles", places.address(loop), tuple(sorted(loop.names)), " ".join((text, *(f"{one}." for one in made)))
        )


def _nests(places: Places) -> Iterator[list[Loop]]:
    """The loops that are directly inside one another, outermost first."""
    seen: set[object] = set()
    for loop in places.loops:
        if loop.key not in seen:
            inside = (
                one
                for one in places.loops
                if loop.key in one.around and one.names.keys() == loop.names.keys()
            )
            nest = [loop, *inside]
            seen |= {one.key for one in nest}
            yield nest


def _tiled_together(edit: Edit, places: Places, nest: Sequence[Loop]) -> tuple[int, Violation | None, str]:
    """How many loops of ``nest`` from its first on may be tiled together; the pair, or the words, against one more."""
    pair, refusal = None, ""
    for count in range(len(nest), 1, -1):
        try:
            legality = edit.check("tile", places.address(nest[0]), sizes=(TILE,) * count)
        except OptionError as error:
            pair, refusal = None, error.message
            continue
        if legality:
            return count, pair, refusal
        pair, refusal = _first(legality), ""
    return 1, pair, refusal


def _first(legality: Legality) -> Violation | None:
    return legality.violations[0] if legality.violations else None


def _tiles_text(names: Sequence[str], together: int, against: str) -> str:
    """What is said of the loops ``names``: the first ``together`` may be tiled, ``against`` forbids one more."""
    if len(names) == 1:
        return f"No loop is directly inside {names[0]}, with which it could make tiles."
    subject = f"L{_subject(names[:together])[1:]}"
    text = f"{subject} may be tiled together: tiles of {TILE} keep every dependence. " if together > 1 else ""
    if against:
        text += f"{subject} may not be tiled together with {names[together]}: {against.removesuffix('.')}."
    return text.strip()


def _subject(names: Sequence[str]) -> str:
    return f"{'loops' if len(names) > 1 else 'loop'} {listed(names)}"


def _made(edit: Edit, loop: Loop, plan: Plan | None) -> str:
    """What the program makes of a nest that may be tiled."""
    if plan is None:
        return ""
    tiles, instead = (_told(plan, loop, steps) for steps in (("tile", "wavefront"), INSTEAD))
    if tiles:
        return f" In the program for {plan.target}: {tiles}."
    if edit.schedule.by_hand or edit.schedule.scheduler == ORIGINAL:
        return f" The program for {plan.target} keeps this order to the letter, so there are none."
    return f" The program for {plan.target} has none: {instead or _no_gain(edit, loop)}."


def _told(plan: Plan, loop: Loop, steps: tuple[str, ...]) -> str:
    names = set(loop.names)
    return "; ".join(
        _plain(one) for one in plan.decisions if one.step in steps and names & set(one.statements)
    )


def _no_gain(edit: Edit, loop: Loop) -> str:
    inside = [path for path, _ in bands(edit.tree) if path[: len(loop.path)] == loop.path]
    if inside != [loop.path]:
        return "loops with others inside are tiled only where none of them is parallel"
    if not band_locality(edit.scop, edit.dependences, edit.tree, loop.path).tiling_helps:
        return "tiles are made where long loops sweep a matrix again and again, which these do not"
    return "it reuses data in other ways"


def _plain(decision: Decision) -> str:
    return decision.text.removesuffix(".")


def _fusion(edit: Edit, places: Places) -> Iterator[Reason]:
    yield from _shared(edit, places)
    for path, children in places.sequences.items():
        for place, (first, second) in enumerate(pairwise(children)):
            yield from _neighbours(edit, places, (*path, place, 0), first, second)


def _shared(edit: Edit, places: Places) -> Iterator[Reason]:
    """Statements that share a loop; said once, of the outermost one."""
    for nest in _nests(places):
        loop, names = nest[0], tuple(one.name for one in edit.scop.statements if one.name in nest[0].names)
        if len(names) > 1 and not any(
            set(one.names) == set(names) for one in places.loops if one.key in loop.around
        ):
            text = f"{listed(names)} share loop {places.address(loop)}{_why_shared(edit, names)}."
            yield Reason("fusion", places.address(loop), names, text)


def _why_shared(edit: Edit, names: Sequence[str]) -> str:
    if edit.schedule.scheduler == ORIGINAL:
        return " as they are written"
    said = _about_fusion(edit, names, merged=True)
    if said:
        return f": {said}"
    circles = (
        group
        for one in edit.schedule.decisions
        if one.step == "components"
        for group in cast("ComponentsDetails", one.details)["components"]
    )
    if any(set(names) <= set(group) for group in circles):
        return (
            ": they depend on one another in a circle, so none of them can run to its end before the others"
        )
    return ""


def _neighbours(
    edit: Edit, places: Places, path: tuple[int, ...], first: tuple[str, ...], second: tuple[str, ...]
) -> Iterator[Reason]:
    """Why what runs one after the other in a sequence shares no loop."""
    loops = [one for one in places.loops if one.path == path and one.member == 0]
    if not loops:
        return
    ordered = [[one.name for one in edit.scop.statements if one.name in names] for names in (first, second)]
    groups = f"The loops of {listed(ordered[0])} and those of {listed(ordered[1])}"
    try:
        legality = edit.check("fuse", None, children=(first[0], second[0]))
    except PolyvizError as error:
        yield Reason("fusion", places.address(loops[0]), first, f"{groups} are apart: {error.message}")
        return
    pair = _first(legality)
    said = _about_fusion(edit, (*first, *second), merged=False)
    kept = f" The scheduler kept them apart: {said}." if said else ""
    text = f"{groups} could become one as they stand: that keeps every dependence.{kept}"
    if pair is not None:
        text = f"{groups} may not become one as they stand: {pair.explanation}.{kept}"
    yield Reason("fusion", places.address(loops[0]), (*first, *second), text, pair)


def _about_fusion(edit: Edit, names: Sequence[str], *, merged: bool) -> str:
    """What the scheduler said when it tried to join exactly these statements."""
    for one in edit.schedule.decisions:
        details = one.details or {}
        if one.step == "fusion" and set(one.statements) == set(names) and details.get("merged") is merged:
            return _plain(one).partition(": ")[2]
    return ""
