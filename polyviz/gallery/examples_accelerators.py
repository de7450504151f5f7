"""Teaching examples on separate schedules for the blocks and the threads of an accelerator.

They follow the kernels of the article on superposed schedules (PolyAST+GPU) that PolyBench does not hold already.
"""

import math
from functools import partial

import numpy as np

from polyviz.gallery.entry import Arguments, Array, DType, GalleryKernel, grid


def jacobi_2d_alt(tsteps: int, factor: float, A: Array, B: Array) -> None:
    """A three-point average along each row, so that no dependence crosses rows."""
    n = A.shape[0]
    for t in range(tsteps):
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                B[i, j] = factor * (A[i, j] + A[i, j - 1] + A[i, j + 1])
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                A[i, j] = B[i, j]


def _jacobi_2d_alt_data(dtype: DType, tsteps: int, n: int) -> Arguments:
    i, j = grid(n, n)
    A = ((i * (j + 2) + 2) / n).astype(dtype)
    return tsteps, dtype.type(1.0 / 3.0), A, np.zeros_like(A)


def doitgen_expanded(A: Array, C4: Array, acc: Array) -> None:
    """A[r, q, :] := A[r, q, :]·C4 for every r and q, with one buffer row for each of them."""
    nr, nq, ns = A.shape
    for r in range(nr):
        for q in range(nq):
            for p in range(ns):
                acc[r, q, p] = 0.0
                for s in range(ns):
                    acc[r, q, p] += A[r, q, s] * C4[s, p]
            for p in range(ns):
                A[r, q, p] = acc[r, q, p]


def _doitgen_expanded_data(dtype: DType, nr: int, nq: int, ns: int) -> Arguments:
    r, q, s = grid(nr, nq, ns)
    A = ((r * q + s) % ns / ns).astype(dtype)
    s, p = grid(ns, ns)
    return A, (s * p % ns / ns).astype(dtype), np.zeros_like(A)


def symm_expanded(alpha: float, beta: float, C: Array, A: Array, B: Array, acc: Array) -> None:
    """C := alpha·A·B + beta·C for a symmetric A, with one accumulator for each element of C."""
    m, n = C.shape
    for i in range(m):
        for j in range(n):
            acc[i, j] = 0.0
            for k in range(i):
                C[k, j] += alpha * B[i, j] * A[i, k]
                acc[i, j] += B[k, j] * A[i, k]
            C[i, j] = beta * C[i, j] + alpha * B[i, j] * A[i, i] + alpha * acc[i, j]


def _symm_expanded_data(dtype: DType, m: int, n: int) -> Arguments:
    i, j = grid(m, n)
    C, B = ((i + j) % 100 / m).astype(dtype), ((n + i - j) % 100 / m).astype(dtype)
    i, j = grid(m, m)
    A = np.where(j <= i, (i + j) % 100 / m, -999.0).astype(dtype)
    return dtype.type(1.5), dtype.type(1.2), C, A, B, np.zeros_like(C)


def mri_q(
    kx: Array,
    ky: Array,
    kz: Array,
    magnitude: Array,
    x: Array,
    y: Array,
    z: Array,
    real: Array,
    imaginary: Array,
) -> None:
    """The Q matrix of an image reconstruction: for each voxel, the sum of a phase over all sample points."""
    for v in range(len(x)):
        for k in range(len(kx)):
            angle = 2.0 * math.pi * (kx[k] * x[v] + ky[k] * y[v] + kz[k] * z[v])
            real[v] += magnitude[k] * math.cos(angle)
            imaginary[v] += magnitude[k] * math.sin(angle)


def _mri_q_data(dtype: DType, voxels: int, samples: int) -> Arguments:
    sample = np.arange(samples) / samples
    voxel = np.arange(voxels) / voxels
    trajectory = (sample.astype(dtype), (sample**2).astype(dtype), (1.0 - sample).astype(dtype))
    position = (voxel.astype(dtype), (voxel / 2).astype(dtype), (voxel**2).astype(dtype))
    magnitude = (1.0 + sample % 0.3).astype(dtype)
    return *trajectory, magnitude, *position, np.zeros(voxels, dtype), np.zeros(voxels, dtype)


def sp_xsolve_1(lhs: Array, rhs: Array) -> None:
    """Forward elimination of a penta-diagonal system along each line in x, for three right-hand sides."""
    nk = lhs.shape[1]
    nj = lhs.shape[2]
    ni = lhs.shape[3]
    for k in range(nk):
        for i in range(ni - 2):
            for j in range(nj):
                pivot = 1.0 / lhs[2, k, j, i]
                lhs[3, k, j, i] = pivot * lhs[3, k, j, i]
                lhs[4, k, j, i] = pivot * lhs[4, k, j, i]
                for m in range(3):
                    rhs[m, k, j, i] = pivot * rhs[m, k, j, i]
                lhs[2, k, j, i + 1] -= lhs[1, k, j, i + 1] * lhs[3, k, j, i]
                lhs[3, k, j, i + 1] -= lhs[1, k, j, i + 1] * lhs[4, k, j, i]
                for m in range(3):
                    rhs[m, k, j, i + 1] -= lhs[1, k, j, i + 1] * rhs[m, k, j, i]
                lhs[1, k, j, i + 2] -= lhs[0, k, j, i + 2] * lhs[3, k, j, i]
                lhs[2, k, j, i + 2] -= lhs[0, k, j, i + 2] * lhs[4, k, j, i]
                for m in range(3):
                    rhs[m, k, j, i + 2] -= lhs[0, k, j, i + 2] * rhs[m, k, j, i]
        for j in range(nj):
            pivot = 1.0 / lhs[2, k, j, ni - 2]
            lhs[3, k, j, ni - 2] = pivot * lhs[3, k, j, ni - 2]
            for m in range(3):
                rhs[m, k, j, ni - 2] = pivot * rhs[m, k, j, ni - 2]
            lhs[2, k, j, ni - 1] -= lhs[1, k, j, ni - 1] * lhs[3, k, j, ni - 2]
            for m in range(3):
                rhs[m, k, j, ni - 1] -= lhs[1, k, j, ni - 1] * rhs[m, k, j, ni - 2]
                rhs[m, k, j, ni - 1] = rhs[m, k, j, ni - 1] / lhs[2, k, j, ni - 1]


def sp_xsolve_3(lhs: Array, rhs: Array) -> None:
    """Back substitution of a penta-diagonal system along each line in x, for three right-hand sides."""
    nk = lhs.shape[1]
    nj = lhs.shape[2]
    ni = lhs.shape[3]
    for k in range(nk):
        for m in range(3):
            for j in range(nj):
                rhs[m, k, j, ni - 2] -= lhs[3, k, j, ni - 2] * rhs[m, k, j, ni - 1]
        for m in range(3):
            for i in range(ni - 3, -1, -1):
                for j in range(nj):
                    rhs[m, k, j, i] -= (
                        lhs[3, k, j, i] * rhs[m, k, j, i + 1] + lhs[4, k, j, i] * rhs[m, k, j, i + 2]
                    )


def _sp_xsolve_data(dtype: DType, nk: int, nj: int, ni: int) -> Arguments:
    diagonal, k, j, i = grid(5, nk, nj, ni)
    # A dominant diagonal keeps every pivot away from zero.
    lhs = np.where(diagonal == 2, 6.0, -1.0 + (diagonal + k + 2 * j + 3 * i) % 7 / 14).astype(dtype)
    m, k, j, i = grid(3, nk, nj, ni)
    return lhs, ((m + k + j + i) % 5 + 1.0).astype(dtype)


_kernel = partial(GalleryKernel, category="accelerator", source="superposed schedules, table 2")
_LINES = ((3, 4, 9), (8, 10, 20), (32, 64, 64))

KERNELS = (
    _kernel(
        name="jacobi-2d-alt",
        function=jacobi_2d_alt,
        initialise=_jacobi_2d_alt_data,
        size_names=("tsteps", "n"),
        size_values=((4, 13), (20, 60), (200, 500)),
        outputs=("A",),
    ),
    _kernel(
        name="doitgen-expanded",
        function=doitgen_expanded,
        initialise=_doitgen_expanded_data,
        size_names=("nr", "nq", "ns"),
        size_values=((4, 5, 6), (20, 25, 30), (50, 40, 60)),
        outputs=("A",),
    ),
    _kernel(
        name="symm-expanded",
        function=symm_expanded,
        initialise=_symm_expanded_data,
        size_names=("m", "n"),
        size_values=((9, 12), (60, 80), (200, 240)),
        outputs=("C",),
    ),
    _kernel(
        name="mri-q",
        function=mri_q,
        initialise=_mri_q_data,
        size_names=("voxels", "samples"),
        size_values=((20, 13), (120, 100), (4096, 2048)),
        outputs=("real", "imaginary"),
    ),
    _kernel(
        name="sp-xsolve-1",
        function=sp_xsolve_1,
        initialise=_sp_xsolve_data,
        size_names=("nk", "nj", "ni"),
        size_values=_LINES,
        outputs=("lhs", "rhs"),
        note="Written from the definition of penta-diagonal elimination, with the extents of its table as axes.",
    ),
    _kernel(
        name="sp-xsolve-3",
        function=sp_xsolve_3,
        initialise=_sp_xsolve_data,
        size_names=("nk", "nj", "ni"),
        size_values=_LINES,
        outputs=("rhs",),
        note="Written from the definition of penta-diagonal elimination, with the extents of its table as axes.",
    ),
)
