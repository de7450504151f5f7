"""Exercises: goals that isl and exact counting decide, hints by degrees, and the results of a class.

An exercise holds loops and goals, never a solution. What can be hidden and what cannot: there is no answer in a
notebook, its metadata or a message, since none exists; hints are text of the teacher, and whoever opens the file in
which they stand can read them before asking.
"""

from __future__ import annotations

from polyviz.exercises.exercise import Attempt, Exercise, exercise
from polyviz.exercises.goal import Goal, Verdict
from polyviz.exercises.goals import distances, domain, legal, parallel, tiled, vector
from polyviz.exercises.library import find, load, names
from polyviz.exercises.memory import at_most
from polyviz.exercises.running import faster, same_result
from polyviz.exercises.shown import register

__all__ = [
    "Attempt",
    "Exercise",
    "Goal",
    "Verdict",
    "at_most",
    "distances",
    "domain",
    "exercise",
    "faster",
    "find",
    "legal",
    "load",
    "names",
    "parallel",
    "same_result",
    "tiled",
    "vector",
]

register()
