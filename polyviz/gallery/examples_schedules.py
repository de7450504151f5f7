"""Teaching examples on the space of legal schedules: one small nest for each transformation and each feature.

They follow the illustrations of a master's thesis on exploring and predicting polyhedral schedules.
"""

from functools import partial

import numpy as np

from polyviz.gallery.entry import Arguments, Array, DType, GalleryKernel, grid


def _table(dtype: DType, n: int) -> Array:
    i, j = grid(n, n)
    return ((3 * i + 5 * j) % 17 / 17).astype(dtype)


def _line(dtype: DType, n: int) -> Array:
    return ((7 * np.arange(n) + 3) % 11 / 11).astype(dtype)


def three_neighbours(A: Array) -> None:
    """Each element from those above, to the left and above left: no loop is parallel until the nest is skewed."""
    n = A.shape[0]
    for i in range(1, n):
        for j in range(1, n):
            A[i, j] = 0.25 * A[i - 1, j - 1] + 0.5 * A[i, j - 1] + 0.25 * A[i - 1, j]


def two_neighbours_above(A: Array) -> None:
    """Each element from the two above it: the inner loop is parallel, and tiling brings the users of a value closer."""
    n = A.shape[0]
    for i in range(1, n):
        for j in range(1, n):
            A[i, j] = 0.5 * A[i - 1, j - 1] + 0.5 * A[i - 1, j]


def column_recurrence(A: Array) -> None:
    """Each element from the one above it: the columns are independent."""
    n = A.shape[0]
    for i in range(1, n):
        for j in range(n):
            A[i, j] = 0.5 * A[i - 1, j] + A[i, j]


def _table_data(dtype: DType, n: int) -> Arguments:
    return (_table(dtype, n),)


def opposite_diagonal(A: Array) -> None:
    """Each element from the one above right in its layer: permutable with the rows i and i + j, not with i and j."""
    n = A.shape[0]
    for i in range(1, n):
        for j in range(n - 1):
            for k in range(n):
                A[i, j, k] = 0.5 * A[i - 1, j + 1, k] + A[i, j, k]


def _opposite_diagonal_data(dtype: DType, n: int) -> Arguments:
    i, j, k = grid(n, n, n)
    return (((i + 2 * j + 3 * k) % 13 / 13).astype(dtype),)


def row_accumulation(A: Array, B: Array, C: Array) -> None:
    """C[i] := the sum of A[i, j − 1] + B[j, i] over j ≥ 1, an initialisation and an accumulation in one loop."""
    n = len(C)
    for i in range(n):
        C[i] = 0.0
        for j in range(1, n):
            C[i] += A[i, j - 1] + B[j, i]


def _row_accumulation_data(dtype: DType, n: int) -> Arguments:
    A = _table(dtype, n)
    return A, (1.0 - A).astype(dtype), np.zeros(n, dtype)


def fused_pair(A: Array, B: Array, C: Array) -> None:
    """Two statements of one loop that may be distributed, fused again or shifted against each other."""
    for i in range(len(A)):
        B[i] = 2.0 * A[i]
        C[i] = B[i] + 1.0


def reuse_chain(A: Array, B: Array, C: Array) -> None:
    """Three statements per iteration that hand one element on, so that each access has exactly one reuse."""
    for i in range(1, len(A)):
        A[i] = A[i - 1]
        B[i] = A[i] + 1.0
        C[i] = A[i] * 2.0


def _three_lines_data(dtype: DType, n: int) -> Arguments:
    return _line(dtype, n), np.zeros(n, dtype), np.zeros(n, dtype)


def parallel_regions(A: Array, s: Array, B: Array) -> None:
    """A parallel loop inside a serial one, and a parallel loop after it: the first pays its overhead n times."""
    n = len(A)
    m = len(B)
    for i in range(1, n):
        for j in range(n):
            A[j] = 0.5 * A[j] + s[i - 1]
        s[i] = 0.5 * s[i - 1] + A[i]
    for k in range(m):
        B[k] = 2.0 * B[k]


def _parallel_regions_data(dtype: DType, n: int, m: int) -> Arguments:
    return _line(dtype, n), np.ones(n, dtype), _line(dtype, m)


def uneven_pair(A: Array, B: Array) -> None:
    """A square nest and a line twice as long: fused, they need a condition in every iteration."""
    n = A.shape[0]
    for i in range(n):
        for j in range(n):
            A[i, j] = A[i, j] + 1.0
    for k in range(2 * n):
        B[k] = B[k] + 1.0


def _uneven_pair_data(dtype: DType, n: int) -> Arguments:
    return _table(dtype, n), _line(dtype, 2 * n)


def prefix_count(A: Array) -> None:
    """A[i] := A[i − 1] + 1: each iteration waits for the one before it."""
    for i in range(1, len(A)):
        A[i] = A[i - 1] + 1.0


def increment(A: Array) -> None:
    """A[i] := A[i] + 1: no iteration waits for another."""
    for i in range(len(A)):
        A[i] = A[i] + 1.0


def _one_line_data(dtype: DType, n: int) -> Arguments:
    return (_line(dtype, n),)


_kernel = partial(
    GalleryKernel,
    category="schedule space",
    source="thesis on predicting polyhedral schedules",
    size_names=("n",),
    size_values=((10,), (50,), (200,)),
)

KERNELS = (
    _kernel(name="three-neighbours", function=three_neighbours, initialise=_table_data, outputs=("A",)),
    _kernel(
        name="two-neighbours-above", function=two_neighbours_above, initialise=_table_data, outputs=("A",)
    ),
    _kernel(name="column-recurrence", function=column_recurrence, initialise=_table_data, outputs=("A",)),
    _kernel(
        name="opposite-diagonal",
        function=opposite_diagonal,
        initialise=_opposite_diagonal_data,
        outputs=("A",),
    ),
    _kernel(
        name="row-accumulation", function=row_accumulation, initialise=_row_accumulation_data, outputs=("C",)
    ),
    _kernel(name="fused-pair", function=fused_pair, initialise=_three_lines_data, outputs=("B", "C")),
    _kernel(name="reuse-chain", function=reuse_chain, initialise=_three_lines_data, outputs=("A", "B", "C")),
    _kernel(
        name="parallel-regions",
        function=parallel_regions,
        initialise=_parallel_regions_data,
        size_names=("n", "m"),
        size_values=((10, 30), (100, 300), (1000, 3000)),
        outputs=("A", "s", "B"),
    ),
    _kernel(name="uneven-pair", function=uneven_pair, initialise=_uneven_pair_data, outputs=("A", "B")),
    _kernel(name="prefix-count", function=prefix_count, initialise=_one_line_data, outputs=("A",)),
    _kernel(name="increment", function=increment, initialise=_one_line_data, outputs=("A",)),
)
