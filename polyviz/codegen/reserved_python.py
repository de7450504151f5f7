"""Words that no variable of generated Python may be called: keywords, and what generated text calls."""

from __future__ import annotations

import re
from keyword import kwlist
from typing import TYPE_CHECKING

from polyviz.codegen.helpers_python import PYTHON_HELPERS

if TYPE_CHECKING:
    from collections.abc import Sequence

CALLED = "np math numba range min max abs int float bool complex round pow len"

PYTHON_RESERVED = frozenset((*kwlist, *CALLED.split(), *PYTHON_HELPERS))
"""All of them."""

_VERSION = re.compile(r"(.+)_\d+")


def python_reserved(names: Sequence[str], target: str) -> frozenset[str]:
    """Words that none of ``names`` may keep.

    For numba these are also names such as ``total_2`` beside ``total``: in parallel loops it calls the values of
    ``total`` so, one after the other, and fails where another variable has that name.

    >>> sorted(python_reserved(["total", "total_2", "x_2"], "numba") - PYTHON_RESERVED)
    ['total_2']
    """
    found = ((name, _VERSION.fullmatch(name)) for name in names if target == "numba")
    return PYTHON_RESERVED.union(name for name, version in found if version is not None and version[1] in names)
