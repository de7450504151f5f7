"""Answers that took isl long, kept for whoever asks the same.

An analysis looks at a scalar to see whether it may have copies, and again for its flow dependences; where a statement
adds to what it reads, its read and its write look back at the same sources; arrays side by side have the same
subscripts; and where statements are put into another form before their order is found, most arrays stay as they were.
Relations are compared by what they hold, so that the same question of another part is found, too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import islpy as isl

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable

Answer = TypeVar("Answer")

_MOST = 2_000
"""Answers that are kept; the oldest goes first. A large program asks a few hundred questions."""

_answers: dict[Hashable, Any] = {}


def known_or(question: Hashable, find: Callable[[], Answer], is_final: Callable[[Answer], bool]) -> Answer:
    """The answer to ``question``: what is known of it, or what ``find`` gives, kept if ``is_final``.

    What a search with another allowance may find better is not final.

    >>> known_or(("the sum", 2, 3), lambda: 5, lambda answer: True)
    5
    >>> known_or(("the sum", 2, 3), lambda: 6, lambda answer: True)
    5
    """
    if question in _answers:
        answer: Answer = _answers[question]
        return answer
    answer = find()
    if is_final(answer):
        if len(_answers) >= _MOST:
            _answers.pop(next(iter(_answers)), None)
        _answers[question] = answer
    return answer


def whatever_array(accesses: Iterable[isl.Map]) -> frozenset[isl.Map]:
    """``accesses`` without the name of the array, which no pair of instances depends on.

    >>> u, v = isl.Map("{ S[i] -> u[i + 1] }"), isl.Map("{ S[i] -> v[i + 1] }")
    >>> whatever_array([u]) == whatever_array([v])
    True
    """
    return frozenset(access.reset_tuple_id(isl.dim_type.out) for access in accesses)
