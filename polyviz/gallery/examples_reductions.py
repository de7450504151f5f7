"""Teaching examples on reductions over several loops, alone, after a producer, and two at a time.

They follow the patterns and sub-graphs of the article on Panamera (GPU reductions by loop coalescing and fusion).
"""

import math
from functools import partial
from typing import Any

import numpy as np

from polyviz.gallery.entry import Arguments, Array, DType, GalleryKernel, grid


def _wave(dtype: DType, *extents: int) -> Array:
    """Values in [-1, 1] without symmetry, so that a wrong summation order or subscript shows."""
    return np.sin(np.arange(math.prod(extents))).reshape(extents).astype(dtype)


def flattened_sum(source: Array, E: Array, out: Array) -> None:
    """out[w] := the sum of the rectified source over the three other loops, of which one lies outside w."""
    height, width, depth, channels = source.shape
    for h in range(height):
        for w in range(width):
            for x in range(depth):
                for y in range(channels):
                    E[h, w, x, y] = max(source[h, w, x, y], 0.0)
    for h in range(height):
        for w in range(width):
            for x in range(depth):
                for y in range(channels):
                    out[w] += E[h, w, x, y]


def _flattened_sum_data(dtype: DType, height: int, width: int, depth: int, channels: int) -> Arguments:
    source = _wave(dtype, height, width, depth, channels)
    return source, np.zeros_like(source), np.zeros(width, dtype)


def sum_all(A: Array) -> Any:
    """The sum of all elements: both loops are reduced."""
    n, m = A.shape
    total = 0.0
    for i in range(n):
        for j in range(m):
            total += A[i, j]
    return total


def _sum_all_data(dtype: DType, n: int, m: int) -> Arguments:
    return (_wave(dtype, n, m),)


def sum_inner(A: Array, out: Array) -> None:
    """out[i, j] := the sum of A[i, j, :]: the reduced loop is the contiguous one."""
    n, m, depth = A.shape
    for i in range(n):
        for j in range(m):
            for k in range(depth):
                out[i, j] += A[i, j, k]


def _sum_inner_data(dtype: DType, n: int, m: int, depth: int) -> Arguments:
    return _wave(dtype, n, m, depth), np.zeros((n, m), dtype)


def sum_outer(A: Array, out: Array) -> None:
    """out[k] := the sum of A[:, :, k]: the contiguous loop is the parallel one."""
    n, m, depth = A.shape
    for i in range(n):
        for j in range(m):
            for k in range(depth):
                out[k] += A[i, j, k]


def _sum_outer_data(dtype: DType, n: int, m: int, depth: int) -> Arguments:
    return _wave(dtype, n, m, depth), np.zeros(depth, dtype)


def diagonal_sums(a: Array, b: Array, out: Array) -> None:
    """out[i + j] += a[i]·b[j], the product of two polynomials: neither loop alone owns an element of the result."""
    n = len(a)
    m = len(b)
    for i in range(n):
        for j in range(m):
            out[i + j] += a[i] * b[j]


def _diagonal_sums_data(dtype: DType, n: int, m: int) -> Arguments:
    return _wave(dtype, n), (1.0 / (1 + np.arange(m))).astype(dtype), np.zeros(n + m - 1, dtype)


def sum_and_peak(a: Array, b: Array, c: Array, out: Array) -> None:
    """out := the sum of a + b, and the largest value of c: two independent reductions of different length."""
    out[0] = 0.0
    for i in range(len(a)):
        out[0] += a[i] + b[i]
    out[1] = c[0]
    for i in range(1, len(c)):
        out[1] = max(out[1], c[i])


def _sum_and_peak_data(dtype: DType, n: int, m: int) -> Arguments:
    return _wave(dtype, n), (np.arange(n) / n).astype(dtype), _wave(dtype, m), np.zeros(2, dtype)


def elementwise_chain(source: Array, first: Array, second: Array, third: Array, out: Array) -> None:
    """out[j] := the column sums of what a chain of three elementwise steps leaves."""
    n, m = source.shape
    for i in range(n):
        for j in range(m):
            first[i, j] = 2.0 * source[i, j]
    for i in range(n):
        for j in range(m):
            second[i, j] = first[i, j] + 1.0
    for i in range(n):
        for j in range(m):
            third[i, j] = second[i, j] * second[i, j]
    for i in range(n):
        for j in range(m):
            out[j] += third[i, j]


def _elementwise_chain_data(dtype: DType, n: int, m: int) -> Arguments:
    source = _wave(dtype, n, m)
    return source, *(np.zeros_like(source) for _ in range(3)), np.zeros(m, dtype)


def normalisation_gradients(
    a: Array, b: Array, c: Array, d: Array, e: Array, f: Array, scale: Array, shift: Array
) -> None:
    """scale and shift := the sums of (a + b)·c and of (d + e)·f over the two outer loops, two independent branches."""
    batch, length, channels = a.shape
    for i in range(batch):
        for j in range(length):
            for k in range(channels):
                scale[k] += (a[i, j, k] + b[i, j, k]) * c[i, j, k]
    for i in range(batch):
        for j in range(length):
            for k in range(channels):
                shift[k] += (d[i, j, k] + e[i, j, k]) * f[i, j, k]


def _normalisation_gradients_data(dtype: DType, batch: int, length: int, channels: int) -> Arguments:
    i, j, k = grid(batch, length, channels)
    terms = (((i + 2 * j + 3 * k + shift) % 13 / 13 - 0.4).astype(dtype) for shift in range(6))
    return *terms, np.zeros(channels, dtype), np.zeros(channels, dtype)


def long_inner_product(C: Array, A: Array, B: Array) -> None:
    """C += A·B where the summed index is much longer than the two others."""
    n, depth = A.shape
    m = B.shape[1]
    for i in range(n):
        for j in range(m):
            for k in range(depth):
                C[i, j] += A[i, k] * B[k, j]


def _long_inner_product_data(dtype: DType, n: int, m: int, depth: int) -> Arguments:
    return np.zeros((n, m), dtype), _wave(dtype, n, depth), _wave(dtype, depth, m)


def softmax_rows(x: Array, peak: Array, total: Array, out: Array) -> None:
    """out := the softmax of each row: a maximum, a sum that depends on it, and a division by that sum."""
    n, m = x.shape
    for i in range(n):
        peak[i] = x[i, 0]
        for j in range(1, m):
            peak[i] = max(peak[i], x[i, j])
        total[i] = 0.0
        for j in range(m):
            out[i, j] = math.exp(x[i, j] - peak[i])
            total[i] += out[i, j]
        for j in range(m):
            out[i, j] /= total[i]


def _softmax_rows_data(dtype: DType, n: int, m: int) -> Arguments:
    x = _wave(dtype, n, m)
    return x, np.zeros(n, dtype), np.zeros(n, dtype), np.zeros_like(x)


def divide_by_mean(x: Array, mean: Array) -> None:
    """Divides each row by its mean: an elementwise step that follows a reduction."""
    n, m = x.shape
    for i in range(n):
        mean[i] = 0.0
        for j in range(m):
            mean[i] += x[i, j]
        mean[i] /= m
    for i in range(n):
        for j in range(m):
            x[i, j] /= mean[i]


def _divide_by_mean_data(dtype: DType, n: int, m: int) -> Arguments:
    return (2.0 + _wave(dtype, n, m)).astype(dtype), np.zeros(n, dtype)


_kernel = partial(GalleryKernel, category="reduction")

KERNELS = (
    _kernel(
        name="flattened-sum",
        function=flattened_sum,
        initialise=_flattened_sum_data,
        size_names=("height", "width", "depth", "channels"),
        size_values=((4, 3, 2, 5), (10, 8, 5, 5), (40, 20, 10, 5)),
        outputs=("out",),
        source="Panamera, figure 4",
    ),
    _kernel(
        name="sum-all",
        function=sum_all,
        initialise=_sum_all_data,
        size_names=("n", "m"),
        size_values=((7, 9), (60, 70), (2000, 1999)),
        outputs=(),
        source="Panamera, pattern (a)",
    ),
    _kernel(
        name="sum-inner",
        function=sum_inner,
        initialise=_sum_inner_data,
        size_names=("n", "m", "depth"),
        size_values=((3, 4, 9), (10, 12, 60), (40, 32, 2000)),
        outputs=("out",),
        source="Panamera, pattern (b)",
    ),
    _kernel(
        name="sum-outer",
        function=sum_outer,
        initialise=_sum_outer_data,
        size_names=("n", "m", "depth"),
        size_values=((3, 4, 9), (10, 12, 60), (40, 32, 2000)),
        outputs=("out",),
        source="Panamera, pattern (c)",
    ),
    _kernel(
        name="diagonal-sums",
        function=diagonal_sums,
        initialise=_diagonal_sums_data,
        size_names=("n", "m"),
        size_values=((8, 6), (60, 70), (2000, 1800)),
        outputs=("out",),
        source="Panamera, limits of its patterns",
    ),
    _kernel(
        name="sum-and-peak",
        function=sum_and_peak,
        initialise=_sum_and_peak_data,
        size_names=("n", "m"),
        size_values=((16, 34), (1024, 2176), (102_400, 217_600)),
        outputs=("out",),
        source="Panamera, figure 8",
    ),
    _kernel(
        name="elementwise-chain",
        function=elementwise_chain,
        initialise=_elementwise_chain_data,
        size_names=("n", "m"),
        size_values=((8, 2), (64, 2), (1280, 2112)),
        outputs=("out",),
        source="Panamera, table 2, sub-graph 1, with arithmetic in place of its casts",
    ),
    _kernel(
        name="normalisation-gradients",
        function=normalisation_gradients,
        initialise=_normalisation_gradients_data,
        size_names=("batch", "length", "channels"),
        size_values=((3, 4, 5), (8, 16, 24), (64, 128, 768)),
        outputs=("scale", "shift"),
        source="Panamera, table 2, sub-graph 8",
    ),
    _kernel(
        name="long-inner-product",
        function=long_inner_product,
        initialise=_long_inner_product_data,
        size_names=("n", "m", "depth"),
        size_values=((6, 4, 33), (16, 8, 128), (128, 32, 1024)),
        outputs=("C",),
        source="Panamera, table 1",
    ),
    _kernel(
        name="softmax-rows",
        function=softmax_rows,
        initialise=_softmax_rows_data,
        size_names=("n", "m"),
        size_values=((5, 9), (40, 60), (1024, 1000)),
        outputs=("out",),
        source="Panamera, dependent reductions",
    ),
    _kernel(
        name="divide-by-mean",
        function=divide_by_mean,
        initialise=_divide_by_mean_data,
        size_names=("n", "m"),
        size_values=((5, 9), (40, 60), (1024, 1000)),
        outputs=("x",),
        source="Panamera, elementwise steps after a reduction",
    ),
)
