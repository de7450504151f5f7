"""A generated program: its text, its arguments, and the sizes that it is run with."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numba
import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

NAMESPACE = {"np": np, "math": math, "numba": numba}
Layout = Literal["C", "F", "strided", "reversed", "misaligned", "swapped"]
"""In memory: along rows, along columns, with gaps, backwards, off the bounds of elements, in the other byte order."""
INDEX_RANGE = 3
"""Arrays whose elements are used as subscripts hold 0 … INDEX_RANGE - 1."""


@dataclass(frozen=True)
class Argument:
    """``size`` takes its value from the case; ``array`` its shape; ``content`` says what an array is filled with."""

    name: str
    kind: Literal["size", "number", "array"]
    dtype: str = "int64"
    content: Literal["small", "special", "index"] = "small"
    layout: Layout = "C"


@dataclass(frozen=True)
class Case:
    """One set of sizes with the shapes that keep every subscript in range."""

    sizes: Mapping[str, int]
    shapes: Mapping[str, tuple[int, ...]]


@dataclass(frozen=True)
class Program:
    """``plain`` tells that plain Python computes what numba does; otherwise only numba is a valid reference
    (narrow integers and single precision are promoted differently)."""

    seed: int
    source: str
    arguments: tuple[Argument, ...]
    cases: tuple[Case, ...]
    plain: bool = True

    @property
    def name(self) -> str:
        return self.source.split("(", 1)[0].removeprefix("def ").strip()

    def function(self) -> Callable[..., Any]:
        """The program as plain Python."""
        module = dict(NAMESPACE)
        exec(compile(self.source, f"<random program {self.seed}>", "exec"), module)
        return module[self.name]

    def compiled(self) -> Callable[..., Any]:
        """The program as numba compiles it."""
        return numba.njit(error_model="numpy", boundscheck=True)(self.function())

    def values(self, case: Case) -> list[Any]:
        """Fresh argument values, the same at every call."""
        return [self._value(argument, position, case) for position, argument in enumerate(self.arguments)]

    def in_rows(self) -> Program:
        """The same with arrays in the plain layout: numba takes not every one."""
        return replace(self, arguments=tuple(replace(argument, layout="C") for argument in self.arguments))

    def _value(self, argument: Argument, position: int, case: Case) -> Any:
        if argument.kind == "size":
            return case.sizes[argument.name]
        random = np.random.default_rng([self.seed, position, *(abs(size) for size in case.sizes.values())])
        if argument.kind == "number":
            value = _content(random, argument, ())
            return value.item()
        return _laid_out(_content(random, argument, case.shapes[argument.name]), argument.layout)


def _content(random: np.random.Generator, argument: Argument, shape: tuple[int, ...]) -> Any:
    if argument.content == "index":
        return random.integers(0, INDEX_RANGE, shape).astype(argument.dtype)
    kind = np.dtype(argument.dtype).kind
    if kind == "b":
        return random.integers(0, 2, shape).astype(bool)
    if kind in "iu":
        return np.asarray(random.integers(0 if kind == "u" else -9, 10, shape)).astype(argument.dtype)
    # Quarters are exact in every precision, and sums of them are too for a while.
    values = np.asarray(random.integers(-8, 9, shape) / 4)
    if kind == "c":
        values = values + 1j * random.integers(-8, 9, shape) / 4
    if argument.content == "special" and shape:
        values[random.random(shape) < 0.15] = np.nan
        values[random.random(shape) < 0.05] = np.inf
    return values.astype(argument.dtype)


def _laid_out(values: Any, layout: str) -> Any:
    if layout == "F":
        return np.asfortranarray(values)
    if layout == "strided":
        wide = np.zeros(tuple(2 * extent for extent in values.shape), values.dtype)
        view = wide[tuple(slice(1, None, 2) for _ in values.shape)]
        view[...] = values
        return view
    if layout == "reversed":
        every = tuple(slice(None, None, -1) for _ in values.shape)
        return np.ascontiguousarray(values[every])[every]
    if layout == "misaligned":
        view = np.zeros(values.nbytes + 1, np.uint8)[1:].view(values.dtype).reshape(values.shape)
        view[...] = values
        return view
    if layout == "swapped":
        return np.ascontiguousarray(values.astype(values.dtype.newbyteorder()))
    return np.ascontiguousarray(values)
