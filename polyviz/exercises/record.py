"""What an attempt leaves in the notebook for a teacher: the student's own answer, what was met, hints and attempts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from polyviz.exercises.exercise import Attempt

MIME = "application/vnd.polyviz.attempt+json"
VERSION = 1


def record_of(attempt: Attempt) -> dict[str, Any]:
    """The record as JSON; it holds no hint and nothing that the goals compare with."""
    return {
        "version": VERSION,
        "exercise": attempt.exercise.name,
        "answer": attempt.text if attempt.answer is None else attempt.answer.text,
        "solved": attempt.solved,
        "goals": [verdict.met for verdict in attempt.verdicts] or [None] * len(attempt.exercise.goals),
        "problem": bool(attempt.problem),
        "hints": attempt.hints,
        "attempts": attempt.number,
    }
