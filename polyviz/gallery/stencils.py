"""The six stencils of PolyBench 4.2.1: explicit, implicit and in-place sweeps over regular grids."""

from functools import partial

import numpy as np

from polyviz.gallery.entry import POLYBENCH, Arguments, Array, DType, GalleryKernel, grid


def adi(tsteps: int, n: int, u: Array, v: Array, p: Array, q: Array) -> None:
    """u := the two-dimensional heat equation after tsteps steps of the alternating direction implicit method."""
    dx = 1.0 / n
    dy = 1.0 / n
    dt = 1.0 / tsteps
    mul1 = 2.0 * dt / (dx * dx)
    mul2 = 1.0 * dt / (dy * dy)
    a = -mul1 / 2.0
    b = 1.0 + mul1
    c = a
    d = -mul2 / 2.0
    e = 1.0 + mul2
    f = d
    for t in range(1, tsteps + 1):
        for i in range(1, n - 1):
            v[0, i] = 1.0
            p[i, 0] = 0.0
            q[i, 0] = v[0, i]
            for j in range(1, n - 1):
                p[i, j] = -c / (a * p[i, j - 1] + b)
                q[i, j] = (
                    -d * u[j, i - 1] + (1.0 + 2.0 * d) * u[j, i] - f * u[j, i + 1] - a * q[i, j - 1]
                ) / (a * p[i, j - 1] + b)
            v[n - 1, i] = 1.0
            for j in range(n - 2, 0, -1):
                v[j, i] = p[i, j] * v[j + 1, i] + q[i, j]
        for i in range(1, n - 1):
            u[i, 0] = 1.0
            p[i, 0] = 0.0
            q[i, 0] = u[i, 0]
            for j in range(1, n - 1):
                p[i, j] = -f / (d * p[i, j - 1] + e)
                q[i, j] = (
                    -a * v[i - 1, j] + (1.0 + 2.0 * a) * v[i, j] - c * v[i + 1, j] - d * q[i, j - 1]
                ) / (d * p[i, j - 1] + e)
            u[i, n - 1] = 1.0
            for j in range(n - 2, 0, -1):
                u[i, j] = p[i, j] * u[i, j + 1] + q[i, j]


def _adi_data(dtype: DType, tsteps: int, n: int) -> Arguments:
    i, j = grid(n, n)
    u = ((i + n - j) / n).astype(dtype)
    return tsteps, n, u, *(np.zeros((n, n), dtype) for _ in range(3))


def fdtd_2d(tmax: int, ex: Array, ey: Array, hz: Array, fict: Array) -> None:
    """An electromagnetic wave in two dimensions by finite differences in time and space, driven by fict."""
    nx, ny = hz.shape
    for t in range(tmax):
        for j in range(ny):
            ey[0, j] = fict[t]
        for i in range(1, nx):
            for j in range(ny):
                ey[i, j] = ey[i, j] - 0.5 * (hz[i, j] - hz[i - 1, j])
        for i in range(nx):
            for j in range(1, ny):
                ex[i, j] = ex[i, j] - 0.5 * (hz[i, j] - hz[i, j - 1])
        for i in range(nx - 1):
            for j in range(ny - 1):
                hz[i, j] = hz[i, j] - 0.7 * (ex[i, j + 1] - ex[i, j] + ey[i + 1, j] - ey[i, j])


def _fdtd_2d_data(dtype: DType, tmax: int, nx: int, ny: int) -> Arguments:
    i, j = grid(nx, ny)
    ex = (i * (j + 1) / nx).astype(dtype)
    ey = (i * (j + 2) / ny).astype(dtype)
    hz = (i * (j + 3) / nx).astype(dtype)
    return tmax, ex, ey, hz, np.arange(tmax).astype(dtype)


def heat_3d(tsteps: int, n: int, A: Array, B: Array) -> None:
    """The heat equation on a cube by an explicit seven-point stencil, two half steps per time step."""
    for t in range(1, tsteps + 1):
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                for k in range(1, n - 1):
                    B[i, j, k] = (
                        0.125 * (A[i + 1, j, k] - 2.0 * A[i, j, k] + A[i - 1, j, k])
                        + 0.125 * (A[i, j + 1, k] - 2.0 * A[i, j, k] + A[i, j - 1, k])
                        + 0.125 * (A[i, j, k + 1] - 2.0 * A[i, j, k] + A[i, j, k - 1])
                        + A[i, j, k]
                    )
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                for k in range(1, n - 1):
                    A[i, j, k] = (
                        0.125 * (B[i + 1, j, k] - 2.0 * B[i, j, k] + B[i - 1, j, k])
                        + 0.125 * (B[i, j + 1, k] - 2.0 * B[i, j, k] + B[i, j - 1, k])
                        + 0.125 * (B[i, j, k + 1] - 2.0 * B[i, j, k] + B[i, j, k - 1])
                        + B[i, j, k]
                    )


def _heat_3d_data(dtype: DType, tsteps: int, n: int) -> Arguments:
    i, j, k = grid(n, n, n)
    A = ((i + j + (n - k)) * 10 / n).astype(dtype)
    return tsteps, n, A, A.copy()


def jacobi_1d(tsteps: int, A: Array, B: Array) -> None:
    """A three-point average along a line, back and forth between two arrays."""
    n = len(A)
    for t in range(tsteps):
        for i in range(1, n - 1):
            B[i] = 0.33333 * (A[i - 1] + A[i] + A[i + 1])
        for i in range(1, n - 1):
            A[i] = 0.33333 * (B[i - 1] + B[i] + B[i + 1])


def _jacobi_1d_data(dtype: DType, tsteps: int, n: int) -> Arguments:
    index = np.arange(n)
    return tsteps, ((index + 2) / n).astype(dtype), ((index + 3) / n).astype(dtype)


def jacobi_2d(tsteps: int, A: Array, B: Array) -> None:
    """A five-point average over a square, back and forth between two arrays."""
    n = A.shape[0]
    for t in range(tsteps):
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                B[i, j] = 0.2 * (A[i, j] + A[i, j - 1] + A[i, 1 + j] + A[1 + i, j] + A[i - 1, j])
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                A[i, j] = 0.2 * (B[i, j] + B[i, j - 1] + B[i, 1 + j] + B[1 + i, j] + B[i - 1, j])


def _jacobi_2d_data(dtype: DType, tsteps: int, n: int) -> Arguments:
    i, j = grid(n, n)
    return tsteps, ((i * (j + 2) + 2) / n).astype(dtype), ((i * (j + 3) + 3) / n).astype(dtype)


def seidel_2d(tsteps: int, n: int, A: Array) -> None:
    """A nine-point average over a square, in place, so that each point sees new values above and to the left."""
    for t in range(tsteps):
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                A[i, j] = (
                    A[i - 1, j - 1]
                    + A[i - 1, j]
                    + A[i - 1, j + 1]
                    + A[i, j - 1]
                    + A[i, j]
                    + A[i, j + 1]
                    + A[i + 1, j - 1]
                    + A[i + 1, j]
                    + A[i + 1, j + 1]
                ) / 9.0


def _seidel_2d_data(dtype: DType, tsteps: int, n: int) -> Arguments:
    i, j = grid(n, n)
    return tsteps, n, ((i * (j + 2) + 2) / n).astype(dtype)


_kernel = partial(GalleryKernel, category="stencil", source=f"{POLYBENCH}, stencils")

_FIXED_POINT = (
    "The official data are a fixed point: every order of the points gives them back. Verify with a seed."
)

KERNELS = (
    _kernel(
        name="adi",
        function=adi,
        initialise=_adi_data,
        size_names=("tsteps", "n"),
        size_values=((20, 20), (40, 60), (100, 200), (500, 1000), (1000, 2000)),
        outputs=("u",),
    ),
    _kernel(
        name="fdtd-2d",
        function=fdtd_2d,
        initialise=_fdtd_2d_data,
        size_names=("tmax", "nx", "ny"),
        size_values=((20, 20, 30), (40, 60, 80), (100, 200, 240), (500, 1000, 1200), (1000, 2000, 2600)),
        outputs=("ex", "ey", "hz"),
    ),
    _kernel(
        name="heat-3d",
        function=heat_3d,
        initialise=_heat_3d_data,
        size_names=("tsteps", "n"),
        size_values=((20, 10), (40, 20), (100, 40), (500, 120), (1000, 200)),
        outputs=("A",),
        note=_FIXED_POINT,
    ),
    _kernel(
        name="jacobi-1d",
        function=jacobi_1d,
        initialise=_jacobi_1d_data,
        size_names=("tsteps", "n"),
        size_values=((20, 30), (40, 120), (100, 400), (500, 2000), (1000, 4000)),
        outputs=("A",),
    ),
    _kernel(
        name="jacobi-2d",
        function=jacobi_2d,
        initialise=_jacobi_2d_data,
        size_names=("tsteps", "n"),
        size_values=((20, 30), (40, 90), (100, 250), (500, 1300), (1000, 2800)),
        outputs=("A",),
    ),
    _kernel(
        name="seidel-2d",
        function=seidel_2d,
        initialise=_seidel_2d_data,
        size_names=("tsteps", "n"),
        size_values=((20, 40), (40, 120), (100, 400), (500, 2000), (1000, 4000)),
        outputs=("A",),
        note=_FIXED_POINT,
    ),
)
