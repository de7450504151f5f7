"""Compares a compiled function with the Python that it was: results, their types, and what its arguments hold then.

same_compiled(function, {"A": array}, "c", "strict")
"""

from __future__ import annotations

import copy
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

import polyviz as pv

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


@cache
def _kernel(function: Callable[..., Any], target: str, contract: str) -> pv.Kernel:
    """Made once for all data that a test gives it."""
    return pv.compile(function, target=target, contract=contract)


def same_compiled(function: Callable[..., Any], given: Mapping[str, Any], target: str, contract: str) -> None:
    """Call ``function`` and its kernel with copies of ``given``; raise where they differ."""
    expected_arguments, arguments = copy.deepcopy(dict(given)), copy.deepcopy(dict(given))
    expected = function(**expected_arguments)
    found = _kernel(function, target, contract)(**arguments)
    for name, value in expected_arguments.items():
        np.testing.assert_allclose(arguments[name], value, rtol=1e-6, err_msg=name)
    pairs = zip(expected, found, strict=True) if isinstance(expected, tuple) else [(expected, found)]
    for one, other in pairs:
        if one is None:
            assert other is None
            continue
        np.testing.assert_allclose(other, one, rtol=1e-6)
        if isinstance(one, np.ndarray):
            assert other.dtype == one.dtype and other.shape == one.shape
