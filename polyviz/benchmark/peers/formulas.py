"""The kernels for which NumPy and BLAS have the call: the same result by matrix and vector operations, in place.

Each function takes the arguments of the gallery's kernel of its name and leaves the same values in all of them.
``SCIPY`` formulas need the BLAS of SciPy, which has calls for symmetric and triangular matrices that NumPy lacks.
"""

# ruff: noqa: N803, N806 (the arrays keep the names of the kernels)

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

Array: TypeAlias = npt.NDArray[Any]
Formula = Callable[..., None]


def _blas(name: str, array: Array) -> Any:
    """The call of SciPy's BLAS for elements as those of ``array``; looked for here: polyviz does not need SciPy."""
    return import_module("scipy.linalg.blas").get_blas_funcs(name, (array,))


def gemm(alpha: float, beta: float, C: Array, A: Array, B: Array) -> None:
    """One product."""
    C *= beta
    C += alpha * (A @ B)


def two_mm(alpha: float, beta: float, tmp: Array, A: Array, B: Array, C: Array, D: Array) -> None:
    """Two products."""
    np.matmul(alpha * A, B, out=tmp)
    D *= beta
    D += tmp @ C


def three_mm(*arguments: Any) -> None:
    """Three products."""
    E, A, B, F, C, D, G = arguments[5:]
    np.matmul(A, B, out=E)
    np.matmul(C, D, out=F)
    np.matmul(E, F, out=G)


def atax(A: Array, x: Array, y: Array, tmp: Array) -> None:
    """Two matrix-vector products."""
    np.matmul(A, x, out=tmp)
    np.matmul(tmp, A, out=y)


def bicg(m: int, n: int, A: Array, s: Array, q: Array, p: Array, r: Array) -> None:
    """Two matrix-vector products."""
    np.matmul(r, A, out=s)
    np.matmul(A, p, out=q)


def mvt(x1: Array, x2: Array, y_1: Array, y_2: Array, A: Array) -> None:
    """Two matrix-vector products."""
    x1 += A @ y_1
    x2 += y_2 @ A


def gesummv(alpha: float, beta: float, A: Array, B: Array, tmp: Array, x: Array, y: Array) -> None:
    """Two matrix-vector products."""
    np.matmul(A, x, out=tmp)
    np.matmul(B, x, out=y)
    y *= beta
    y += alpha * tmp


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
    """A rank-2 update as one product, and two matrix-vector products."""
    A += np.column_stack((u1, u2)) @ np.vstack((v1, v2))
    x += beta * (y @ A)
    x += z
    w += alpha * (A @ x)


def doitgen(A: Array, C4: Array, acc: Array) -> None:
    """One product of the reshaped array."""
    flat = A.reshape(-1, A.shape[2])
    flat[...] = flat @ C4
    acc[...] = flat[-1]


def covariance(m: int, n: int, float_n: float, data: Array, cov: Array, mean: Array) -> None:
    """Column means and one product."""
    mean[...] = data.sum(axis=0) / float_n
    data -= mean
    np.matmul(data.T, data, out=cov)
    cov /= float_n - 1.0


def correlation(float_n: float, data: Array, corr: Array, mean: Array, stddev: Array) -> None:
    """Column statistics and one product."""
    mean[...] = data.sum(axis=0) / float_n
    data -= mean
    stddev[...] = np.sqrt((data * data).sum(axis=0) / float_n)
    stddev[stddev <= 0.1] = 1.0
    data /= np.sqrt(float_n) * stddev
    np.matmul(data.T, data, out=corr)
    np.fill_diagonal(corr, 1.0)


def cholesky(A: Array) -> None:
    """LAPACK's factorisation; the upper triangle keeps its values."""
    lower = np.tri(len(A), dtype=bool)
    np.copyto(A, np.linalg.cholesky(A), where=lower)


def syrk(alpha: float, beta: float, C: Array, A: Array) -> None:
    """BLAS syrk; in its column order, the lower triangle is the upper one of the transposed matrix."""
    _blas("syrk", C)(alpha, A.T, beta=beta, c=C.T, trans=1, lower=0, overwrite_c=1)


def syr2k(alpha: float, beta: float, C: Array, A: Array, B: Array) -> None:
    """BLAS syr2k, transposed as syrk."""
    _blas("syr2k", C)(alpha, A.T, B.T, beta=beta, c=C.T, trans=1, lower=0, overwrite_c=1)


def trmm(alpha: float, A: Array, B: Array) -> None:
    """BLAS trmm with the transposed unit lower triangle, from the right in its column order."""
    _blas("trmm", B)(alpha, A.T, B.T, side=1, lower=0, trans_a=1, diag=1, overwrite_b=1)


def trisolv(L: Array, x: Array, b: Array) -> None:
    """BLAS trsv."""
    x[...] = _blas("trsv", L)(L.T, b, lower=0, trans=1)


NUMPY: dict[str, Formula] = {
    "gemm": gemm,
    "2mm": two_mm,
    "3mm": three_mm,
    "atax": atax,
    "bicg": bicg,
    "mvt": mvt,
    "gesummv": gesummv,
    "gemver": gemver,
    "doitgen": doitgen,
    "covariance": covariance,
    "correlation": correlation,
    "cholesky": cholesky,
}

SCIPY: dict[str, Formula] = {"syrk": syrk, "syr2k": syr2k, "trmm": trmm, "trisolv": trisolv}
