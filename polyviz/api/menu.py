"""The menu of moves at one place of a schedule: the uses that a person tries first, each with its verdict."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from polyviz.errors import LegalityError, OptionError
from polyviz.views.models import violation_model

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from polyviz.editing import Edit
    from polyviz.model.dependences import Violation
    from polyviz.views.linked_schema import ChoiceModel

_SMALL_TILE, _USUAL_TILE = 4, 32
_UNROLLED = 4
_BAR = " | "


@dataclass(frozen=True, slots=True)
class Use:
    """A move with arguments, at ``at``, or placed by its arguments alone."""

    move: str
    label: str
    at: str | None
    arguments: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Choice:
    """A use with its verdict: what it would change, or why it cannot be made and the pair that forbids it."""

    use: Use
    legal: bool
    effect: str = ""
    reason: str = ""
    violation: Violation | None = None


def menu(edit: Edit, address: str) -> tuple[Choice, ...]:
    """The moves that make sense at ``address`` of ``edit``, legal or not; a sequence is addressed by its statements.

    Raises ``OptionError`` when there is no such place.
    """
    uses = _of_sequence(address) if _BAR in address else _of_loop(edit, address)
    before = _counts(edit)
    judged = (_judged(edit, use, before) for use in uses)
    return tuple(choice for choice in judged if choice is not None)


def _judged(edit: Edit, use: Use, before: tuple[int, int]) -> Choice | None:
    """The verdict on a use; None where it makes no sense."""
    try:
        after = edit.apply(use.move, use.at, **use.arguments)
    except LegalityError as error:
        return Choice(
            use, False, reason=f"{error.message} {error.reason}".strip(), violation=_pair(edit, use)
        )
    except OptionError:
        return None
    return Choice(use, True, effect=_effect(before, _counts(after)))


def _pair(edit: Edit, use: Use) -> Violation | None:
    violations = edit.check(use.move, use.at, **use.arguments).violations
    return violations[0] if violations else None


def _effect(before: tuple[int, int], after: tuple[int, int]) -> str:
    """What the move does to the loops: how many there are, and how many of them are parallel."""
    changes = zip(("loops", "parallel"), before, after, strict=True)
    return ", ".join(f"{what}: {old} → {new}" for what, old, new in changes if old != new)


def _counts(edit: Edit) -> tuple[int, int]:
    """The number of loops, and of parallel ones."""
    members = [member for band in edit.schedule.bands for member in band.members]
    return len(members), sum(member.coincident for member in members)


def _of_loop(edit: Edit, address: str) -> Iterator[Use]:
    inside = edit.inside(address)
    yield Use("parallel", "Run in parallel", address, {})
    yield Use("vector", "Run in vector lanes", address, {})
    for size in (_SMALL_TILE, _USUAL_TILE):
        for count in range(len(inside) + 1, 0, -1):
            names = ", ".join((address, *inside)[:count])
            yield Use("tile", f"Tile {names} by {size}", address, {"sizes": (size,) * count})
    for other in inside:
        yield Use("interchange", f"Interchange with {other}", None, {"order": (other, address)})
        yield Use("skew", f"Skew {other} by {address}", other, {"by": address, "factor": 1})
        yield Use("skew", f"Skew {address} by {other}", address, {"by": other, "factor": 1})
    for degree in range(1, len(inside) + 1):
        loops = ", ".join((address, *inside)[: degree + 1])
        yield Use("wavefront", f"Wavefront over {loops}", address, {"degree": degree})
    yield Use("reversal", "Reverse", address, {})
    yield Use("distribute", "Distribute", address, {})
    yield Use("unroll-and-jam", f"Unroll and jam by {_UNROLLED}", address, {"factor": _UNROLLED})
    yield Use("unroll", f"Unroll by {_UNROLLED}", address, {"factor": _UNROLLED})
    yield Use("peel", "Peel the first iteration", address, {"count": 1, "side": "first"})
    yield Use("peel", "Peel the last iteration", address, {"count": 1, "side": "last"})
    yield from _shifts(edit, address)


def _shifts(edit: Edit, address: str) -> Iterator[Use]:
    """Shifting all statements alike changes nothing, so each is offered by itself."""
    statements = edit.statements_in(address)
    for name in statements if len(statements) > 1 else ():
        for amount in (1, -1):
            label = f"Shift {name} by {amount}"
            yield Use("shift", label, address, {"amount": amount, "statements": (name,)})


def _of_sequence(address: str) -> Iterator[Use]:
    parts = [part.split(", ")[0] for part in address.split(_BAR)]
    for first, second in pairwise(parts):
        for depth in (1, 2, 3):
            loops = "the outermost loops" if depth == 1 else f"{depth} loops"
            yield Use(
                "fuse",
                f"Fuse {loops} of {first} and {second}",
                None,
                {"children": (first, second), "depth": depth},
            )
        swapped = [second if part == first else first if part == second else part for part in parts]
        yield Use("reorder", f"Run {second} before {first}", None, {"order": tuple(swapped)})


def choice_model(choice: Choice) -> ChoiceModel:
    """The JSON of a choice, for the linked views."""
    use = choice.use
    return {
        "move": use.move,
        "label": use.label,
        "at": use.at,
        "arguments": dict(use.arguments),
        "legal": choice.legal,
        "effect": choice.effect,
        "reason": choice.reason,
        "violation": None if choice.violation is None else violation_model(choice.violation),
    }
