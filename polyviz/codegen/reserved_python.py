"""Words that no variable of generated Python may be called: keywords, and what generated text calls."""

from __future__ import annotations

from keyword import kwlist

from polyviz.codegen.helpers_python import PYTHON_HELPERS

CALLED = "np math numba range min max abs int float bool complex round pow len"

PYTHON_RESERVED = frozenset((*kwlist, *CALLED.split(), *PYTHON_HELPERS))
"""All of them."""
