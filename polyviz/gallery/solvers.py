"""The six solvers of PolyBench 4.2.1: factorisations and triangular, Toeplitz and linear systems."""

import math
from functools import partial

import numpy as np

from polyviz.gallery.entry import POLYBENCH, Arguments, Array, DType, GalleryKernel, grid


def _positive_definite(dtype: DType, n: int) -> Array:
    """B·Bᵀ of a unit lower triangular B, so that no pivot of a factorisation vanishes."""
    i, j = grid(n, n)
    lower = np.where(i == j, 1.0, np.where(j < i, 1.0 - j / n, 0.0))
    return (lower @ lower.T).astype(dtype)


def cholesky(A: Array) -> None:
    """The lower triangle of A becomes L with L·Lᵀ = A; the upper one keeps its values."""
    n = A.shape[0]
    for i in range(n):
        for j in range(i):
            for k in range(j):
                A[i, j] -= A[i, k] * A[j, k]
            A[i, j] /= A[j, j]
        for k in range(i):
            A[i, i] -= A[i, k] * A[i, k]
        A[i, i] = math.sqrt(A[i, i])


def _cholesky_data(dtype: DType, n: int) -> Arguments:
    return (_positive_definite(dtype, n),)


def durbin(r: Array, y: Array) -> None:
    """y := the solution of the Yule-Walker system T·y = −r of the symmetric Toeplitz matrix T = (1, r…)."""
    n = len(r)
    z = np.zeros(n, dtype=r.dtype)
    y[0] = -r[0]
    beta = 1.0
    alpha = -r[0]
    for k in range(1, n):
        beta = (1.0 - alpha * alpha) * beta
        total = 0.0
        for i in range(k):
            total += r[k - i - 1] * y[i]
        alpha = -(r[k] + total) / beta
        for i in range(k):
            z[i] = y[i] + alpha * y[k - i - 1]
        for i in range(k):
            y[i] = z[i]
        y[k] = alpha


def _durbin_data(dtype: DType, n: int) -> Arguments:
    return (n + 1 - np.arange(n)).astype(dtype), np.zeros(n, dtype)


def gramschmidt(m: int, n: int, A: Array, R: Array, Q: Array) -> None:
    """Q·R = A with orthonormal columns in Q, by the modified Gram-Schmidt process; A is used up."""
    for k in range(n):
        norm = 0.0
        for i in range(m):
            norm += A[i, k] * A[i, k]
        R[k, k] = math.sqrt(norm)
        for i in range(m):
            Q[i, k] = A[i, k] / R[k, k]
        for j in range(k + 1, n):
            R[k, j] = 0.0
            for i in range(m):
                R[k, j] += Q[i, k] * A[i, j]
            for i in range(m):
                A[i, j] = A[i, j] - Q[i, k] * R[k, j]


def _gramschmidt_data(dtype: DType, m: int, n: int) -> Arguments:
    i, j = grid(m, n)
    A = (i * j % m / m * 100 + 10).astype(dtype)
    return m, n, A, np.zeros((n, n), dtype), np.zeros((m, n), dtype)


def lu(n: int, A: Array) -> None:
    """A becomes its factors: U on and above the diagonal, L without its unit diagonal below."""
    for i in range(n):
        for j in range(i):
            for k in range(j):
                A[i, j] -= A[i, k] * A[k, j]
            A[i, j] /= A[j, j]
        for j in range(i, n):
            for k in range(i):
                A[i, j] -= A[i, k] * A[k, j]


def _lu_data(dtype: DType, n: int) -> Arguments:
    return n, _positive_definite(dtype, n)


def ludcmp(n: int, A: Array, b: Array, x: Array, y: Array) -> None:
    """x := the solution of A·x = b, by an LU factorisation in place and two substitutions."""
    for i in range(n):
        for j in range(i):
            w = A[i, j]
            for k in range(j):
                w -= A[i, k] * A[k, j]
            A[i, j] = w / A[j, j]
        for j in range(i, n):
            w = A[i, j]
            for k in range(i):
                w -= A[i, k] * A[k, j]
            A[i, j] = w
    for i in range(n):
        w = b[i]
        for j in range(i):
            w -= A[i, j] * y[j]
        y[i] = w
    for i in range(n - 1, -1, -1):
        w = y[i]
        for j in range(i + 1, n):
            w -= A[i, j] * x[j]
        x[i] = w / A[i, i]


def _ludcmp_data(dtype: DType, n: int) -> Arguments:
    b = ((np.arange(n) + 1) / n / 2.0 + 4).astype(dtype)
    return n, _positive_definite(dtype, n), b, np.zeros(n, dtype), np.zeros(n, dtype)


def trisolv(L: Array, x: Array, b: Array) -> None:
    """x := the solution of L·x = b for a lower triangular L, by forward substitution."""
    n = len(x)
    for i in range(n):
        x[i] = b[i]
        for j in range(i):
            x[i] -= L[i, j] * x[j]
        x[i] = x[i] / L[i, i]


def _trisolv_data(dtype: DType, n: int) -> Arguments:
    i, j = grid(n, n)
    L = np.where(j <= i, (i + n - j + 1) * 2 / n, 0.0).astype(dtype)
    return L, np.full(n, -999.0, dtype), np.arange(n).astype(dtype)


_kernel = partial(GalleryKernel, category="solver", source=f"{POLYBENCH}, linear-algebra/solvers")

_N = ((40,), (120,), (400,), (2000,), (4000,))

KERNELS = (
    _kernel(
        name="cholesky",
        function=cholesky,
        initialise=_cholesky_data,
        size_names=("n",),
        size_values=_N,
        outputs=("A",),
    ),
    _kernel(
        name="durbin",
        function=durbin,
        initialise=_durbin_data,
        size_names=("n",),
        size_values=_N,
        outputs=("y",),
        note="In float32 the residual grows with n: the official system is ill-conditioned.",
    ),
    _kernel(
        name="gramschmidt",
        function=gramschmidt,
        initialise=_gramschmidt_data,
        size_names=("m", "n"),
        size_values=((20, 30), (60, 80), (200, 240), (1000, 1200), (2000, 2600)),
        outputs=("R", "Q"),
        note=(
            "The official matrix has dependent columns. From the first one on, Q and R hold amplified rounding: "
            "only their product is stable under another order of summation. With a seed it has full rank: then that "
            "holds only for the columns beyond the number of rows."
        ),
        full_rank=True,
    ),
    _kernel(
        name="lu",
        function=lu,
        initialise=_lu_data,
        size_names=("n",),
        size_values=_N,
        outputs=("A",),
    ),
    _kernel(
        name="ludcmp",
        function=ludcmp,
        initialise=_ludcmp_data,
        size_names=("n",),
        size_values=_N,
        outputs=("x",),
    ),
    _kernel(
        name="trisolv",
        function=trisolv,
        initialise=_trisolv_data,
        size_names=("n",),
        size_values=_N,
        outputs=("x",),
    ),
)
