"""The six linear algebra kernels of PolyBench 4.2.1: chained products and pairs of matrix-vector products."""

from functools import partial

import numpy as np

from polyviz.gallery.entry import POLYBENCH, Arguments, Array, DType, GalleryKernel, grid


def two_mm(alpha: float, beta: float, tmp: Array, A: Array, B: Array, C: Array, D: Array) -> None:
    """D := alpha·A·B·C + beta·D."""
    ni, nk = A.shape
    nj, nl = C.shape
    for i in range(ni):
        for j in range(nj):
            tmp[i, j] = 0.0
            for k in range(nk):
                tmp[i, j] += alpha * A[i, k] * B[k, j]
    for i in range(ni):
        for j in range(nl):
            D[i, j] *= beta
            for k in range(nj):
                D[i, j] += tmp[i, k] * C[k, j]


def _two_mm_data(dtype: DType, ni: int, nj: int, nk: int, nl: int) -> Arguments:
    i, j = grid(ni, nk)
    A = ((i * j + 1) % ni / ni).astype(dtype)
    i, j = grid(nk, nj)
    B = (i * (j + 1) % nj / nj).astype(dtype)
    i, j = grid(nj, nl)
    C = ((i * (j + 3) + 1) % nl / nl).astype(dtype)
    i, j = grid(ni, nl)
    D = (i * (j + 2) % nk / nk).astype(dtype)
    return dtype.type(1.5), dtype.type(1.2), np.zeros((ni, nj), dtype), A, B, C, D


def three_mm(
    ni: int,
    nj: int,
    nk: int,
    nl: int,
    nm: int,
    E: Array,
    A: Array,
    B: Array,
    F: Array,
    C: Array,
    D: Array,
    G: Array,
) -> None:
    """G := (A·B)·(C·D), with both inner products kept in E and F."""
    for i in range(ni):
        for j in range(nj):
            E[i, j] = 0.0
            for k in range(nk):
                E[i, j] += A[i, k] * B[k, j]
    for i in range(nj):
        for j in range(nl):
            F[i, j] = 0.0
            for k in range(nm):
                F[i, j] += C[i, k] * D[k, j]
    for i in range(ni):
        for j in range(nl):
            G[i, j] = 0.0
            for k in range(nj):
                G[i, j] += E[i, k] * F[k, j]


def _three_mm_data(dtype: DType, ni: int, nj: int, nk: int, nl: int, nm: int) -> Arguments:
    i, j = grid(ni, nk)
    A = ((i * j + 1) % ni / (5 * ni)).astype(dtype)
    i, j = grid(nk, nj)
    B = ((i * (j + 1) + 2) % nj / (5 * nj)).astype(dtype)
    i, j = grid(nj, nm)
    C = (i * (j + 3) % nl / (5 * nl)).astype(dtype)
    i, j = grid(nm, nl)
    D = ((i * (j + 2) + 2) % nk / (5 * nk)).astype(dtype)
    E, F, G = (np.zeros(shape, dtype) for shape in ((ni, nj), (nj, nl), (ni, nl)))
    return ni, nj, nk, nl, nm, E, A, B, F, C, D, G


def atax(A: Array, x: Array, y: Array, tmp: Array) -> None:
    """y := Aᵀ·(A·x)."""
    m, n = A.shape
    for i in range(n):
        y[i] = 0.0
    for i in range(m):
        tmp[i] = 0.0
        for j in range(n):
            tmp[i] = tmp[i] + A[i, j] * x[j]
        for j in range(n):
            y[j] = y[j] + A[i, j] * tmp[i]


def _atax_data(dtype: DType, m: int, n: int) -> Arguments:
    i, j = grid(m, n)
    A = ((i + j) % n / (5 * m)).astype(dtype)
    x = (1 + np.arange(n) / n).astype(dtype)
    return A, x, np.zeros(n, dtype), np.zeros(m, dtype)


def bicg(m: int, n: int, A: Array, s: Array, q: Array, p: Array, r: Array) -> None:
    """s := Aᵀ·r and q := A·p, the two products of a step of the biconjugate gradient method."""
    for i in range(m):
        s[i] = 0.0
    for i in range(n):
        q[i] = 0.0
        for j in range(m):
            s[j] = s[j] + r[i] * A[i, j]
            q[i] = q[i] + A[i, j] * p[j]


def _bicg_data(dtype: DType, m: int, n: int) -> Arguments:
    i, j = grid(n, m)
    A = (i * (j + 1) % n / n).astype(dtype)
    p = (np.arange(m) % m / m).astype(dtype)
    r = (np.arange(n) % n / n).astype(dtype)
    return m, n, A, np.zeros(m, dtype), np.zeros(n, dtype), p, r


def doitgen(A: Array, C4: Array, acc: Array) -> None:
    """A[r, q, :] := A[r, q, :]·C4 for every r and q, through one row buffer."""
    nr, nq, np_ = A.shape
    for r in range(nr):
        for q in range(nq):
            for p in range(np_):
                acc[p] = 0.0
                for s in range(np_):
                    acc[p] += A[r, q, s] * C4[s, p]
            for p in range(np_):
                A[r, q, p] = acc[p]


def _doitgen_data(dtype: DType, nq: int, nr: int, np_: int) -> Arguments:
    r, q, p = grid(nr, nq, np_)
    A = ((r * q + p) % np_ / np_).astype(dtype)
    s, p = grid(np_, np_)
    C4 = (s * p % np_ / np_).astype(dtype)
    return A, C4, np.zeros(np_, dtype)


def mvt(x1: Array, x2: Array, y_1: Array, y_2: Array, A: Array) -> None:
    """x1 := x1 + A·y_1 and x2 := x2 + Aᵀ·y_2."""
    n = x1.shape[0]
    for i in range(n):
        for j in range(n):
            x1[i] = x1[i] + A[i][j] * y_1[j]
    for i in range(n):
        for j in range(n):
            x2[i] = x2[i] + A[j][i] * y_2[j]


def _mvt_data(dtype: DType, n: int) -> Arguments:
    index = np.arange(n)
    x1, x2, y_1, y_2 = (((index + shift) % n / n).astype(dtype) for shift in (0, 1, 3, 4))
    i, j = grid(n, n)
    return x1, x2, y_1, y_2, (i * j % n / n).astype(dtype)


_kernel = partial(GalleryKernel, category="linear algebra", source=f"{POLYBENCH}, linear-algebra/kernels")

# The largest set of these two is narrower than the one before it: so it stands in the official table.
_MATRIX_VECTOR = ((38, 42), (116, 124), (390, 410), (1900, 2100), (1800, 2200))

KERNELS = (
    _kernel(
        name="2mm",
        function=two_mm,
        initialise=_two_mm_data,
        size_names=("ni", "nj", "nk", "nl"),
        size_values=(
            (16, 18, 22, 24),
            (40, 50, 70, 80),
            (180, 190, 210, 220),
            (800, 900, 1100, 1200),
            (1600, 1800, 2200, 2400),
        ),
        outputs=("D",),
    ),
    _kernel(
        name="3mm",
        function=three_mm,
        initialise=_three_mm_data,
        size_names=("ni", "nj", "nk", "nl", "nm"),
        size_values=(
            (16, 18, 20, 22, 24),
            (40, 50, 60, 70, 80),
            (180, 190, 200, 210, 220),
            (800, 900, 1000, 1100, 1200),
            (1600, 1800, 2000, 2200, 2400),
        ),
        outputs=("G",),
    ),
    _kernel(
        name="atax",
        function=atax,
        initialise=_atax_data,
        size_names=("m", "n"),
        size_values=_MATRIX_VECTOR,
        outputs=("y",),
    ),
    _kernel(
        name="bicg",
        function=bicg,
        initialise=_bicg_data,
        size_names=("m", "n"),
        size_values=_MATRIX_VECTOR,
        outputs=("s", "q"),
    ),
    _kernel(
        name="doitgen",
        function=doitgen,
        initialise=_doitgen_data,
        size_names=("nq", "nr", "np_"),
        size_values=((8, 10, 12), (20, 25, 30), (40, 50, 60), (140, 150, 160), (220, 250, 270)),
        outputs=("A",),
    ),
    _kernel(
        name="mvt",
        function=mvt,
        initialise=_mvt_data,
        size_names=("n",),
        size_values=((40,), (120,), (400,), (2000,), (4000,)),
        outputs=("x1", "x2"),
    ),
)
