"""What can be done with one loop: moves with likely arguments, and for each why it may not be made."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import takewhile
from typing import TYPE_CHECKING, Any, TypeVar, cast

from polyviz.editing.script import call_text
from polyviz.errors import LegalityError, OptionError
from polyviz.transform.registry import moves

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from polyviz.editing.binding import Address
    from polyviz.editing.places import Loop, Places
    from polyviz.model.dependences import Violation

Outcome = TypeVar("Outcome")
SIZE = 32
"""The tile size that is proposed."""
SMALL_SIZE = 4
"""The tile size that is proposed beside it: its tiles can be seen in a picture."""


@dataclass(frozen=True, slots=True)
class Choice:
    """A move in the words of ``Edit.apply``; ``reason`` says why it would change the result, and is empty if not.

    ``violation`` is the pair of instances that shows it, where one does.
    """

    name: str
    at: str | None
    arguments: Mapping[str, Any]
    reason: str = ""
    violation: Violation | None = None

    @property
    def is_legal(self) -> bool:
        """Whether the move can be made."""
        return not self.reason

    def __str__(self) -> str:
        words = call_text(self.name, self.at, self.arguments)
        return f"{words}   # {self.reason}" if self.reason else words


def offers_at(
    places: Places, address: Address, attempt: Callable[..., Outcome]
) -> Iterator[tuple[Choice, Outcome | None]]:
    """The moves that make sense at the loop ``address``, one after the other, with what ``attempt`` gives for them.

    It raises as ``Edit.apply`` does; for an illegal move None stands in its place.
    """
    loop = places.loop(address)
    for name in moves():
        for at, arguments in _proposals(name, places, loop):
            try:
                outcome = attempt(name, at, **arguments)
            except OptionError:
                continue
            except LegalityError as error:
                pair = cast("Violation | None", error.violation)
                yield Choice(name, at, arguments, error.reason or error.message, pair), None
            else:
                yield Choice(name, at, arguments), outcome


def _proposals(name: str, places: Places, loop: Loop) -> Iterator[tuple[str | None, dict[str, Any]]]:
    """Places and arguments of a move; none for one that needs words only a person can give."""
    if name in ("split", "sink", "rows"):
        return
    at = places.address(loop)
    nest = [places.address(inner) for inner in _nest(places, loop)]
    around = [other for other in places.loops if other.key in loop.around]
    if name in ("fuse", "reorder"):
        yield from _with_next(name, places, loop)
    elif name == "interchange":
        outside = [places.address(outer) for outer in around if outer.names.keys() == loop.names.keys()]
        orders = [*((at, outer) for outer in outside), *((inner, at) for inner in nest[1:])]
        yield from ((None, {"order": order}) for order in orders)
    elif name == "skew":
        yield from ((at, {"by": places.address(outer)}) for outer in around)
    elif name == "tile":
        # Loops over tiles and those inside a tile are not of one kind: together they would make tiles of tiles.
        alike = len(list(takewhile(lambda inner: inner.over_tiles == loop.over_tiles, _nest(places, loop))))
        yield from ((at, {"sizes": (size,) * alike}) for size in (SIZE, SMALL_SIZE))
    elif name == "shift" and len(loop.names) > 1:
        # All statements alike would change no order.
        yield from ((at, {"amount": 1, "statements": (statement,)}) for statement in sorted(loop.names))
    else:
        yield at, {}


def _nest(places: Places, loop: Loop) -> list[Loop]:
    """``loop`` and the loops inside it that hold the same statements."""
    inside = [
        other
        for other in places.loops
        if loop.key in other.around and other.names.keys() == loop.names.keys()
    ]
    return [loop, *inside]


def _with_next(name: str, places: Places, loop: Loop) -> Iterator[tuple[None, dict[str, Any]]]:
    """The move on the child of a sequence that begins with ``loop`` and the child after it."""
    if len(loop.path) < 3 or loop.path[:-2] not in places.sequences or loop.member:
        return
    children = [names[0] for names in places.sequences[loop.path[:-2]]]
    here = loop.path[-2]
    if here + 1 == len(children):
        return
    if name == "fuse":
        yield None, {"children": (children[here], children[here + 1])}
        return
    children[here : here + 2] = reversed(children[here : here + 2])
    yield None, {"order": tuple(children)}
