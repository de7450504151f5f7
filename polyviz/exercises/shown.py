"""How exercises and attempts show themselves: goals with marks, the pair that forbids an order drawn, hints so far."""

from __future__ import annotations

from typing import TYPE_CHECKING

from polyviz.exercises.answer import FORMS
from polyviz.exercises.exercise import Attempt, Exercise
from polyviz.exercises.record import MIME, record_of
from polyviz.model.display import register_renderer
from polyviz.views.drawing import values_text
from polyviz.views.html import heading, items, paragraph, preformatted
from polyviz.views.violation import picture_html

if TYPE_CHECKING:
    from polyviz.exercises.goal import Verdict
    from polyviz.model.display import Bundle

MARKS = {True: "✓", False: "✗", None: "–"}


def attempt_bundle(attempt: Attempt) -> Bundle:
    """An attempt in all forms; the record for a teacher holds nothing but the student's own answer."""
    picture = _picture(attempt)
    html = [heading(_title(attempt)), _loops_html(attempt)]
    html += [preformatted(attempt.problem)] if attempt.problem else []
    html += [paragraph(attempt.answer.note)] if attempt.answer is not None and attempt.answer.note else []
    html += [items(_goal_lines(attempt)), picture]
    html += [paragraph(line) for line in (*_how(attempt), *_hint_lines(attempt))]
    return {MIME: record_of(attempt), "text/html": "".join(html), "text/plain": attempt_text(attempt)}


def attempt_text(attempt: Attempt) -> str:
    """The verdict, one line per goal, and the hints."""
    lines = [_title(attempt)]
    if attempt.is_blank:
        lines += [f"  {line}" for line in _source(attempt.exercise).splitlines()]
    lines += [f"  {line}" for line in attempt.problem.splitlines()]
    if attempt.answer is not None and attempt.answer.note:
        lines.append(f"  {attempt.answer.note}")
    lines += [f"  {line}" for line in (*_goal_lines(attempt), *_how(attempt), *_hint_lines(attempt))]
    return "\n".join(lines)


def _title(attempt: Attempt) -> str:
    name = attempt.exercise.name
    if attempt.is_blank:
        return f"{name}: {attempt.exercise.task or 'meet the goals'}"
    if attempt.problem:
        return f"{name}: this answer cannot be judged"
    met = sum(verdict.met is True for verdict in attempt.verdicts)
    return f"{name}: solved" if attempt.solved else f"{name}: {met} of {len(attempt.verdicts)} goals met"


def _source(exercise: Exercise) -> str:
    return "" if exercise.part is None else exercise.part.text.strip("\n")


def _loops_html(attempt: Attempt) -> str:
    source = _source(attempt.exercise)
    return preformatted(source) if attempt.is_blank and source else ""


def _goal_lines(attempt: Attempt) -> list[str]:
    goals = attempt.exercise.goals
    if not attempt.verdicts:
        return [f"□ {goal.text}" for goal in goals]
    return [_goal_line(goal.text, verdict) for goal, verdict in zip(goals, attempt.verdicts, strict=True)]


def _goal_line(text: str, verdict: Verdict) -> str:
    return f"{MARKS[verdict.met]} {text}. {verdict.found}".rstrip()


def _how(attempt: Attempt) -> list[str]:
    """How to answer, and for which sizes is counted, for somebody who has not begun."""
    if not attempt.is_blank:
        return []
    sizes = values_text(attempt.exercise.sizes)
    form = FORMS if attempt.exercise.part is not None else "The answer is loops in plain Python."
    return [*([f"Counted and compared for {sizes}."] if sizes else []), form]


def _hint_lines(attempt: Attempt) -> list[str]:
    exercise = attempt.exercise
    shown = [f"Hint {number}: {hint}" for number, hint in enumerate(exercise.hints[: attempt.hints], start=1)]
    left = len(exercise.hints) - attempt.hints
    if attempt.solved or left <= 0:
        return shown
    more = "1 hint is" if left == 1 else f"{left} hints are"
    return [*shown, f"{more} left: %polycheck {exercise.name} --hint shows the next one."]


def _picture(attempt: Attempt) -> str:
    """The smallest pair of instances that an illegal order reverses, drawn in the domain."""
    answer = attempt.answer
    if answer is None or answer.legality:
        return ""
    return picture_html(answer.scop, answer.legality.violations)


def exercise_bundle(exercise: Exercise) -> Bundle:
    """The task: the loops, the goals, how many hints there are."""
    forms = attempt_bundle(Attempt(exercise, ""))
    return {"text/html": forms["text/html"], "text/plain": forms["text/plain"]}


def register() -> None:
    """Make exercises and attempts known to :func:`polyviz.model.display.mime_bundle`."""
    register_renderer(Attempt, attempt_bundle)
    register_renderer(Exercise, exercise_bundle)
