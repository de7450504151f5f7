"""What the gallery keeps of a kernel: the function, its sizes, and how its arguments are initialised."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

Array: TypeAlias = npt.NDArray[Any]
DType: TypeAlias = np.dtype[Any]
Arguments: TypeAlias = tuple[Any, ...]

SIZE_LEVELS = ("mini", "small", "medium", "large", "extralarge")
FLOATING = ("float64", "float32")
INTEGER = ("int32", "int64")

POLYBENCH = "PolyBench 4.2.1"


@dataclass(frozen=True, slots=True, kw_only=True)
class GalleryKernel:
    """One kernel of the gallery.

    `function` is a loop nest as a user of numba writes it; it works in place on its arguments. `initialise`
    makes the arguments from a dtype and the sizes by name. `size_values` holds one row per level of
    `SIZE_LEVELS`, smallest first; teaching examples have only the first levels. `outputs` names the arguments
    that hold the result, and is empty when the result is the return value. `note` says what a user of the data
    has to know, and is empty when there is nothing.

    >>> from polyviz.gallery import kernel
    >>> atax = kernel("atax")
    >>> atax.summary
    'y := Aᵀ·(A·x).'
    >>> [argument.shape for argument in atax.arguments("mini")]
    [(38, 42), (42,), (42,), (38,)]
    """

    name: str
    function: Callable[..., Any]
    initialise: Callable[..., Arguments]
    size_names: tuple[str, ...]
    size_values: tuple[tuple[int, ...], ...]
    category: str
    outputs: tuple[str, ...]
    source: str
    dtypes: tuple[str, ...] = FLOATING
    note: str = ""

    @property
    def summary(self) -> str:
        """One sentence: the first line of the function's docstring."""
        return (self.function.__doc__ or "").strip().split("\n")[0]

    @property
    def sizes(self) -> dict[str, dict[str, int]]:
        """The extents by level and by name, in a fresh dictionary.

        >>> from polyviz.gallery import kernel
        >>> kernel("lu").sizes["extralarge"]
        {'n': 4000}
        """
        return {
            level: dict(zip(self.size_names, values, strict=True))
            for level, values in zip(SIZE_LEVELS, self.size_values, strict=False)
        }

    def arguments(self, size: str | Mapping[str, int], dtype: npt.DTypeLike = "float64") -> Arguments:
        """Freshly initialised arguments in the function's order; two calls give equal data in separate memory.

        `size` is a level ("mini" …) or the extents by name. A kernel of integers takes int32 when asked for a
        floating dtype. Raises `ValueError` for a level, a name or a dtype that the kernel does not have.

        >>> from polyviz.gallery import kernel
        >>> kernel("mvt").arguments({"n": 7}, "float32")[0].dtype
        dtype('float32')
        >>> kernel("floyd-warshall").arguments("mini")[1].dtype
        dtype('int32')
        """
        extents = self._extents(size)
        return self.initialise(self._dtype(dtype), **extents)

    def _extents(self, size: str | Mapping[str, int]) -> dict[str, int]:
        if not isinstance(size, str):
            if set(size) != set(self.size_names):
                raise ValueError(
                    f"{self.name} needs the sizes {', '.join(self.size_names)}; got {', '.join(size)}."
                )
            return dict(size)
        known = self.sizes
        if size not in known:
            raise ValueError(f"{self.name} has no size {size!r}; it has {', '.join(known)}.")
        return known[size]

    def _dtype(self, dtype: npt.DTypeLike) -> DType:
        wanted = np.dtype(dtype)
        if wanted.name in self.dtypes:
            return wanted
        if self.dtypes == INTEGER and wanted.name in FLOATING:
            return np.dtype(INTEGER[0])
        raise ValueError(
            f"{self.name} cannot be initialised as {wanted.name}; it takes {', '.join(self.dtypes)}."
        )


def grid(*extents: int) -> tuple[npt.NDArray[np.int64], ...]:
    """One integer index array per extent, shaped so that arithmetic on them broadcasts to the full array.

    >>> i, j = grid(2, 3)
    >>> (10 * i + j).tolist()
    [[0, 1, 2], [10, 11, 12]]
    """
    return tuple(np.ogrid[tuple(slice(extent) for extent in extents)])
