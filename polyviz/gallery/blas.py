"""The seven BLAS-like kernels of PolyBench 4.2.1: products of matrices and vectors with scaling."""

from functools import partial

import numpy as np

from polyviz.gallery.entry import POLYBENCH, Arguments, Array, DType, GalleryKernel, grid

_M_N = ((20, 30), (60, 80), (200, 240), (1000, 1200), (2000, 2600))


def _scalars(dtype: DType) -> tuple[object, object]:
    return dtype.type(1.5), dtype.type(1.2)


def gemm(alpha: float, beta: float, C: Array, A: Array, B: Array) -> None:
    """C := alpha·A·B + beta·C."""
    ni, nj = C.shape
    nk = A.shape[1]
    for i in range(ni):
        for j in range(nj):
            C[i, j] *= beta
        for k in range(nk):
            for j in range(nj):
                C[i, j] += alpha * A[i, k] * B[k, j]


def _gemm_data(dtype: DType, ni: int, nj: int, nk: int) -> Arguments:
    i, j = grid(ni, nj)
    C = ((i * j + 1) % ni / ni).astype(dtype)
    i, k = grid(ni, nk)
    A = (i * (k + 1) % nk / nk).astype(dtype)
    k, j = grid(nk, nj)
    B = (k * (j + 2) % nj / nj).astype(dtype)
    return (*_scalars(dtype), C, A, B)


def gemver(
    n: int,
    alpha: float,
    beta: float,
    A: Array,
    u1: Array,
    v1: Array,
    u2: Array,
    v2: Array,
    w: Array,
    x: Array,
    y: Array,
    z: Array,
) -> None:
    """A := A + u1·v1ᵀ + u2·v2ᵀ, then x := beta·Aᵀ·y + z and w := alpha·A·x."""
    for i in range(n):
        for j in range(n):
            A[i, j] = A[i, j] + u1[i] * v1[j] + u2[i] * v2[j]
    for i in range(n):
        for j in range(n):
            x[i] = x[i] + beta * A[j, i] * y[j]
    for i in range(n):
        x[i] = x[i] + z[i]
    for i in range(n):
        for j in range(n):
            w[i] = w[i] + alpha * A[i, j] * x[j]


def _gemver_data(dtype: DType, n: int) -> Arguments:
    i, j = grid(n, n)
    A = (i * j % n / n).astype(dtype)
    index = np.arange(n)
    ramp = (index + 1) / n
    u1, u2, v1, v2 = index.astype(dtype), *((ramp / divisor).astype(dtype) for divisor in (2.0, 4.0, 6.0))
    y, z = (ramp / 8.0).astype(dtype), (ramp / 9.0).astype(dtype)
    w, x = np.zeros(n, dtype), np.zeros(n, dtype)
    return (n, *_scalars(dtype), A, u1, v1, u2, v2, w, x, y, z)


def gesummv(alpha: float, beta: float, A: Array, B: Array, tmp: Array, x: Array, y: Array) -> None:
    """y := alpha·A·x + beta·B·x."""
    n = len(x)
    for i in range(n):
        tmp[i] = 0.0
        y[i] = 0.0
        for j in range(n):
            tmp[i] = A[i, j] * x[j] + tmp[i]
            y[i] = B[i, j] * x[j] + y[i]
        y[i] = alpha * tmp[i] + beta * y[i]


def _gesummv_data(dtype: DType, n: int) -> Arguments:
    i, j = grid(n, n)
    A = ((i * j + 1) % n / n).astype(dtype)
    B = ((i * j + 2) % n / n).astype(dtype)
    x = (np.arange(n) % n / n).astype(dtype)
    return (*_scalars(dtype), A, B, np.zeros(n, dtype), x, np.zeros(n, dtype))


def symm(m: int, n: int, alpha: float, beta: float, C: Array, A: Array, B: Array) -> None:
    """C := alpha·A·B + beta·C with a symmetric A of which only the lower triangle is read."""
    for i in range(m):
        for j in range(n):
            temp2 = 0.0
            for k in range(i):
                C[k, j] += alpha * B[i, j] * A[i, k]
                temp2 += B[k, j] * A[i, k]
            C[i, j] = beta * C[i, j] + alpha * B[i, j] * A[i, i] + alpha * temp2


def _symm_data(dtype: DType, m: int, n: int) -> Arguments:
    i, j = grid(m, n)
    C = ((i + j) % 100 / m).astype(dtype)
    B = ((n + i - j) % 100 / m).astype(dtype)
    i, j = grid(m, m)
    # A value far outside the range of the others shows a read of the triangle that must not be read.
    A = np.where(j <= i, (i + j) % 100 / m, -999.0).astype(dtype)
    return (m, n, *_scalars(dtype), C, A, B)


def syrk(alpha: float, beta: float, C: Array, A: Array) -> None:
    """C := alpha·A·Aᵀ + beta·C on the lower triangle."""
    n, m = A.shape
    for i in range(n):
        for j in range(i + 1):
            C[i, j] *= beta
        for k in range(m):
            for j in range(i + 1):
                C[i, j] += alpha * A[i, k] * A[j, k]


def _syrk_data(dtype: DType, m: int, n: int) -> Arguments:
    i, j = grid(n, m)
    A = ((i * j + 1) % n / n).astype(dtype)
    i, j = grid(n, n)
    C = ((i * j + 2) % m / m).astype(dtype)
    return (*_scalars(dtype), C, A)


def syr2k(alpha: float, beta: float, C: Array, A: Array, B: Array) -> None:
    """C := alpha·A·Bᵀ + alpha·B·Aᵀ + beta·C on the lower triangle."""
    n, m = A.shape
    for i in range(n):
        for j in range(i + 1):
            C[i, j] *= beta
        for k in range(m):
            for j in range(i + 1):
                C[i, j] += A[j, k] * alpha * B[i, k] + B[j, k] * alpha * A[i, k]


def _syr2k_data(dtype: DType, m: int, n: int) -> Arguments:
    i, j = grid(n, m)
    A = ((i * j + 1) % n / n).astype(dtype)
    B = ((i * j + 2) % m / m).astype(dtype)
    i, j = grid(n, n)
    C = ((i * j + 3) % n / m).astype(dtype)
    return (*_scalars(dtype), C, A, B)


def trmm(alpha: float, A: Array, B: Array) -> None:
    """B := alpha·Aᵀ·B with a lower triangular A of unit diagonal."""
    m, n = B.shape
    for i in range(m):
        for j in range(n):
            for k in range(i + 1, m):
                B[i, j] += A[k, i] * B[k, j]
            B[i, j] = alpha * B[i, j]


def _trmm_data(dtype: DType, m: int, n: int) -> Arguments:
    i, j = grid(m, m)
    A = np.where(j < i, (i + j) % m / m, np.where(i == j, 1.0, 0.0)).astype(dtype)
    i, j = grid(m, n)
    B = ((n + (i - j)) % n / n).astype(dtype)
    return dtype.type(1.5), A, B


_kernel = partial(GalleryKernel, category="blas", source=f"{POLYBENCH}, linear-algebra/blas")

KERNELS = (
    _kernel(
        name="gemm",
        function=gemm,
        initialise=_gemm_data,
        size_names=("ni", "nj", "nk"),
        size_values=((20, 25, 30), (60, 70, 80), (200, 220, 240), (1000, 1100, 1200), (2000, 2300, 2600)),
        outputs=("C",),
    ),
    _kernel(
        name="gemver",
        function=gemver,
        initialise=_gemver_data,
        size_names=("n",),
        size_values=((40,), (120,), (400,), (2000,), (4000,)),
        outputs=("w",),
    ),
    _kernel(
        name="gesummv",
        function=gesummv,
        initialise=_gesummv_data,
        size_names=("n",),
        size_values=((30,), (90,), (250,), (1300,), (2800,)),
        outputs=("y",),
    ),
    _kernel(
        name="symm",
        function=symm,
        initialise=_symm_data,
        size_names=("m", "n"),
        size_values=_M_N,
        outputs=("C",),
    ),
    _kernel(
        name="syrk",
        function=syrk,
        initialise=_syrk_data,
        size_names=("m", "n"),
        size_values=_M_N,
        outputs=("C",),
    ),
    _kernel(
        name="syr2k",
        function=syr2k,
        initialise=_syr2k_data,
        size_names=("m", "n"),
        size_values=_M_N,
        outputs=("C",),
    ),
    _kernel(
        name="trmm",
        function=trmm,
        initialise=_trmm_data,
        size_names=("m", "n"),
        size_values=_M_N,
        outputs=("B",),
    ),
)
