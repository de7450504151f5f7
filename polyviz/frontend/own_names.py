"""Names of functions in lines that the reader writes, ``range`` and ``np.empty``: no variable of a program hides them.

A program may call a variable ``max`` or ``np``. What is written for it, as ``max(n - 1, 0)`` where a slice is as long
as that, still means the function.
"""

from __future__ import annotations

import ast


class OwnName(str):
    """The text of a name that is equal to no name of a program, whatever that is called.

    >>> OwnName("max") == "max", OwnName("max") == OwnName("max"), OwnName("max") in {"max"}, str(OwnName("max"))
    (False, True, False, 'max')
    """

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, OwnName) and str(self) == str(other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash((OwnName, str(self)))


def own_name(text: str) -> ast.Name:
    """A function that Python has by itself, or ``np``.

    >>> ast.unparse(own_name("range"))
    'range'
    """
    return ast.Name(OwnName(text), ast.Load())


def numpy_function(name: str) -> ast.Attribute:
    """A function of NumPy, or what else NumPy has by this ``name``.

    >>> ast.unparse(numpy_function("empty"))
    'np.empty'
    """
    return ast.Attribute(own_name("np"), name, ast.Load())
