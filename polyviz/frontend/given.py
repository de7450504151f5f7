"""What a call tells of an argument in the place of a number of dimensions: that it is None, is a float or a certain
whole number, or holds truth values."""

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


class Real(int):
    """No dimensions: a number that is no whole number, as no size is.

    >>> int(Real())
    0
    """
