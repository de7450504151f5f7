"""What a call tells of an argument in the place of a number of dimensions: that it is None, holds truth values, or is
a certain number."""

from __future__ import annotations

ABSENT = -1
"""An argument that is None."""


class Truths(int):
    """The dimensions of an array of truth values, which as a subscript chooses elements.

    >>> Truths(2) + 1
    3
    """


class Value(int):
    """The value of an argument that is a whole number.

    >>> Value(32) == 32
    True
    """
