"""The two data mining kernels of PolyBench 4.2.1: statistics of the columns of a data matrix."""

import math
from functools import partial

import numpy as np

from polyviz.gallery.entry import POLYBENCH, Arguments, Array, DType, GalleryKernel, grid


def correlation(float_n: float, data: Array, corr: Array, mean: Array, stddev: Array) -> None:
    """corr := the correlation matrix of the columns of data, which are standardised in place."""
    n, m = data.shape
    eps = 0.1
    for j in range(m):
        mean[j] = 0.0
        for i in range(n):
            mean[j] += data[i, j]
        mean[j] /= float_n
    for j in range(m):
        stddev[j] = 0.0
        for i in range(n):
            stddev[j] += (data[i, j] - mean[j]) * (data[i, j] - mean[j])
        stddev[j] /= float_n
        stddev[j] = math.sqrt(stddev[j])
        # A column that is nearly constant would otherwise be divided by nearly zero.
        stddev[j] = 1.0 if stddev[j] <= eps else stddev[j]
    for i in range(n):
        for j in range(m):
            data[i, j] -= mean[j]
            data[i, j] /= math.sqrt(float_n) * stddev[j]
    for i in range(m - 1):
        corr[i, i] = 1.0
        for j in range(i + 1, m):
            corr[i, j] = 0.0
            for k in range(n):
                corr[i, j] += data[k, i] * data[k, j]
            corr[j, i] = corr[i, j]
    corr[m - 1, m - 1] = 1.0


def _correlation_data(dtype: DType, m: int, n: int) -> Arguments:
    i, j = grid(n, m)
    data = (i * j / m + i).astype(dtype)
    return dtype.type(n), data, np.zeros((m, m), dtype), np.zeros(m, dtype), np.zeros(m, dtype)


def covariance(m: int, n: int, float_n: float, data: Array, cov: Array, mean: Array) -> None:
    """cov := the sample covariance matrix of the columns of data, which are centred in place."""
    for j in range(m):
        mean[j] = 0.0
        for i in range(n):
            mean[j] += data[i, j]
        mean[j] /= float_n
    for i in range(n):
        for j in range(m):
            data[i, j] -= mean[j]
    for i in range(m):
        for j in range(i, m):
            cov[i, j] = 0.0
            for k in range(n):
                cov[i, j] += data[k, i] * data[k, j]
            cov[i, j] /= float_n - 1.0
            cov[j, i] = cov[i, j]


def _covariance_data(dtype: DType, m: int, n: int) -> Arguments:
    i, j = grid(n, m)
    return m, n, dtype.type(n), (i * j / m).astype(dtype), np.zeros((m, m), dtype), np.zeros(m, dtype)


_kernel = partial(
    GalleryKernel,
    category="data mining",
    source=f"{POLYBENCH}, datamining",
    size_names=("m", "n"),
    size_values=((28, 32), (80, 100), (240, 260), (1200, 1400), (2600, 3000)),
)

KERNELS = (
    _kernel(name="correlation", function=correlation, initialise=_correlation_data, outputs=("corr",)),
    _kernel(name="covariance", function=covariance, initialise=_covariance_data, outputs=("cov",)),
)
