"""The menu of moves at one loop as the linked views show it: in words, with the effect or the pair that forbids it.

What a legal move does to the time of every drawn instance comes with it, so that the view can run its cache on the new
order and count the steps, without another question.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from polyviz.model.exclusion import exclusive
from polyviz.views.linked import ordering_model
from polyviz.views.models import violation_model

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from polyviz.editing import Choice, Edit
    from polyviz.model.schedule import Schedule
    from polyviz.views.linked_schema import ChoiceModel
    from polyviz.views.linked_sketch import Sketch


def menu(edit: Edit, address: str, sketch: Sketch | None = None) -> Iterator[ChoiceModel]:
    """What can be done with the loop ``address`` of ``edit``, as it is found; the effects of legal moves come last.

    With ``sketch``, the drawing that the menu belongs to, a legal move says when each drawn instance would run.
    Raises ``OptionError`` when there is no such loop.
    """
    before = edit.outline
    legal: list[tuple[ChoiceModel, Callable[[], Edit]]] = []
    for place, (choice, make) in enumerate(edit.prospects(address)):
        model = _model(place, choice)
        yield model
        if make is not None:
            legal.append((model, make))
    for model, make in legal:
        yield _with_effect(model, before, make, sketch)


def _model(place: int, choice: Choice) -> ChoiceModel:
    return {
        "place": place,
        "move": choice.name,
        "label": move_label(choice.name, choice.arguments),
        "at": choice.at,
        "arguments": dict(choice.arguments),
        "legal": choice.is_legal,
        "effect": None if choice.is_legal else "",
        "reason": choice.reason,
        "violation": None if choice.violation is None else violation_model(choice.violation),
        "after": None,
    }


@exclusive
def _with_effect(
    model: ChoiceModel, before: Schedule, make: Callable[[], Edit], sketch: Sketch | None
) -> ChoiceModel:
    after = make().outline
    ordering = None if sketch is None else ordering_model(after, sketch)
    return {**model, "effect": _effect(_counts(before), _counts(after)), "after": ordering}


def _effect(before: tuple[int, int], after: tuple[int, int]) -> str:
    """What the move does to the loops: how many there are, and how many of them are parallel."""
    changes = zip(("loops", "parallel"), before, after, strict=True)
    return ", ".join(f"{what}: {old} → {new}" for what, old, new in changes if old != new)


def _counts(schedule: Schedule) -> tuple[int, int]:
    """The number of loops, and of parallel ones."""
    members = [member for band in schedule.bands for member in band.members]
    return len(members), sum(member.coincident for member in members)


def move_label(name: str, arguments: Mapping[str, Any]) -> str:
    """A move in words.

    >>> move_label("tile", {"sizes": (4, 4)})
    'Tile by 4 × 4'
    >>> move_label("shift", {"amount": 1, "statements": ("S0",)})
    'Shift by 1 for S0'
    >>> move_label("unroll-and-jam", {})
    'Unroll and jam'
    """
    words = [_PHRASES.get(key, f"{key} {{}}").format(_spoken(key, value)) for key, value in arguments.items()]
    return " ".join([name.replace("-", " ").capitalize(), *words])


_PHRASES = {
    "sizes": "by {}",
    "size": "by {}",
    "factor": "by {}",
    "amount": "by {}",
    "by": "by {}",
    "order": "to {}",
    "children": "{}",
    "statements": "for {}",
}


def _spoken(key: str, value: object) -> str:
    if isinstance(value, tuple | list):
        return (" × " if key == "sizes" else ", ").join(str(item) for item in value)
    return str(value)
