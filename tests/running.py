"""Runs kernels beside the function they were made from, compiled by numba, whose meaning they have to have."""

from __future__ import annotations

import copy
import itertools
import linecache
import math
import textwrap
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any

import numba
import numpy as np
from numba.core import config

import polyviz as pv

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

TARGETS = ("c", "numba", "python")
_numbers = itertools.count()


def function_of(text: str, **known: Any) -> Callable[..., Any]:
    """The only function of ``text``, with source that ``inspect`` finds; ``known`` are globals beside np and math."""
    source = textwrap.dedent(text)
    filename = f"<test text {next(_numbers)}>"
    linecache.cache[filename] = (len(source), None, source.splitlines(keepends=True), filename)
    names: dict[str, Any] = {"np": np, "math": math, "numba": numba, "prange": numba.prange, **known}
    before = set(names)
    exec(compile(source, filename, "exec"), names)
    (name,) = names.keys() - before - {"__builtins__"}
    return names[name]


@cache
def shared_function(text: str) -> Callable[..., Any]:
    """The function of ``text``, one and the same for everybody who asks: numba compiles it once."""
    return function_of(text)


@cache
def shared_kernel(text: str, target: str, **options: Any) -> pv.Kernel:
    """The kernel of ``text`` with Pluto's order, made once for tests that differ in their arguments only."""
    return pv.compile(shared_function(text), schedule="pluto", target=target, **options)


def compiled_by_numba(function: Callable[..., Any], values: tuple[Any, ...]) -> Callable[..., Any]:
    """The reference that kernels are compared with, compiled for the types of ``values`` once."""
    return _reference(function, tuple(map(numba.typeof, values)))


@cache
def _reference(function: Callable[..., Any], types: tuple[Any, ...]) -> Callable[..., Any]:
    # One per type: what was compiled for int64 refuses larger integers.
    compiled: Callable[..., Any] = numba.njit(error_model="numpy")(function)
    return compiled


@contextmanager
def quickly_compiled() -> Iterator[None]:
    """numba without LLVM's optimisations: they change no defined result and take most of the time."""
    names = ("OPT", "LOOP_VECTORIZE")
    before = {name: getattr(config, name) for name in names}
    config.OPT, config.LOOP_VECTORIZE = type(config.OPT)(0), 0
    try:
        yield
    finally:
        for name, value in before.items():
            setattr(config, name, value)


def agree(
    function: Callable[..., Any] | str,
    *arguments: Any,
    target: str,
    schedule: Any = "pluto",
    keywords: dict[str, Any] | None = None,
    **options: Any,
) -> pv.Kernel:
    """Call the original and its kernel on copies of ``arguments``: same arrays, same result, same types."""
    if isinstance(function, str):
        function = shared_function(function)
    kernel = pv.compile(function, schedule=schedule, target=target, **options)
    compare(function, kernel, *arguments, keywords=keywords)
    return kernel


def agree_at(text: str, *arguments: Any, target: str, **options: Any) -> pv.Kernel:
    """The same with a kernel that other tests of ``text`` have called already, perhaps with other types and sizes."""
    kernel = shared_kernel(text, target, **options)
    compare(shared_function(text), kernel, *arguments)
    return kernel


def compare(
    function: Callable[..., Any], kernel: pv.Kernel, *arguments: Any, keywords: dict[str, Any] | None = None
) -> None:
    reference = compiled_by_numba(function, (*arguments, *(keywords or {}).values()))
    expected_arguments, actual_arguments = copies(arguments), copies(arguments)
    with quickly_compiled():
        expected = reference(*expected_arguments, **(keywords or {}))
    actual = kernel(*actual_arguments, **(keywords or {}))
    for position, (one, other) in enumerate(zip(expected_arguments, actual_arguments, strict=True)):
        if isinstance(one, np.ndarray):
            assert_same(one, other, f"argument {position}\n{kernel.source}")
    assert_same(expected, actual, f"result\n{kernel.source}")


def copies(arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    """The arguments again: arrays with equal contents in the same layout of memory."""
    return tuple(relaid(value) if isinstance(value, np.ndarray) else copy.deepcopy(value) for value in arguments)


def relaid(array: np.ndarray) -> np.ndarray:
    """A copy with the same strides and alignment, in memory of its own."""
    owner = array
    while isinstance(owner.base, np.ndarray):
        owner = owner.base
    if owner is array:
        return array.copy(order="K")
    memory = np.empty(owner.nbytes + 64, dtype=np.uint8)
    shift = (owner.ctypes.data - memory.ctypes.data) % 64
    whole = memory[shift : shift + owner.nbytes]
    whole[:] = np.frombuffer(owner.tobytes(order="A"), dtype=np.uint8)
    offset = array.ctypes.data - owner.ctypes.data
    return np.ndarray(array.shape, array.dtype, buffer=whole, offset=offset, strides=array.strides)


def assert_same(expected: Any, actual: Any, what: str = "") -> None:
    """Equal types, shapes and values; floating point within what reordered sums may differ by."""
    assert type(expected) is type(actual), f"{type(expected)} is not {type(actual)}: {what}"
    if isinstance(expected, tuple):
        assert len(expected) == len(actual)
        for one, other in zip(expected, actual, strict=True):
            assert_same(one, other, what)
        return
    if expected is None:
        return
    one, other = np.asarray(expected), np.asarray(actual)
    assert one.dtype == other.dtype, what
    assert one.shape == other.shape, what
    if one.dtype.kind in "fc":
        single = one.dtype.itemsize == (4 if one.dtype.kind == "f" else 8)
        np.testing.assert_allclose(other, one, rtol=1e-5 if single else 1e-12, err_msg=what)
    else:
        np.testing.assert_array_equal(other, one, err_msg=what)
