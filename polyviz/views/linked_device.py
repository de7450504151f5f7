"""The kernels of a device in the linked views: their cards, and who runs which iteration, in few bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from polyviz.views import device_picture
from polyviz.views.device import card_model, run_model
from polyviz.views.linked_blocks import blocks_model
from polyviz.views.linked_places import places_model

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import islpy as isl

    from polyviz.model.device_view import DeviceView, PlacedIteration, ThreadPicture
    from polyviz.views.linked_points import Instances
    from polyviz.views.linked_schema import LinkedDeviceModel, LinkedPictureModel

MOST_RUNS = 1600
"""Runs of all pictures; more would take the place of the other views."""


def linked_device_model(
    view: DeviceView, bound: isl.Set | None = None, drawn: Mapping[str, Instances] | None = None
) -> LinkedDeviceModel:
    """The cards with grid, phases, barriers, promoted arrays and accesses, and a picture per statement.

    With ``drawn`` instances, for the sizes in ``bound``, it tells when each of them runs, and where.
    """
    return {
        "target": view.target,
        "run": run_model(view),
        "places": places_model(view.places, bound, drawn) if bound is not None and drawn else None,
        "blocks": blocks_model(view.places, bound, drawn) if bound is not None and drawn else None,
        "kernels": [card_model(card) for card in view.cards],
        "shared": [f"kernel {loop.kernel}, {loop.text}" for loop in view.trees.shared],
        "pictures": [_picture(picture, MOST_RUNS // len(view.pictures)) for picture in view.pictures],
    }


def _picture(picture: ThreadPicture, most: int) -> LinkedPictureModel:
    runs = runs_of(picture.points)
    left_out = len(runs) - most
    notes = [picture.note] if picture.note else []
    if left_out > 0:
        notes.append(f"the last {left_out} rows of iterations are not drawn")
    return {
        "title": device_picture.title(picture),
        "kernel": picture.kernel,
        "statement": picture.statement,
        "iterators": list(picture.iterators),
        "block": list(picture.block),
        "rules": list(picture.rules),
        "runs": runs[:most],
        "note": "; ".join(notes),
    }


def runs_of(points: Sequence[PlacedIteration]) -> list[list[int]]:
    """Rows of neighbouring iterations of one block, whose threads differ by one step from each to the next.

    A run holds the first iteration, its block's x, y, z, its thread's x, y, z, the step of the thread, and how many
    iterations there are.

    >>> from polyviz.model.device_view import PlacedIteration as Placed
    >>> runs_of([Placed((0, j), (j // 4, 0, 0), (j % 4, 0, 0)) for j in range(8)])
    [[0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 4], [0, 4, 1, 0, 0, 0, 0, 0, 1, 0, 0, 4]]
    """
    runs: list[list[PlacedIteration]] = []
    for point in points:
        if runs and _continues(runs[-1], point):
            runs[-1].append(point)
        else:
            runs.append([point])
    return [_run(run) for run in runs]


def _continues(run: list[PlacedIteration], point: PlacedIteration) -> bool:
    last = run[-1]
    if not point.iteration or point.block != last.block:
        return False
    *outer, place = point.iteration
    follows = tuple(outer) == last.iteration[:-1] and place == last.iteration[-1] + 1
    return follows and (len(run) == 1 or _step(last, point) == _step(run[0], run[1]))


def _step(one: PlacedIteration, other: PlacedIteration) -> list[int]:
    return [after - before for before, after in zip(one.thread, other.thread, strict=True)]


def _run(run: list[PlacedIteration]) -> list[int]:
    first = run[0]
    step = _step(first, run[1]) if len(run) > 1 else [0, 0, 0]
    return [*first.iteration, *first.block, *first.thread, *step, len(run)]
