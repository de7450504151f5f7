"""Teaching examples on recipes of loop transformations: recurrences, stencils, a smoother and a matrix product.

They follow the illustrations of the article on polyhedral and syntax-tree transformations in CHiLL (2016).
"""

from functools import partial

import numpy as np

from polyviz.gallery.entry import Arguments, Array, DType, GalleryKernel, grid


def recurrence(a: Array) -> None:
    """a[i + 1] := a[i]: a dependence of distance one, which forbids reversal."""
    for i in range(len(a) - 1):
        a[i + 1] = a[i]


def _recurrence_data(dtype: DType, n: int) -> Arguments:
    return ((1 + np.arange(n)).astype(dtype),)


def diagonal_shift(a: Array) -> None:
    """a[i, j] := a[i − 1, j + 1]: the distance (1, −1) becomes (1, 0) by skewing."""
    n, m = a.shape
    for i in range(1, n):
        for j in range(m - 1):
            a[i, j] = a[i - 1, j + 1]


def _diagonal_shift_data(dtype: DType, n: int, m: int) -> Arguments:
    i, j = grid(n, m)
    return ((i * m + j).astype(dtype),)


def time_line(A: Array) -> None:
    """A[t, k] := a weighted mean of five neighbours at t − 1: order by k needs a skew by at least twice t."""
    steps, n = A.shape
    for t in range(1, steps):
        for k in range(2, n - 2):
            A[t, k] = (
                0.1 * A[t - 1, k - 2]
                + 0.2 * A[t - 1, k - 1]
                + 0.4 * A[t - 1, k]
                + 0.2 * A[t - 1, k + 1]
                + 0.1 * A[t - 1, k + 2]
            )


def _time_line_data(dtype: DType, steps: int, n: int) -> Arguments:
    t, k = grid(steps, n)
    return (np.where((t == 0) | (k < 2) | (k >= n - 2), k % 7 / 7, 0.0).astype(dtype),)


def transposed_accumulation(a: Array, b: Array, c: Array) -> None:
    """c[j, i] += a[k, i]·b[j, k], a matrix product with column-major subscripts."""
    n = len(c)
    for i in range(n):
        for j in range(n):
            for k in range(n):
                c[j, i] += a[k, i] * b[j, k]


def _transposed_accumulation_data(dtype: DType, n: int) -> Arguments:
    i, j = grid(n, n)
    a, b = ((i + 2 * j) % 9 / 9).astype(dtype), ((3 * i + j) % 7 / 7).astype(dtype)
    return a, b, np.ones((n, n), dtype)


def stencil_1d_3(source: Array, target: Array, w1: float, w2: float) -> None:
    """target := a three-point stencil of source with mirrored weights."""
    for i in range(1, len(source) - 1):
        target[i] = w1 * source[i] + w2 * (source[i - 1] + source[i + 1])


def _stencil_1d_3_data(dtype: DType, n: int) -> Arguments:
    source = np.sin(np.arange(n)).astype(dtype)
    return source, np.zeros_like(source), dtype.type(0.5), dtype.type(0.25)


def stencil_2d_9(source: Array, target: Array, w1: float, w2: float, w3: float) -> None:
    """target := a nine-point stencil of source, one weight for the centre, the edges and the corners each."""
    n, m = source.shape
    for j in range(1, n - 1):
        for i in range(1, m - 1):
            target[j, i] = (
                w1 * source[j, i]
                + w2 * (source[j, i - 1] + source[j, i + 1] + source[j - 1, i] + source[j + 1, i])
                + w3
                * (source[j - 1, i - 1] + source[j - 1, i + 1] + source[j + 1, i - 1] + source[j + 1, i + 1])
            )


def _stencil_2d_9_data(dtype: DType, n: int, m: int) -> Arguments:
    source = np.sin(np.arange(n * m)).reshape(n, m).astype(dtype)
    return source, np.zeros_like(source), dtype.type(0.5), dtype.type(0.1), dtype.type(0.025)


def stencil_3d_27(source: Array, target: Array, w1: float, w2: float, w3: float, w4: float) -> None:
    """target := a 27-point stencil of source, one weight per kind of neighbour: centre, faces, edges, corners."""
    n = source.shape[0]
    for k in range(1, n - 1):
        for j in range(1, n - 1):
            for i in range(1, n - 1):
                target[k, j, i] = (
                    w1 * source[k, j, i]
                    + w2 * (source[k, j, i - 1] + source[k, j, i + 1])
                    + w2 * (source[k, j - 1, i] + source[k, j + 1, i])
                    + w2 * (source[k - 1, j, i] + source[k + 1, j, i])
                    + w3 * (source[k, j - 1, i - 1] + source[k, j - 1, i + 1])
                    + w3 * (source[k, j + 1, i - 1] + source[k, j + 1, i + 1])
                    + w3 * (source[k - 1, j, i - 1] + source[k - 1, j, i + 1])
                    + w3 * (source[k + 1, j, i - 1] + source[k + 1, j, i + 1])
                    + w3 * (source[k - 1, j - 1, i] + source[k - 1, j + 1, i])
                    + w3 * (source[k + 1, j - 1, i] + source[k + 1, j + 1, i])
                    + w4 * (source[k - 1, j - 1, i - 1] + source[k - 1, j - 1, i + 1])
                    + w4 * (source[k - 1, j + 1, i - 1] + source[k - 1, j + 1, i + 1])
                    + w4 * (source[k + 1, j - 1, i - 1] + source[k + 1, j - 1, i + 1])
                    + w4 * (source[k + 1, j + 1, i - 1] + source[k + 1, j + 1, i + 1])
                )


def _stencil_3d_27_data(dtype: DType, n: int) -> Arguments:
    source = np.sin(np.arange(n**3)).reshape(n, n, n).astype(dtype)
    weights = (dtype.type(weight) for weight in (0.25, 0.07, 0.02, 0.01))
    return source, np.zeros_like(source), *weights


def stencil_3d_125(source: Array, target: Array, weights: Array) -> None:
    """target := the stencil of source over a box of radius two, with the weights in an array."""
    n = target.shape[0]
    for k in range(n):
        for j in range(n):
            for i in range(n):
                target[k, j, i] = 0.0
                for c in range(5):
                    for b in range(5):
                        for a in range(5):
                            target[k, j, i] += weights[c, b, a] * source[k + c, j + b, i + a]


def _stencil_3d_125_data(dtype: DType, n: int) -> Arguments:
    source = np.sin(np.arange((n + 4) ** 3)).reshape(n + 4, n + 4, n + 4).astype(dtype)
    c, b, a = grid(5, 5, 5)
    weights = 1.0 / (1.0 + (c - 2) ** 2 + (b - 2) ** 2 + (a - 2) ** 2)
    return source, np.zeros((n, n, n), dtype), weights.astype(dtype)


def red_black_smoother(
    sweeps: int,
    shift: float,
    alpha: Array,
    beta_i: Array,
    beta_j: Array,
    beta_k: Array,
    relaxation: Array,
    rhs: Array,
    phi: Array,
    temp: Array,
) -> None:
    """Gauss-Seidel sweeps of alternating colour with variable coefficients, each on a box one layer smaller."""
    n = phi.shape[0]
    for t in range(sweeps):
        for k in range(t + 1, n - 1 - t):
            for j in range(t + 1, n - 1 - t):
                for i in range(t + 1, n - 1 - t):
                    temp[k, j, i] = (
                        beta_i[k, j, i + 1] * (phi[k, j, i + 1] - phi[k, j, i])
                        - beta_i[k, j, i] * (phi[k, j, i] - phi[k, j, i - 1])
                        + beta_j[k, j + 1, i] * (phi[k, j + 1, i] - phi[k, j, i])
                        - beta_j[k, j, i] * (phi[k, j, i] - phi[k, j - 1, i])
                        + beta_k[k + 1, j, i] * (phi[k + 1, j, i] - phi[k, j, i])
                        - beta_k[k, j, i] * (phi[k, j, i] - phi[k - 1, j, i])
                    )
                    temp[k, j, i] = shift * alpha[k, j, i] * phi[k, j, i] - temp[k, j, i]
                    if (i + j + k + t) % 2 == 0:
                        phi[k, j, i] -= relaxation[k, j, i] * (temp[k, j, i] - rhs[k, j, i])


def _red_black_smoother_data(dtype: DType, sweeps: int, n: int) -> Arguments:
    k, j, i = grid(n, n, n)
    alpha = (1.0 + (i + j + k) % 3 / 3).astype(dtype)
    betas = (
        (1.0 + (a * i + b * j + c * k) % 5 / 10).astype(dtype)
        for a, b, c in ((1, 2, 3), (2, 3, 1), (3, 1, 2))
    )
    relaxation = np.full((n, n, n), 0.1, dtype)
    rhs = ((i * j + k) % 7 / 7).astype(dtype)
    phi = ((i + 2 * j + 3 * k) % 11 / 11).astype(dtype)
    return sweeps, dtype.type(0.5), alpha, *betas, relaxation, rhs, phi, np.zeros_like(phi)


_kernel = partial(GalleryKernel, category="recipe")
_CUBE = ((8,), (20,), (64,))

KERNELS = (
    _kernel(
        name="recurrence",
        function=recurrence,
        initialise=_recurrence_data,
        size_names=("n",),
        size_values=((10,), (100,), (1000,)),
        outputs=("a",),
        source="CHiLL 2016, dependence graphs",
    ),
    _kernel(
        name="diagonal-shift",
        function=diagonal_shift,
        initialise=_diagonal_shift_data,
        size_names=("n", "m"),
        size_values=((8, 11), (50, 60), (500, 600)),
        outputs=("a",),
        source="CHiLL 2016, skew",
    ),
    _kernel(
        name="time-line",
        function=time_line,
        initialise=_time_line_data,
        size_names=("steps", "n"),
        size_values=((6, 20), (40, 100), (500, 2000)),
        outputs=("A",),
        source="CHiLL 2016, wavefront",
    ),
    _kernel(
        name="transposed-accumulation",
        function=transposed_accumulation,
        initialise=_transposed_accumulation_data,
        size_names=("n",),
        size_values=((12,), (60,), (1024,)),
        outputs=("c",),
        source="CHiLL 2016, code generation for GPUs",
    ),
    _kernel(
        name="stencil-1d-3",
        function=stencil_1d_3,
        initialise=_stencil_1d_3_data,
        size_names=("n",),
        size_values=((16,), (200,), (4000,)),
        outputs=("target",),
        source="CHiLL 2016, partial sums",
    ),
    _kernel(
        name="stencil-2d-9",
        function=stencil_2d_9,
        initialise=_stencil_2d_9_data,
        size_names=("n", "m"),
        size_values=((10, 12), (60, 70), (1000, 1100)),
        outputs=("target",),
        source="CHiLL 2016, partial sums",
    ),
    _kernel(
        name="stencil-3d-27",
        function=stencil_3d_27,
        initialise=_stencil_3d_27_data,
        size_names=("n",),
        size_values=_CUBE,
        outputs=("target",),
        source="CHiLL 2016, partial sums",
    ),
    _kernel(
        name="stencil-3d-125",
        function=stencil_3d_125,
        initialise=_stencil_3d_125_data,
        size_names=("n",),
        size_values=((4,), (12,), (60,)),
        outputs=("target",),
        source="CHiLL 2016, partial sums",
    ),
    _kernel(
        name="red-black-smoother",
        function=red_black_smoother,
        initialise=_red_black_smoother_data,
        size_names=("sweeps", "n"),
        size_values=((2, 10), (4, 24), (4, 72)),
        outputs=("phi",),
        source="CHiLL 2016, wavefront of a smoother",
    ),
)
