"""Loops that stride run in strips, and rows times matrices as products of matrices."""

from __future__ import annotations

import numpy as np
import pytest

import polyviz as pv
from polyviz.mapping import make_plan, strips
from polyviz.runtime.toolchain import find_toolchain
from tests.blocked import WIDE
from tests.running import agree, function_of

ORTHOGONAL = """
    def orthogonal(A, R, Q):
        for k in range(A.shape[1]):
            norm = 0.0
            for i in range(A.shape[0]):
                norm += A[i, k] * A[i, k]
            R[k, k] = math.sqrt(norm)
            for i in range(A.shape[0]):
                Q[i, k] = A[i, k] / R[k, k]
            for j in range(k + 1, A.shape[1]):
                R[k, j] = 0.0
                for i in range(A.shape[0]):
                    R[k, j] += Q[i, k] * A[i, j]
                for i in range(A.shape[0]):
                    A[i, j] = A[i, j] - Q[i, k] * R[k, j]
    """
COLUMNS = """
    def columns(A, s, q):
        for k in range(q.shape[0]):
            for j in range(A.shape[1]):
                s[j] = 0.0
                for i in range(A.shape[0]):
                    s[j] += A[i, j] * q[k, i]
                for i in range(A.shape[0]):
                    A[i, j] -= s[j] * q[k, i]
    """
PRODUCT = """
    def product(A, C, T):
        for r in range(A.shape[0]):
            for q in range(A.shape[1]):
                for p in range(C.shape[1]):
                    T[q, p] = 0.0
                    for s in range(A.shape[2]):
                        T[q, p] += A[r, q, s] * C[s, p]
                for p in range(C.shape[1]):
                    A[r, q, p] = T[q, p]
    """
WINDOW = """
    def window(image, weights, out):
        for i in range(out.shape[0]):
            for j in range(out.shape[1]):
                for p in range(weights.shape[0]):
                    for q in range(weights.shape[1]):
                        out[i, j] += image[i + p, j + q] * weights[p, q]
    """
RUNNING = """
    def running(A):
        for i in range(1, A.shape[0]):
            for j in range(A.shape[1]):
                A[i, j] += A[i - 1, j]
    """
needs_compiler = pytest.mark.skipif(find_toolchain() is None, reason="no C compiler")


def steps(text: str, **options: object) -> list[str]:
    part = pv.extract(function_of(text))
    found = pv.dependences(part)
    plan = make_plan(part, found, pv.schedule(part, "pluto", dependences=found), "c", processor=WIDE, **options)
    return [decision.step for decision in plan.decisions]


@pytest.mark.parametrize("text", [ORTHOGONAL, COLUMNS], ids=["triangle", "parallel"])
def test_loops_inside_that_stride_make_strips(text: str):
    assert "strip" in steps(text)
    assert "strip" not in steps(text, tile=False)


def test_threads_share_strips_of_the_only_parallel_loop_where_it_runs_along_memory():
    assert "strip" in steps(RUNNING)
    assert "strip" not in steps(RUNNING.replace("A[i, j] += A[i - 1, j]", "A[i, j] += A[i - 1, j] + A[i, j - 1]"))
    assert "strip" not in steps(RUNNING.replace("A[i - 1, j]", "A[0, j]"))


@pytest.mark.thinned(2)
@pytest.mark.parametrize("text", [ORTHOGONAL, COLUMNS, WINDOW, RUNNING], ids=["triangle", "parallel", "sums", "shares"])
def test_strips_are_a_proposal_that_the_exact_check_may_refuse(text: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(strips, "is_legal", lambda *_, **__: False)
    assert "strip" not in steps(text, register_tile=False)


def test_loops_without_strides_stay():
    assert "strip" not in steps(COLUMNS.replace("A[i, j]", "A[j, i]"))


def test_strips_run_inside_loops_that_only_add_up():
    """The window may be small, and vectors along it are sums; along the image they are not. Where their cells may stay
    in registers, there are tiles of these instead."""
    assert "strip" in steps(WINDOW, register_tile=False)
    assert "strip" not in steps(WINDOW.replace("image[i + p, j + q]", "image[j + q, i + p]"), register_tile=False)
    assert "strip" not in steps(WINDOW.replace("out[i, j]", "out[j, i]"), register_tile=False)
    assert "held-tile" in steps(WINDOW)


@needs_compiler
@pytest.mark.parametrize(
    ("shape", "size"), [((1, 1), (1, 1)), ((5, 67), (3, 2)), ((9, 130), (2, 70)), ((3, 4), (0, 2))]
)
def test_values_of_strips_inside_sums(shape: tuple[int, int], size: tuple[int, int]):
    random = np.random.default_rng(2)
    image = random.standard_normal((shape[0] + size[0], shape[1] + size[1]))
    agree(WINDOW, image, random.standard_normal(size), np.zeros(shape), target="c", contract="strict")


def arguments(shape: tuple[int, int]) -> tuple[list[np.ndarray], list[np.ndarray]]:
    rows, columns = shape
    random = np.random.default_rng(2)
    A = random.standard_normal(shape)
    return [A, np.zeros((columns, columns)), np.zeros(shape)], [A, np.zeros(columns), random.standard_normal((3, rows))]


@pytest.mark.thinned(4)
@needs_compiler
@pytest.mark.parametrize("shape", [(1, 1), (5, 3), (70, 67), (131, 130)], ids=str)
def test_values_of_strips(shape: tuple[int, int]):
    triangle, parallel = arguments(shape)
    agree(ORTHOGONAL, *triangle, target="c", floating_point="strict")
    agree(COLUMNS, *parallel, target="c", floating_point="strict")


@pytest.mark.slow
def test_values_of_strips_in_numba():
    agree(ORTHOGONAL, *arguments((70, 67))[0], target="numba", floating_point="strict")


def test_rows_times_a_matrix_are_one_product():
    assert "distribute" in steps(PRODUCT)
    assert "distribute" not in steps(PRODUCT, register_tile=False)


def test_a_product_that_feeds_itself_stays():
    text = PRODUCT.replace("A[r, q, p] = T[q, p]", "A[r, q + 1, p] = T[q, p]").replace("A.shape[1]", "A.shape[1] - 1")
    assert "distribute" not in steps(text)


@pytest.mark.thinned(3)
@needs_compiler
@pytest.mark.parametrize("shape", [(0, 3, 4), (2, 1, 1), (2, 70, 29)], ids=str)
def test_values_of_products(shape: tuple[int, int, int]):
    random = np.random.default_rng(2)
    arguments = [random.standard_normal(shape), random.standard_normal((shape[2],) * 2), np.zeros(shape[1:])]
    agree(PRODUCT, *arguments, target="c", floating_point="strict")


FACTORS = """
    def factors(X, B, C, M):
        for i in range(X.shape[0]):
            for j in range(X.shape[1]):
                for k in range(X.shape[2]):
                    for f in range(B.shape[1]):
                        M[i, f] += X[i, j, k] * B[j, f] * C[k, f]
    """


@needs_compiler
def test_threads_share_a_parallel_loop_around_the_strips():
    """There may be fewer factors than a strip has iterations, and then nothing to share."""
    data = np.random.default_rng(3)
    arrays = [data.random(shape) for shape in ((5, 3, 4), (3, 70), (4, 70), (5, 70))]
    kernel = agree(FACTORS, *arrays, target="c", schedule="pluto", register_tile=False)
    lines = kernel.source.splitlines()
    shared = next(place for place, line in enumerate(lines) if "omp parallel for" in line)
    assert "int64_t i = 0" in lines[shared + 1]
    assert "f_tile" in lines[shared + 2]
