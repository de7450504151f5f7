"""A schedule edited by hand: a value with a history, in which every move was checked."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

from polyviz.analysis import dependences as find_dependences
from polyviz.editing.binding import Address, Bound, bind
from polyviz.editing.menu import Choice, offers_at
from polyviz.editing.places import places_of
from polyviz.editing.script import call_text, python_text, script_text
from polyviz.errors import LegalityError, OptionError, PolyvizError
from polyviz.model.display import Displayable
from polyviz.model.exclusion import exclusive
from polyviz.scheduling.described import described, flagged, outlined
from polyviz.scheduling.problem import SchedulingProblem
from polyviz.transform.nest import apart, gathered, loosened
from polyviz.transform.proof import promises
from polyviz.transform.registry import move_class, moves

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    import islpy as isl

    from polyviz.editing.places import Places
    from polyviz.model.dependences import Dependences, Legality
    from polyviz.model.schedule import Decision, Schedule
    from polyviz.model.scop import Scop
    from polyviz.transform.move import Move
    from polyviz.transform.tree import Path

EDITED = " (edited)"
"""What the name of a scheduler ends in once its order was changed by hand."""


@dataclass(frozen=True, slots=True)
class Step:
    """One move of a history: its words, what it decided, and the tree after it."""

    name: str
    at: str | None
    arguments: Mapping[str, Any]
    decision: Decision
    tree: isl.Schedule

    def __str__(self) -> str:
        return call_text(self.name, self.at, self.arguments)


@dataclass(frozen=True, slots=True, repr=False)
class Edit(Displayable):
    """An order, edited move by move; every method returns a new value.

    ``start`` is the schedule that the edits began with, ``origin`` the words that make it again, ``done`` the history
    and ``undone`` what a redo brings back, nearest first. Loops are named by address: see :meth:`loops`.
    """

    scop: Scop
    dependences: Dependences
    start: Schedule
    origin: Mapping[str, Any]
    done: tuple[Step, ...] = ()
    undone: tuple[Step, ...] = ()

    @property
    def tree(self) -> isl.Schedule:
        """The tree as it is now."""
        return self.done[-1].tree if self.done else self.start.tree

    @property
    def schedule(self) -> Schedule:
        """The order as it is now, for ``compile``, ``compare`` and the views.

        Once a move was made, a target keeps it to the letter: only marked loops run in threads or vector lanes.
        """
        if not self.done:
            return self.start
        name = self.start.scheduler.removesuffix(EDITED) + EDITED
        decisions = (*self.start.decisions, *(step.decision for step in self.done))
        return replace(described(self._problem, name, self.tree, decisions), by_hand=True)

    @property
    def outline(self) -> Schedule:
        """The order as it is now without its log, which takes as long to write as all the rest."""
        return outlined(self._problem, self.start.scheduler, self.tree) if self.done else self.start

    @property
    def loops(self) -> tuple[str, ...]:
        """The address of every loop, in the order of the tree."""
        return self._places.names()

    @property
    def history(self) -> tuple[str, ...]:
        """The moves so far, one line each."""
        return tuple(map(str, self.done))

    @exclusive
    def apply(self, name: str, at: Address | None = None, **arguments: Any) -> Edit:
        """The edit after one more move; what was undone before is forgotten.

        Raises ``LegalityError``, with the pair of instances, when the move would change the result, and
        ``OptionError`` when there is no such move, place or argument. This value stays as it is in any case.
        """
        return self._allowed(name, at, **arguments)()

    @exclusive
    def check(self, name: str, at: Address | None = None, **arguments: Any) -> Legality:
        """Whether the move would keep the result; raises ``OptionError`` where it makes no sense."""
        bound = self._bound(name, at, arguments)
        return bound.move.check(self.scop, self.dependences, bound.tree)

    def why_not(self, name: str, at: Address | None = None, **arguments: Any) -> str:
        """Why the move cannot be made here, in sentences; empty when it can."""
        try:
            self.apply(name, at, **arguments)
        except PolyvizError as error:
            return f"{error.message} {error.reason}".strip()
        return ""

    def undo(self, number: int = 1) -> Edit:
        """The edit before its last ``number`` moves; raises ``OptionError`` when there are not so many."""
        if not 0 <= number <= len(self.done):
            raise OptionError(f"There are {len(self.done)} moves to undo, not {number}.")
        kept = len(self.done) - number
        return replace(self, done=self.done[:kept], undone=(*self.done[kept:], *self.undone))

    def redo(self, number: int = 1) -> Edit:
        """The edit with ``number`` undone moves made again; raises ``OptionError`` when there are not so many."""
        if not 0 <= number <= len(self.undone):
            raise OptionError(f"There are {len(self.undone)} moves to make again, not {number}.")
        return replace(self, done=(*self.done, *self.undone[:number]), undone=self.undone[number:])

    @exclusive
    def available(self) -> dict[str, tuple[str, ...]]:
        """Where each move makes sense, legal or not: addresses of loops, or the statements that a sequence runs."""
        single, merged = (
            (tree, places_of(tree))
            for tree in (self._refreshed(apart(self.tree)), self._refreshed(gathered(self.tree)))
        )
        found = {name: _places_for(move_class(name), single, merged) for name in moves()}
        return {name: places for name, places in found.items() if places}

    @exclusive
    def choices(self, at: Address) -> tuple[Choice, ...]:
        """What can be done with the loop ``at``, with likely arguments; illegal moves say which pair forbids them."""
        return tuple(choice for choice, _ in self.prospects(at))

    def offers(self, at: Address) -> Iterator[tuple[Choice, Edit | None]]:
        """The choices at the loop ``at`` as they are found, each with the edit after it; None where it is illegal."""
        return ((choice, None if make is None else make()) for choice, make in self.prospects(at))

    def prospects(self, at: Address) -> Iterator[tuple[Choice, Callable[[], Edit] | None]]:
        """The same without making the moves, which takes longer than to judge them: what makes one stands for it."""
        return offers_at(self._places, at, self._allowed)

    def script(self) -> str:
        """The edit as text, one line per move, which ``polyviz.replay`` makes again."""
        return script_text(self.origin, self.history)

    def python(self) -> str:
        """The edit as a Python script of its own."""
        return python_text(self.scop, self.origin, self.history)

    @exclusive
    def _allowed(self, name: str, at: Address | None = None, **arguments: Any) -> Callable[[], Edit]:
        """What makes a move, which is legal; raises as :meth:`apply`. To look at all loops again takes a while."""
        bound = self._bound(name, at, arguments)
        _insist(bound.move.name, bound.move.check(self.scop, self.dependences, bound.tree))
        tree, decision = bound.move.apply(bound.tree)
        self._insist_on_promises(bound.move.name, tree)

        @exclusive
        def made() -> Edit:
            step = Step(bound.move.name, bound.at, bound.arguments, decision, self._settled(tree))
            return replace(self, done=(*self.done, step), undone=())

        return made

    @property
    def _problem(self) -> SchedulingProblem:
        return SchedulingProblem(self.scop, self.dependences)

    @property
    def _places(self) -> Places:
        return places_of(self.tree)

    def _bound(self, name: str, at: Address | None, arguments: Mapping[str, Any]) -> Bound:
        return bind(self.tree, name, at, arguments, self._refreshed)

    def _refreshed(self, tree: isl.Schedule) -> isl.Schedule:
        return flagged(self._problem, tree)

    def _settled(self, tree: isl.Schedule) -> isl.Schedule:
        """``tree`` after a move, which may have merged bands that only it needed as one."""
        known = self._refreshed(tree)
        changed = loosened(known)
        return known if changed is known else self._refreshed(changed)

    def _insist_on_promises(self, name: str, tree: isl.Schedule) -> None:
        """After a move, loops marked before it must still be parallel."""
        for promise in promises(self.scop, self.dependences, tree):
            if not promise.is_kept:
                raise LegalityError(
                    f"After `{name}`, a loop marked `{promise.mark}` would not be parallel any more.",
                    reason=promise.reason,
                    hint="Undo the mark, make this move, and mark a loop again.",
                )


Named = tuple["isl.Schedule", "Places"]
"""A tree and the names in it."""


def _places_for(kind: type[Move], single: Named, merged: Named) -> tuple[str, ...]:
    """Where a move makes sense: bands may be taken apart or merged for it, so trees of both kinds are asked."""
    alone = "member" in {field.name for field in fields(kind)} and not kind.loops
    asked = (single,) if alone else (single, merged)
    return tuple(
        dict.fromkeys(_spoken(places, path) for tree, places in asked for path in kind.available(tree))
    )


def _spoken(places: Places, path: Path) -> str:
    if path in places.sequences:
        return " | ".join(", ".join(names) for names in places.sequences[path])
    return places.address(places.loop(path))


def _insist(name: str, legality: Legality) -> None:
    if not legality:
        pair = legality.violations[0].explanation
        error = LegalityError(
            f"The move `{name}` would change the result.", reason=pair[:1].upper() + pair[1:]
        )
        error.violation = legality.violations[0]
        raise error


@exclusive
def start_edit(
    scop: Scop, start: Schedule, origin: Mapping[str, Any], dependences: Dependences | None = None
) -> Edit:
    """An edit of ``start``, a legal schedule of ``scop``, with nothing done yet."""
    known = dependences if dependences is not None else find_dependences(scop)
    return Edit(scop, known, start, origin)
