"""Complex division under numba, the same whatever was compiled before.

numba compiles the function behind complex division once per process, with the flags of whoever needs it first. After a
kernel with fast mathematics the reference would divide in another way too, and nothing would be exact any more.
"""

from __future__ import annotations

from functools import cache
from typing import Any


@cache
def settle_complex_division() -> None:
    """Let numba compile complex division without any flags, before a kernel asks for it with some."""
    import numba

    function: Any = numba.njit(error_model="numpy")(_quotient)
    for kind in (numba.complex128, numba.complex64):
        function.compile((kind, kind))


def _quotient(left: complex, right: complex) -> complex:
    return left / right
