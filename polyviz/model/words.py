"""Numbers with their nouns, words one after the other, and notes in a line."""

from __future__ import annotations

from collections import Counter
from math import prod
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


def plural(count: int, noun: str, nouns: str = "") -> str:
    """``1 loop``, ``2 loops``; ``nouns`` where an s is not enough.

    >>> plural(1, "loop"), plural(0, "loop"), plural(2, "launch", "launches")
    ('1 loop', '0 loops', '2 launches')
    """
    return f"{count} {noun}" if count == 1 else f"{count} {nouns or f'{noun}s'}"


def listed_notes(notes: Iterable[str]) -> str:
    """Several notes as one.

    >>> listed_notes(["S1 runs as written.", "A is copied"])
    'S1 runs as written; A is copied'
    """
    return "; ".join(note.removesuffix(".") for note in notes)


def listed(words: Iterable[str]) -> str:
    """Words as an enumeration.

    >>> listed(["S", "R", "T"]), listed(["S"])
    ('S, R and T', 'S')
    """
    *first, last = words
    return f"{', '.join(first)} and {last}" if first else last


_NAMED = 3


def told_apart(sentences: Sequence[tuple[str, Sequence[str]]]) -> list[str]:
    """Sentences about loops, which name the statements of each where several loops have one name.

    >>> told_apart([("Loop i is parallel.", ["S0"]), ("Loop t is not.", ["S0", "S1"]), ("Loop i is not.", ["S1"])])
    ['Loop i of S0 is parallel.', 'Loop t is not.', 'Loop i of S1 is not.']
    """
    loops = Counter(sentence.partition(" is ")[0] for sentence, _ in sentences)
    return [_of_statements(*one) if loops[one[0].partition(" is ")[0]] > 1 else one[0] for one in sentences]


def _of_statements(sentence: str, statements: Sequence[str]) -> str:
    loop, verb, rest = sentence.partition(" is ")
    more = len(statements) - _NAMED
    names = [*statements[:_NAMED], *([f"{more} more"] if more > 0 else [])]
    return f"{loop} of {listed(names)}{verb}{rest}" if names else sentence


def waiting(places: int) -> str:
    """In how many places of a kernel's text its threads wait for each other; how often they do is another matter.

    >>> waiting(0), waiting(1), waiting(2)
    ('no barrier', 'barriers in 1 place', 'barriers in 2 places')
    """
    return f"barriers in {plural(places, 'place')}" if places else "no barrier"


def sized(sizes: Iterable[int], noun: str) -> str:
    """So many of something along each axis.

    >>> sized((8, 4), "cell"), sized((1, 1), "cell")
    ('8 x 4 cells', '1 x 1 cell')
    """
    known = tuple(sizes)
    return f"{' x '.join(map(str, known))} {noun}{'' if prod(known) == 1 else 's'}"
