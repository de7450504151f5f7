"""Sizes as words of a command line, for ``%%polyopt --set`` and ``polyviz explain --set``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from polyviz.errors import OptionError

if TYPE_CHECKING:
    from collections.abc import Iterable


def sizes_of_words(words: Iterable[str]) -> dict[str, int]:
    """Values of parameters from words such as ``N=1000`` or ``N=1000,M=20``; raises ``OptionError``, in one line.

    >>> sizes_of_words(["n=10,m=20", "k=3"])
    {'n': 10, 'm': 20, 'k': 3}
    """
    sizes = {}
    for assignment in (part.strip() for word in words for part in word.split(",")):
        name, equals, value = (part.strip() for part in assignment.partition("="))
        if not (equals and name.isidentifier() and value.removeprefix("-").isdecimal()):
            raise OptionError(f"--set takes NAME=NUMBER such as N=1000, not {assignment!r}.")
        sizes[name] = int(value)
    return sizes
