"""Which arrays of a call take a slower way through generated code, and what to do about it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from polyviz.runtime.execute import is_addressable

if TYPE_CHECKING:
    from collections.abc import Container, Iterator, Mapping


def layout_of(array: Any) -> Literal["C", "F", "A"]:
    """How ``array`` lies in memory, as an ``ArrayType`` tells it; what lies in both orders, as C lays it out.

    >>> [layout_of(array) for array in (np.zeros((2, 3)), np.zeros((2, 3), order="F"), np.zeros((2, 3))[:, ::2])]
    ['C', 'F', 'A']
    """
    if array.flags.c_contiguous:
        return "C"
    return "F" if array.flags.f_contiguous else "A"


def layout_notes(given: Mapping[str, Any], transposed: Container[str] = ()) -> tuple[str, ...]:
    """One sentence per array that is read more slowly than one laid out as C lays it out.

    ``transposed`` are those that have loops for their transposes, where they lie in Fortran order.

    >>> given = {"A": np.zeros((3, 4), order="F"), "B": np.zeros((3, 4)), "n": 3}
    >>> layout_notes(given)
    ('A lies in Fortran order and is read through its strides, which is slower: np.ascontiguousarray(A) avoids that',)
    >>> layout_notes(given, {"A", "B"})
    ()
    """
    arrays = ((name, value) for name, value in given.items() if isinstance(value, np.ndarray) and value.ndim)
    return tuple(note for name, value in arrays for note in _note(name, value, may_be_turned=name in transposed))


def _note(name: str, value: np.ndarray[Any, Any], *, may_be_turned: bool) -> Iterator[str]:
    if not is_addressable(value):
        why = "is not aligned" if value.dtype.isnative else "has another byte order"
        yield f"{name} {why}, so it is copied before each run, and back where it is written"
    elif value.size and not (value.flags.c_contiguous or (may_be_turned and value.flags.f_contiguous)):
        how = "lies in Fortran order" if value.flags.f_contiguous else "is not contiguous"
        yield f"{name} {how} and is read through its strides, which is slower: np.ascontiguousarray({name}) avoids that"
