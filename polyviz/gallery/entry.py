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


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class GalleryKernel:
    """One kernel of the gallery.

    `function` is a loop nest as a user of numba writes it; it works in place on its arguments. `initialise`
    makes the arguments from a dtype and the sizes by name. `size_values` holds one row per level of
    `SIZE_LEVELS`, smallest first; teaching examples have only the first levels. `outputs` names the arguments
    that hold the result, and is empty when the result is the return value. `note` says what a user of the data
    has to know, and is empty when there is nothing. `full_rank` tells that a seed has to give matrices of full rank.

    >>> from polyviz.gallery import kernel
    >>> atax = kernel("atax")
    >>> atax.summary
    'y := Aᵀ·(A·x).'
    >>> [argument.shape for argument in atax.arguments("mini")]
    [(38, 42), (42,), (42,), (38,)]
    >>> atax
    <atax: y := Aᵀ·(A·x).>
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
    full_rank: bool = False

    def __repr__(self) -> str:
        return f"<{self.name}: {self.summary}>"

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

    def arguments(
        self, size: str | Mapping[str, int], dtype: npt.DTypeLike = "float64", seed: int | None = None
    ) -> Arguments:
        """Freshly initialised arguments in the function's order; two calls give equal data in separate memory.

        `size` is a level ("mini" …) or the extents by name. A kernel of integers takes int32 when asked for a
        floating dtype. Raises `ValueError` for a level, a name or a dtype that the kernel does not have.

        With a `seed` the data are roughened by `roughened`. Verify on such data: the official ones are a fixed point
        of heat-3d and seidel-2d, and clear every result beforehand, so that a wrong order can go unseen.

        >>> from polyviz.gallery import kernel
        >>> kernel("mvt").arguments({"n": 7}, "float32")[0].dtype
        dtype('float32')
        >>> kernel("floyd-warshall").arguments("mini")[1].dtype
        dtype('int32')
        """
        extents = self._extents(size)
        arguments = self.initialise(self._dtype(dtype), **extents)
        if seed is None:
            return arguments
        shuffle_integers = self.dtypes == INTEGER
        return roughened(arguments, seed, shuffle_integers=shuffle_integers, full_rank=self.full_rank)

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


def roughened(
    arguments: Arguments, seed: int, *, shuffle_integers: bool, full_rank: bool = False
) -> Arguments:
    """The same arguments without the regularity that hides mistakes; the arrays are changed in place.

    A floating array is scaled by one random factor near 1 per index along each of its axes, the same for all axes: a
    symmetric positive definite matrix stays one, and a dominant diagonal too. Such factors keep the rank: with
    `full_rank`, every element gets a factor of its own instead. A floating array of zeros is filled with values in
    [0.5, 1.5), as uninitialised memory might be. Integers are shuffled only on demand: most are indices.

    >>> A, zeros = np.eye(3) + 1, np.zeros(2)
    >>> _ = roughened((A, zeros), 1, shuffle_integers=False)
    >>> bool((A == A.T).all()), len(np.unique(A)), bool(zeros.all())
    (True, 6, True)
    """
    random = np.random.default_rng(seed)
    arrays = [argument for argument in arguments if isinstance(argument, np.ndarray)]
    factors = random.uniform(0.9, 1.1, max((max(array.shape) for array in arrays), default=0))
    for array in arrays:
        if array.dtype.kind == "i":
            if shuffle_integers:
                random.shuffle(array.reshape(-1))
        elif not array.any():
            array[...] = random.uniform(0.5, 1.5, array.shape)
        elif full_rank:
            array[...] *= random.uniform(0.9, 1.1, size=array.shape)
        else:
            for index in grid(*array.shape):
                np.multiply(array, factors[index].astype(array.dtype), out=array)
    return arguments
