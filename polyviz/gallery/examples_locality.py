"""Teaching examples on locality, reductions in image processing, and the nests of neural networks.

They follow the illustrations of C. Reddy, "Polyhedral Compilation for Domain Specific Languages" (2019).
"""

from functools import partial
from typing import Any

import numpy as np

from polyviz.gallery.entry import Arguments, Array, DType, GalleryKernel, grid


def matmul(C: Array, A: Array, B: Array) -> None:
    """C := A·B in two nests, one that clears C and one that accumulates."""
    n = C.shape[0]
    for i in range(n):
        for j in range(n):
            C[i, j] = 0.0
    for i in range(n):
        for j in range(n):
            for k in range(n):
                C[i, j] += A[i, k] * B[k, j]


def _matmul_data(dtype: DType, n: int) -> Arguments:
    i, j = grid(n, n)
    return np.zeros((n, n), dtype), ((i + j) % n / n).astype(dtype), ((i - j) / n).astype(dtype)


def transposed_matmul(C: Array, A: Array, B: Array) -> None:
    """C := A·Bᵀ, where both operands are contiguous along the summed index."""
    n, depth = A.shape
    m = B.shape[0]
    for i in range(n):
        for j in range(m):
            C[i, j] = 0.0
            for k in range(depth):
                C[i, j] += A[i, k] * B[j, k]


def _transposed_matmul_data(dtype: DType, n: int, m: int, depth: int) -> Arguments:
    i, k = grid(n, depth)
    j, k = grid(m, depth)
    return np.zeros((n, m), dtype), ((i + k) % 7 / n).astype(dtype), ((j - k) / m).astype(dtype)


def complex_product(values: Array) -> Any:
    """The product of all complex values, a reduction with a multiplication of pairs."""
    product = 1.0 + 0.0j
    for i in range(len(values)):
        product = product * values[i]
    return product


def _complex_product_data(dtype: DType, n: int) -> Arguments:
    # Values on the unit circle keep the product there, for any length.
    return (np.exp(1j * np.arange(n)).astype(np.result_type(dtype, np.complex64)),)


def speckle_statistics(image: Array, spread: Array) -> None:
    """spread[t] := variance over squared mean of the image, from two sums that one scan gathers in each iteration."""
    rows, columns = image.shape
    for t in range(len(spread)):
        total = 0.0
        squares = 0.0
        for i in range(rows):
            for j in range(columns):
                total += image[i, j]
                squares += image[i, j] * image[i, j]
        mean = total / (rows * columns)
        variance = squares / (rows * columns) - mean * mean
        spread[t] = variance / (mean * mean)


def _speckle_statistics_data(dtype: DType, steps: int, rows: int, columns: int) -> Arguments:
    i, j = grid(rows, columns)
    return (1.0 + (3 * i + 5 * j) % 17 / 17).astype(dtype), np.zeros(steps, dtype)


def column_mean(data: Array, mean: Array) -> None:
    """mean[j] := the mean of column j, a reduction into an array element."""
    n, m = data.shape
    for j in range(m):
        mean[j] = 0.0
        for i in range(n):
            mean[j] += data[i, j]
        mean[j] /= n


def _column_mean_data(dtype: DType, n: int, m: int) -> Arguments:
    i, j = grid(n, m)
    return (i * j / m + i).astype(dtype), np.zeros(m, dtype)


def reference_patterns(A: Array, B: Array, C: Array, D: Array) -> None:
    """Two statements whose references to one array follow different patterns and share no line in general."""
    n = A.shape[0]
    for i in range(1, n):
        for j in range(n):
            A[i, j] += B[i, j] + B[i - 1, j]
            for k in range(n):
                C[i, j] += D[i, k] * D[i, j]


def _reference_patterns_data(dtype: DType, n: int) -> Arguments:
    i, j = grid(n, n)
    B, D = ((i + 2 * j) % n / n).astype(dtype), ((3 * i + j) % n / n).astype(dtype)
    return np.zeros((n, n), dtype), B, np.zeros((n, n), dtype), D


def outer_sum(A: Array, B: Array, C: Array) -> None:
    """A[i, j] := B[i] + C[j]; which loop belongs outside depends on which of B and C is longer."""
    n = len(B)
    m = len(C)
    for i in range(n):
        for j in range(m):
            A[i, j] = B[i] + C[j]


def _outer_sum_data(dtype: DType, n: int, m: int) -> Arguments:
    return np.zeros((n, m), dtype), np.arange(n).astype(dtype), (np.arange(m) / m).astype(dtype)


def convolution_2d(image: Array, weights: Array, filtered: Array) -> None:
    """filtered := image convolved with a small window of weights, where the window fits inside."""
    rows, columns = filtered.shape
    window_rows, window_columns = weights.shape
    for i in range(rows):
        for j in range(columns):
            filtered[i, j] = 0.0
            for p in range(window_rows):
                for q in range(window_columns):
                    filtered[i, j] += weights[p, q] * image[i + p, j + q]


def _convolution_2d_data(
    dtype: DType, rows: int, columns: int, window_rows: int, window_columns: int
) -> Arguments:
    i, j = grid(rows + window_rows - 1, columns + window_columns - 1)
    p, q = grid(window_rows, window_columns)
    weights = (1.0 / (1 + p + q)).astype(dtype)
    return ((i * j + 1) % 11 / 11).astype(dtype), weights, np.zeros((rows, columns), dtype)


def depth_to_metres(millimetres: Array, metres: Array) -> None:
    """metres := every second pixel of a depth image in millimetres, both ways, in metres."""
    rows, columns = metres.shape
    for y in range(rows):
        for x in range(columns):
            metres[y, x] = millimetres[2 * y, 2 * x] / 1000.0


def _depth_to_metres_data(dtype: DType, rows: int, columns: int) -> Arguments:
    y, x = grid(2 * rows, 2 * columns)
    return (800.0 + (7 * y + 3 * x) % 400).astype(dtype), np.zeros((rows, columns), dtype)


def integrate_depth(volume: Array, depth: Array, weight: float, voxel: float) -> None:
    """Blends into each voxel its signed distance to the surface that the depth image shows along its column."""
    layers, rows, columns = volume.shape
    for y in range(rows):
        for x in range(columns):
            for z in range(layers):
                volume[z, y, x] += weight * (depth[y, x] - voxel * z - volume[z, y, x])


def _integrate_depth_data(dtype: DType, layers: int, rows: int, columns: int) -> Arguments:
    y, x = grid(rows, columns)
    depth = (1.0 + (y + 2 * x) % 5 / 5).astype(dtype)
    return np.ones((layers, rows, columns), dtype), depth, dtype.type(0.25), dtype.type(0.1)


def convolution_layer(result: Array, bias: Array, inputs: Array, W: Array) -> None:
    """result := ReLU(bias + inputs ∗ W), a convolution of stride 2 over a batch, channels and filters."""
    batch, filters, height, width = result.shape
    channels = W.shape[1]
    window = W.shape[2]
    for z in range(batch):
        for u in range(filters):
            for x in range(height):
                for y in range(width):
                    result[z, u, x, y] = bias[u]
                    for k in range(channels):
                        for i in range(window):
                            for j in range(window):
                                result[z, u, x, y] += inputs[z, k, 2 * x + i, 2 * y + j] * W[u, k, i, j]
                    result[z, u, x, y] = max(result[z, u, x, y], 0.0)


def _convolution_layer_data(
    dtype: DType, batch: int, filters: int, channels: int, height: int, width: int, window: int
) -> Arguments:
    z, k, x, y = grid(batch, channels, 2 * height + window - 2, 2 * width + window - 2)
    inputs = ((z + 2 * k + 3 * x + 5 * y) % 13 / 13).astype(dtype)
    u, k, i, j = grid(filters, channels, window, window)
    W = ((u + k + i + j) % 5 / 5 - 0.5).astype(dtype)
    return (
        np.zeros((batch, filters, height, width), dtype),
        np.linspace(-1.0, 1.0, filters).astype(dtype),
        inputs,
        W,
    )


def extremes(values: Array, found: Array) -> None:
    """found := the smallest and the largest value, both from one scan."""
    found[0] = values[0]
    found[1] = values[0]
    for i in range(1, len(values)):
        found[0] = min(found[0], values[i])
        found[1] = max(found[1], values[i])


def _extremes_data(dtype: DType, n: int) -> Arguments:
    return np.sin(np.arange(n)).astype(dtype), np.zeros(2, dtype)


def tracking_sums(
    code: Array, error: Array, J: Array, energy: Array, gradient: Array, hessian: Array, counts: Array
) -> None:
    """The normal equations of a pose estimate from the records whose code is 1, and how often each code occurs."""
    for i in range(len(code)):
        if code[i] == 1:
            energy[0] += error[i] * error[i]
            for a in range(6):
                gradient[a] += error[i] * J[i, a]
                for b in range(a, 6):
                    hessian[a, b] += J[i, a] * J[i, b]
        for c in range(4):
            if code[i] == c:
                counts[c] += 1


def _tracking_sums_data(dtype: DType, n: int) -> Arguments:
    i, a = grid(n, 6)
    code = (np.arange(n) * 5 % 7 % 4).astype(np.int32)
    error = np.cos(np.arange(n)).astype(dtype)
    J = ((3 * i + a) % 11 / 11 - 0.5).astype(dtype)
    sums = np.zeros(1, dtype), np.zeros(6, dtype), np.zeros((6, 6), dtype)
    return code, error, J, *sums, np.zeros(4, np.int32)


_kernel = partial(GalleryKernel, category="locality", source="Reddy 2019")
_SQUARE = ((12,), (60,), (256,))

KERNELS = (
    _kernel(
        name="matmul",
        function=matmul,
        initialise=_matmul_data,
        size_names=("n",),
        size_values=_SQUARE,
        outputs=("C",),
        source="Reddy 2019, figure 2.1",
    ),
    _kernel(
        name="transposed-matmul",
        function=transposed_matmul,
        initialise=_transposed_matmul_data,
        size_names=("n", "m", "depth"),
        size_values=((9, 7, 11), (60, 50, 70), (256, 240, 280)),
        outputs=("C",),
        source="Reddy 2019, section 6.1",
    ),
    _kernel(
        name="complex-product",
        function=complex_product,
        initialise=_complex_product_data,
        size_names=("n",),
        size_values=((17,), (1000,), (100_000,)),
        outputs=(),
        source="Reddy 2019, figure 3.3",
    ),
    _kernel(
        name="speckle-statistics",
        function=speckle_statistics,
        initialise=_speckle_statistics_data,
        size_names=("steps", "rows", "columns"),
        size_values=((3, 9, 11), (4, 60, 70), (10, 502, 458)),
        outputs=("spread",),
        source="Reddy 2019, figures 3.4 and 3.5",
    ),
    _kernel(
        name="column-mean",
        function=column_mean,
        initialise=_column_mean_data,
        size_names=("n", "m"),
        size_values=((13, 9), (100, 80), (1400, 1200)),
        outputs=("mean",),
        source="Reddy 2019, figure 3.6",
    ),
    _kernel(
        name="reference-patterns",
        function=reference_patterns,
        initialise=_reference_patterns_data,
        size_names=("n",),
        size_values=((14,), (42,), (200,)),
        outputs=("A", "C"),
        source="Reddy 2019, figure 5.1",
    ),
    _kernel(
        name="outer-sum",
        function=outer_sum,
        initialise=_outer_sum_data,
        size_names=("n", "m"),
        size_values=((5, 9), (50, 90), (500, 900)),
        outputs=("A",),
        source="Reddy 2019, figure 6.5",
    ),
    _kernel(
        name="convolution-2d",
        function=convolution_2d,
        initialise=_convolution_2d_data,
        size_names=("rows", "columns", "window_rows", "window_columns"),
        size_values=((10, 12, 3, 5), (60, 70, 5, 5), (480, 640, 15, 15)),
        outputs=("filtered",),
        source="Reddy 2019, chapter 3",
    ),
    _kernel(
        name="depth-to-metres",
        function=depth_to_metres,
        initialise=_depth_to_metres_data,
        size_names=("rows", "columns"),
        size_values=((6, 8), (60, 80), (240, 320)),
        outputs=("metres",),
        source="Reddy 2019, figure 4.3, with the ratio fixed to 2",
    ),
    _kernel(
        name="integrate-depth",
        function=integrate_depth,
        initialise=_integrate_depth_data,
        size_names=("layers", "rows", "columns"),
        size_values=((5, 6, 7), (16, 20, 24), (128, 128, 128)),
        outputs=("volume",),
        source="Reddy 2019, figure 4.4, with a projection along the columns of the volume",
    ),
    _kernel(
        name="convolution-layer",
        function=convolution_layer,
        initialise=_convolution_layer_data,
        size_names=("batch", "filters", "channels", "height", "width", "window"),
        size_values=((2, 3, 2, 4, 5, 3), (2, 8, 4, 12, 14, 3), (4, 32, 16, 28, 28, 5)),
        outputs=("result",),
        source="Reddy 2019, equation 6.1",
    ),
    _kernel(
        name="extremes",
        function=extremes,
        initialise=_extremes_data,
        size_names=("n",),
        size_values=((19,), (1000,), (1_000_000,)),
        outputs=("found",),
        source="Reddy 2019, chapter 1",
    ),
    _kernel(
        name="tracking-sums",
        function=tracking_sums,
        initialise=_tracking_sums_data,
        size_names=("n",),
        size_values=((23,), (500,), (76_800,)),
        outputs=("energy", "gradient", "hessian", "counts"),
        source="Reddy 2019, chapter 4",
        note="Its conditions depend on data, so the accesses under them are over-approximated.",
    ),
)
