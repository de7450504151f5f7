"""Each PolyBench kernel against an independent formulation in NumPy or SciPy, its official sizes and initial data."""

import math
from functools import cache

import numpy as np
import pytest
from scipy import linalg, signal

from polyviz.gallery import kernel, polybench

NAMES = [
    "2mm",
    "3mm",
    "adi",
    "atax",
    "bicg",
    "cholesky",
    "correlation",
    "covariance",
    "deriche",
    "doitgen",
    "durbin",
    "fdtd-2d",
    "floyd-warshall",
    "gemm",
    "gemver",
    "gesummv",
    "gramschmidt",
    "heat-3d",
    "jacobi-1d",
    "jacobi-2d",
    "lu",
    "ludcmp",
    "mvt",
    "nussinov",
    "seidel-2d",
    "symm",
    "syr2k",
    "syrk",
    "trisolv",
    "trmm",
]


def lower_of(new, old):
    """The lower triangle of `new` over the upper one of `old`, for kernels that leave the upper one alone."""
    return np.tril(new) + np.triu(old, 1)


def two_mm(b):
    return {"D": b.alpha * b.A @ b.B @ b.C + b.beta * b.D, "tmp": b.alpha * b.A @ b.B}


def three_mm(b):
    return {"E": b.A @ b.B, "F": b.C @ b.D, "G": b.A @ b.B @ b.C @ b.D}


def implicit_half_step(field, across, along):
    """One sweep, explicit with weight `across` over columns, implicit with `along` over rows, ends held at 1."""
    n = len(field)
    right = -across * field[1:-1, :-2] + (1 + 2 * across) * field[1:-1, 1:-1] - across * field[1:-1, 2:]
    right[0] -= along
    right[-1] -= along
    bands = np.array([[along], [1 - 2 * along], [along]]) * np.ones(n - 2)
    solved = field.copy()
    solved[1:-1, 1:-1] = linalg.solve_banded((1, 1), bands, right)
    solved[0, 1:-1] = solved[-1, 1:-1] = 1.0
    return solved


def adi(b):
    a, d = -(b.n**2) / b.tsteps, -(b.n**2) / b.tsteps / 2
    u, v = b.u, b.v
    for _ in range(b.tsteps):
        v_new = implicit_half_step(u, d, a)
        v = np.where(np.pad(np.ones((b.n, b.n - 2)), ((0, 0), (1, 1))) == 1, v_new, v)
        u_new = implicit_half_step(v.T, a, d).T
        u = np.where(np.pad(np.ones((b.n - 2, b.n)), ((1, 1), (0, 0))) == 1, u_new, u)
    return {"u": u, "v": v}


def atax(b):
    return {"y": b.A.T @ (b.A @ b.x), "tmp": b.A @ b.x}


def bicg(b):
    return {"s": b.A.T @ b.r, "q": b.A @ b.p}


def cholesky(b):
    return {"A": lower_of(np.linalg.cholesky(b.A), b.A)}


def correlation(b):
    spread = b.data.std(axis=0)
    assert spread.min() > 0.1
    standard = (b.data - b.data.mean(axis=0)) / (spread * math.sqrt(len(b.data)))
    return {"corr": np.corrcoef(b.data.T), "data": standard, "mean": b.data.mean(axis=0), "stddev": spread}


def covariance(b):
    return {"cov": np.cov(b.data.T), "data": b.data - b.data.mean(axis=0)}


def deriche(b):
    decay = math.exp(-b.alpha)
    gain = (1 - decay) ** 2 / (1 + 2 * b.alpha * decay - decay**-2)
    feedback = [1.0, -(2.0**-b.alpha), decay**2]
    ahead = [gain, gain * decay * (b.alpha - 1)]
    behind = [0.0, gain * decay * (b.alpha + 1), -gain * decay**2]

    def smooth(image):
        backwards = signal.lfilter(behind, feedback, image[:, ::-1])[:, ::-1]
        return signal.lfilter(ahead, feedback, image) + backwards

    return {"imgOut": smooth(smooth(b.imgIn).T).T}


def doitgen(b):
    return {"A": np.einsum("rqs,sp->rqp", b.A, b.C4)}


def durbin(b):
    return {"y": linalg.solve_toeplitz(np.concatenate(([1.0], b.r[:-1])), -b.r)}


def fdtd_2d(b):
    ex, ey, hz = b.ex, b.ey, b.hz
    for source in b.fict:
        ey[0] = source
        ey[1:] -= 0.5 * np.diff(hz, axis=0)
        ex[:, 1:] -= 0.5 * np.diff(hz, axis=1)
        hz[:-1, :-1] -= 0.7 * (np.diff(ex, axis=1)[:-1] + np.diff(ey, axis=0)[:, :-1])
    return {"ex": ex, "ey": ey, "hz": hz}


def floyd_warshall(b):
    path, last = b.path, None
    while last is None or (path != last).any():
        last = path
        path = np.minimum(path, (path[:, :, None] + path[None, :, :]).min(axis=1))
    return {"path": path}


def gemm(b):
    return {"C": b.alpha * b.A @ b.B + b.beta * b.C}


def gemver(b):
    A = b.A + np.outer(b.u1, b.v1) + np.outer(b.u2, b.v2)
    x = b.x + b.beta * A.T @ b.y + b.z
    return {"A": A, "x": x, "w": b.w + b.alpha * A @ x}


def gesummv(b):
    return {"y": b.alpha * b.A @ b.x + b.beta * b.B @ b.x}


def heat_3d(b):
    def half_step(field):
        new = field.copy()
        inner = field[1:-1, 1:-1, 1:-1]
        curvature = sum(
            np.diff(
                field[tuple(slice(None) if d == axis else slice(1, -1) for d in range(3))], n=2, axis=axis
            )
            for axis in range(3)
        )
        new[1:-1, 1:-1, 1:-1] = inner + 0.125 * curvature
        return new

    A = b.A
    for _ in range(b.tsteps):
        B = half_step(A)
        A = half_step(B)
    return {"A": A, "B": B}


def jacobi_1d(b):
    A, B = b.A, b.B
    for _ in range(b.tsteps):
        B[1:-1] = np.convolve(A, [0.33333] * 3, "valid")
        A[1:-1] = np.convolve(B, [0.33333] * 3, "valid")
    return {"A": A, "B": B}


def jacobi_2d(b):
    cross = 0.2 * np.array([[0, 1, 0], [1, 1, 1], [0, 1, 0]])
    A, B = b.A, b.B
    for _ in range(b.tsteps):
        B[1:-1, 1:-1] = signal.convolve2d(A, cross, "valid")
        A[1:-1, 1:-1] = signal.convolve2d(B, cross, "valid")
    return {"A": A, "B": B}


def lu(b):
    # Without pivoting the factors are unique; elimination by outer products is another order of the same sums.
    A = b.A
    for k in range(len(A)):
        A[k + 1 :, k] /= A[k, k]
        A[k + 1 :, k + 1 :] -= np.outer(A[k + 1 :, k], A[k, k + 1 :])
    return {"A": A}


def ludcmp(b):
    return {"x": np.linalg.solve(b.A, b.b)}


def mvt(b):
    return {"x1": b.x1 + b.A @ b.y_1, "x2": b.x2 + b.A.T @ b.y_2}


def nussinov(b):
    pairs = [[int(one + other == 3) for other in b.seq] for one in b.seq]

    @cache
    def best(i, j):
        if j <= i:
            return 0
        split = max(best(i, k) + best(k + 1, j) for k in range(i, j))
        return max(split, best(i + 1, j - 1) + (pairs[i][j] if i < j - 1 else 0))

    return {"table": np.array([[best(i, j) for j in range(b.n)] for i in range(b.n)])}


def seidel_2d(b):
    A = b.A
    for _ in range(b.tsteps):
        for i in range(1, b.n - 1):
            known = A[i, 1:-1] + A[i, 2:]
            for row in (A[i - 1], A[i + 1]):
                known = known + row[:-2] + row[1:-1] + row[2:]
            # Along the row each new value enters the next: a first-order recursive filter.
            A[i, 1:-1] = signal.lfilter([1 / 9], [1, -1 / 9], known, zi=[A[i, 0] / 9])[0]
    return {"A": A}


def symm(b):
    lower = np.tril(b.A)
    return {"C": b.alpha * (lower + np.tril(lower, -1).T) @ b.B + b.beta * b.C}


def syrk(b):
    return {"C": lower_of(b.alpha * b.A @ b.A.T + b.beta * b.C, b.C)}


def syr2k(b):
    return {"C": lower_of(b.alpha * (b.A @ b.B.T + b.B @ b.A.T) + b.beta * b.C, b.C)}


def trisolv(b):
    return {"x": linalg.solve_triangular(b.L, b.b, lower=True)}


def trmm(b):
    return {"B": b.alpha * (np.tril(b.A, -1) + np.eye(len(b.A))).T @ b.B}


REFERENCES = {
    entry.name: globals()[entry.function.__name__] for entry in polybench() if entry.name != "gramschmidt"
}


@pytest.mark.parametrize("seed", [None, 7], ids=["official", "rough"])
@pytest.mark.parametrize("name", REFERENCES)
def test_kernel_computes_what_its_definition_says(name, seed, run):
    before, after, _ = run(kernel(name), seed=seed)
    expected = REFERENCES[name](before)
    assert set(kernel(name).outputs) <= set(expected)
    for array, value in expected.items():
        np.testing.assert_allclose(getattr(after, array), value, rtol=1e-9, atol=1e-11, err_msg=array)


def test_gramschmidt_gives_the_factors_of_a_full_rank_matrix():
    m, n = 9, 6
    A = np.random.default_rng(1).normal(size=(m, n))
    R, Q = np.full((n, n), np.nan), np.empty((m, n))
    kernel("gramschmidt").function(m, n, A.copy(), R, Q)
    expected_q, expected_r = np.linalg.qr(A)
    signs = np.sign(np.diag(expected_r))
    np.testing.assert_allclose(Q, expected_q * signs, atol=1e-12)
    np.testing.assert_allclose(np.triu(R), expected_r * signs[:, None], atol=1e-12)


def test_gramschmidt_on_the_official_matrix_reproduces_it_though_columns_depend(run):
    before, after, _ = run(kernel("gramschmidt"))
    assert np.linalg.matrix_rank(before.A) == 15
    np.testing.assert_allclose(after.Q @ after.R, before.A, atol=1e-12)


def test_gramschmidt_has_a_matrix_of_full_rank_with_a_seed():
    A = kernel("gramschmidt").arguments("mini", seed=1)[2]
    assert np.linalg.matrix_rank(A) == min(A.shape) == 20


def test_correlation_does_not_divide_a_constant_column_by_its_spread():
    data = np.column_stack([np.full(5, 7.0), np.arange(5.0)])
    corr, mean, stddev = np.zeros((2, 2)), np.zeros(2), np.zeros(2)
    kernel("correlation").function(5.0, data, corr, mean, stddev)
    assert stddev[0] == 1.0
    np.testing.assert_allclose(corr, np.eye(2), atol=1e-15)


def test_there_are_exactly_the_thirty_in_order():
    assert [entry.name for entry in polybench()] == NAMES


@pytest.mark.parametrize(
    ("name", "level", "sizes"),
    [
        ("2mm", "large", {"ni": 800, "nj": 900, "nk": 1100, "nl": 1200}),
        ("3mm", "mini", {"ni": 16, "nj": 18, "nk": 20, "nl": 22, "nm": 24}),
        ("adi", "extralarge", {"tsteps": 1000, "n": 2000}),
        ("atax", "extralarge", {"m": 1800, "n": 2200}),
        ("bicg", "medium", {"m": 390, "n": 410}),
        ("correlation", "large", {"m": 1200, "n": 1400}),
        ("covariance", "mini", {"m": 28, "n": 32}),
        ("deriche", "large", {"w": 4096, "h": 2160}),
        ("doitgen", "small", {"nq": 20, "nr": 25, "np_": 30}),
        ("fdtd-2d", "large", {"tmax": 500, "nx": 1000, "ny": 1200}),
        ("floyd-warshall", "large", {"n": 2800}),
        ("gemm", "large", {"ni": 1000, "nj": 1100, "nk": 1200}),
        ("gesummv", "medium", {"n": 250}),
        ("gramschmidt", "extralarge", {"m": 2000, "n": 2600}),
        ("heat-3d", "large", {"tsteps": 500, "n": 120}),
        ("jacobi-1d", "small", {"tsteps": 40, "n": 120}),
        ("jacobi-2d", "large", {"tsteps": 500, "n": 1300}),
        ("lu", "large", {"n": 2000}),
        ("nussinov", "extralarge", {"n": 5500}),
        ("seidel-2d", "large", {"tsteps": 500, "n": 2000}),
        ("syrk", "small", {"m": 60, "n": 80}),
    ],
)
def test_sizes_are_the_official_ones(name, level, sizes):
    assert kernel(name).sizes[level] == sizes


@pytest.mark.parametrize("entry", polybench(), ids=lambda entry: entry.name)
def test_sizes_have_five_levels(entry):
    assert list(entry.sizes) == ["mini", "small", "medium", "large", "extralarge"]


@pytest.mark.parametrize(
    ("name", "argument", "index", "value"),
    [
        ("2mm", "A", (3, 4), 13 / 16),
        ("2mm", "D", (5, 6), (40 % 22) / 22),
        ("3mm", "B", (5, 6), ((37) % 18) / 90),
        ("3mm", "D", (4, 6), (34 % 20) / 100),
        ("adi", "u", (2, 5), 17 / 20),
        ("atax", "A", (30, 20), (50 % 42) / 190),
        ("bicg", "r", (41,), 41 / 42),
        ("cholesky", "A", (2, 1), (1 - 0 / 40) * (1 - 0 / 40) + (1 - 1 / 40)),
        ("correlation", "data", (3, 4), 12 / 28 + 3),
        ("covariance", "data", (3, 4), 12 / 28),
        ("deriche", "imgIn", (63, 63), (63 * 1304) % 65536 / 65535),
        ("doitgen", "A", (2, 3, 11), 5 / 12),
        ("durbin", "r", (0,), 41),
        ("fdtd-2d", "ey", (2, 3), 10 / 30),
        ("floyd-warshall", "path", (2, 6), 6),
        ("floyd-warshall", "path", (3, 4), 999),
        ("gemm", "B", (2, 3), 10 / 25),
        ("gemver", "v2", (11,), 12 / 40 / 6),
        ("gesummv", "B", (4, 7), 0.0),
        ("gramschmidt", "A", (3, 4), 70.0),
        ("heat-3d", "A", (1, 2, 3), 10.0),
        ("jacobi-1d", "B", (3,), 6 / 30),
        ("jacobi-2d", "A", (2, 3), 12 / 30),
        ("ludcmp", "b", (3,), 4 / 40 / 2 + 4),
        ("mvt", "x2", (39,), 0.0),
        ("nussinov", "seq", (5,), 2),
        ("seidel-2d", "A", (2, 3), 12 / 40),
        ("symm", "A", (2, 3), -999),
        ("symm", "B", (2, 3), 29 / 20),
        ("syr2k", "C", (5, 6), 3 / 20),
        ("syrk", "C", (3, 4), 14 / 20),
        ("trisolv", "L", (3, 2), 42 * 2 / 40),
        ("trmm", "A", (4, 3), 7 / 20),
        ("trmm", "B", (2, 3), 29 / 30),
    ],
)
def test_initial_data_are_the_official_ones(name, argument, index, value, run):
    before = run(kernel(name))[0]
    assert getattr(before, argument)[index] == pytest.approx(value, rel=1e-15)
