"""An exercise: loops, goals, hints; and an attempt at it: what was handed in, and what each goal says of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from polyviz.api.extracting import part_of
from polyviz.errors import OptionError, PolyvizError
from polyviz.exercises.answer import is_blank, read_answer
from polyviz.exercises.goal import Goal, Verdict
from polyviz.exercises.goals import legal
from polyviz.model.display import Displayable
from polyviz.views.drawing import clip_text

if TYPE_CHECKING:
    from collections.abc import Mapping, MutableMapping, Sequence

    from polyviz.exercises.answer import Answer
    from polyviz.model.scop import Scop


@dataclass(frozen=True, slots=True, repr=False)
class Exercise(Displayable):
    """What a teacher asks for.

    ``part`` holds the loops to work on, None where loops are to be written; ``sizes`` are the sizes at which lines are
    counted and results compared; ``hints`` go from a direction to a strong one. No solution is kept anywhere.
    """

    name: str
    part: Scop | None
    goals: tuple[Goal, ...]
    task: str = ""
    hints: tuple[str, ...] = ()
    sizes: Mapping[str, int] = field(default_factory=dict)

    def attempt(
        self, text: str, namespace: MutableMapping[str, Any] | None = None, hints: int = 0
    ) -> Attempt:
        """What the goals say of the answer ``text``; never raises for what a student may write.

        ``namespace`` is the notebook of the student, without which no Python of the answer is executed; ``hints`` is
        the number of hints to show.
        """
        if is_blank(text):
            return Attempt(self, text, hints=hints)
        try:
            answer = read_answer(text, self.part, self.sizes, namespace)
            verdicts = tuple(_judged(goal, answer) for goal in self.goals)
        except PolyvizError as error:
            return Attempt(self, text, problem=str(error), hints=hints)
        except (RecursionError, MemoryError):
            return Attempt(self, text, problem=_TOO_LARGE, hints=hints)
        return Attempt(self, text, answer, verdicts, hints=hints)


_TOO_LARGE = "The answer is nested too deeply, or too long, to be read. A few lines are enough."
_LONGEST = 60
"""So much is shown of a value that is no verdict."""


def _judged(goal: Goal, answer: Answer) -> Verdict:
    """The verdict of a goal; one of a teacher's own that stops, or gives no verdict, leaves the others to be seen."""
    try:
        return _sound(goal.judge(answer))
    except PolyvizError:
        raise
    except Exception as error:
        return _faulty(f"stopped with {type(error).__name__}: {error}")


def _sound(verdict: object) -> Verdict:
    """The verdict that a goal of a teacher's own gave, with a truth of Python's own, which can be counted and kept."""
    if not isinstance(verdict, Verdict):
        return _faulty(f"gave {clip_text(repr(verdict), _LONGEST)} where a Verdict is asked for, as in Verdict(True)")
    return Verdict(None if verdict.met is None else bool(verdict.met), str(verdict.found))


def _faulty(what: str) -> Verdict:
    return Verdict(None, f"This goal {what}. Tell who set the exercise.")


@dataclass(frozen=True, slots=True, repr=False)
class Attempt(Displayable):
    """One answer and its verdicts, in the order of the goals; ``problem`` says why it could not be judged."""

    exercise: Exercise
    text: str
    answer: Answer | None = None
    verdicts: tuple[Verdict, ...] = ()
    problem: str = ""
    hints: int = 0
    number: int = 0

    @property
    def is_blank(self) -> bool:
        """Whether nothing was handed in yet."""
        return self.answer is None and not self.problem

    @property
    def solved(self) -> bool:
        """Whether every goal is met."""
        return bool(self.verdicts) and all(verdict.met for verdict in self.verdicts)


KNOWN: dict[str, Exercise] = {}
"""The exercises that were made in this process, by name."""


def exercise(
    name: str,
    source: object,
    goals: Sequence[Goal],
    *,
    task: str = "",
    hints: Sequence[str] = (),
    sizes: Mapping[str, int] | None = None,
) -> Exercise:
    """Set an exercise under ``name``, for ``%%polycheck NAME``; one of that name before is replaced.

    ``source`` is a function, text with loops, or a part; None asks the student to write the loops. Raises OptionError
    for what is no goal, and what ``extract`` raises.

    >>> from polyviz.exercises import legal, parallel
    >>> loops = "for i in range(1, n):\\n    for j in range(n):\\n        A[i, j] = A[i - 1, j] + 1.0"
    >>> columns = exercise("columns", loops, [legal(), parallel()], hints=["Which loop carries nothing?"])
    >>> columns.attempt('interchange(order=("j", "i"))').solved
    True
    """
    if not name.isprintable() or len(name.split()) != 1:
        raise OptionError(f"The name of an exercise is one word, not {name!r}.")
    _insist_on_goals(goals)
    if source is None and all(goal == legal() for goal in goals):
        raise OptionError(
            "Where the student writes the loops, any loops are legal: this exercise asks for nothing.",
            hint='Add a goal that says what to write, such as domain("[n] -> { [i] : 0 <= i < n }").',
        )
    part = None if source is None else part_of(source)
    made = Exercise(name, part, tuple(goals), task, tuple(hints), dict(sizes or {}))
    _insist_on_sizes(made)
    KNOWN[name] = made
    return made


def _insist_on_goals(goals: Sequence[Goal]) -> None:
    if not goals:
        raise OptionError("An exercise needs a goal, such as legal().")
    for goal in goals:
        if not isinstance(goal, Goal):
            called = (
                f"write {goal.__name__}()"
                if callable(goal) and hasattr(goal, "__name__")
                else "write legal()"
            )
            raise OptionError(f"{goal!r} is no goal: {called}.")


def _insist_on_sizes(made: Exercise) -> None:
    if made.part is None:
        return
    names = [parameter.name for parameter in made.part.parameters]
    unknown = sorted(made.sizes.keys() - set(names))
    if unknown:
        raise OptionError(
            f"The loops have no size `{unknown[0]}`; their sizes are {', '.join(names) or 'none'}."
        )
