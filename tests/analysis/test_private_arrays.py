"""Arrays that every iteration of a loop fills anew."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import polyviz as pv
from polyviz.analysis import dependences, with_private_arrays
from polyviz.runtime.toolchain import find_toolchain
from tests.running import agree, function_of

ROWS = """
    def rows(A, C, t):
        for r in range(A.shape[0]):
            for q in range(A.shape[1]):
                for p in range(C.shape[1]):
                    t[p] = 0.0
                    for s in range(A.shape[2]):
                        t[p] += A[r, q, s] * C[s, p]
                for p in range(C.shape[1]):
                    A[r, q, p] = t[p]
    """
LOCAL = ROWS.replace("C, t)", "C)").replace("for r in", "t = np.zeros(C.shape[1])\n        for r in", 1)
KEPT = {
    "a value from another iteration": ROWS.replace("t[p] = 0.0", "t[p] *= 0.5"),
    "another array carries the loop": ROWS.replace("A[r, q, p] = t[p]", "C[p, p] += t[p]"),
    "no loop of its own for each cell": """
        def f(A, t):
            for r in range(A.shape[0]):
                for p in range(A.shape[1]):
                    t[p] = A[r, p] + 1.0
                for p in range(A.shape[1]):
                    A[r, p] = t[p] * t[0]
        """,
    "nothing is shared": """
        def f(A, B, t):
            for r in range(A.shape[0]):
                for p in range(A.shape[1]):
                    t[r, p] = 0.0
                    for s in range(A.shape[1]):
                        t[r, p] += A[r, s] * B[s, p, 0]
        """,
}


def expanded(text: str) -> tuple[pv.Scop, pv.Scop]:
    part = pv.extract(function_of(text))
    return part, with_private_arrays(part, dependences(part))


def given(sizes: tuple[int, int, int]) -> list[Any]:
    random = np.random.default_rng(5)
    rows, columns, depth = sizes
    return [random.standard_normal((rows, columns, depth)), random.standard_normal((depth, depth)), np.ones(depth)]


def test_a_row_per_iteration_and_its_last_value():
    part, found = expanded(ROWS)
    copies = found.array("t_2")
    assert (copies.rank, copies.origin, copies.live_out) == (2, "local", False)
    assert [str(extent.get_constant_val()) if extent.is_cst() else "n" for extent in copies.extents] == ["n", "n"]
    assert {access.array for access in found.statement("S1").accesses} == {"A", "C", "t_2"}
    assert len(found.statements) == len(part.statements) + 1
    assert {access.array for access in found.statements[-1].accesses} == {"t", "t_2"}
    assert "filled anew in every iteration of the loop over q" in found.notes[-1]
    assert not [pairs for pairs in dependences(found).validity_relations if pairs.array == "t"]


def test_a_local_array_needs_no_last_value():
    part, found = expanded(LOCAL)
    assert len(found.statements) == len(part.statements)
    assert found.array("t_2").rank == 2


@pytest.mark.parametrize("name", KEPT)
def test_what_stays_as_it_is(name: str):
    part, found = expanded(KEPT[name])
    assert found is part


@pytest.mark.slow
@pytest.mark.thinned(5)
@pytest.mark.skipif(find_toolchain() is None, reason="no C compiler")
@pytest.mark.parametrize("sizes", [(0, 3, 4), (3, 0, 4), (1, 1, 1), (3, 13, 7), (2, 70, 29)], ids=str)
@pytest.mark.parametrize("text", [ROWS, LOCAL], ids=["visible", "local"])
def test_values_in_c(text: str, sizes: tuple[int, int, int]):
    arguments = given(sizes)[: 3 if text is ROWS else 2]
    kernel = agree(text, *arguments, target="c", floating_point="strict")
    assert "t_2" in kernel.source


@pytest.mark.parametrize("target", ["numba", "python"])
def test_values_elsewhere(target: str):
    agree(ROWS, *given((2, 5, 3)), target=target, floating_point="strict")


@pytest.mark.parametrize("target", ["c", "numba"])
@pytest.mark.parametrize("kind", ["float64", "complex128"])
def test_copies_of_an_array_that_is_made_of_values(target: str, kind: str) -> None:
    text = """
        def f(A: 'float64[:, :, :]', B: 'float64[:, :]', C: 'float64[:, :, :]'):
            for i in range(A.shape[0]):
                C[i] = A[i].T @ A[i] @ B
        """
    _, found = expanded(text)
    assert found.array("factor_2").rank == 3
    random = np.random.default_rng(6)
    A, B = (random.standard_normal(shape).astype(kind) for shape in ((3, 4, 2), (2, 2)))
    C = np.zeros((3, 2, 2), kind)
    pv.compile(function_of(text.replace("float64", kind)), target=target)(A, B, C)
    np.testing.assert_allclose(C, [one.T @ one @ B for one in A])


def test_it_can_be_switched_off():
    assert pv.compile(function_of(ROWS), target="python", private_arrays=False).scop.arrays[-1].name != "t_2"


def test_loops_that_never_run_need_no_copies() -> None:
    text = """
        def f(A, C, n, m):
            t = np.empty(m)
            for r in range(0, n, 2):
                for i in range(m):
                    t[i] = 0.0
                    for k in range(m):
                        t[i] += A[r, k] * C[k, i]
                for i in range(m):
                    A[r, i] = t[i] * 0.5
    """
    kernel = pv.compile(function_of(text), target="python")
    for n in (-4, 0, 1, 2, 5):
        found, expected = np.ones((6, 3)), np.ones((6, 3))
        kernel(found, np.ones((3, 3)), n, 3)
        function_of(text)(expected, np.ones((3, 3)), n, 3)
        np.testing.assert_allclose(found, expected)


MEDIAN = """
    def median(img, out):
        w = np.empty(9)
        for y in range(1, img.shape[0] - 1):
            for x in range(1, img.shape[1] - 1):
                for i in range(3):
                    for j in range(3):
                        w[3 * i + j] = img[y + i - 1, x + j - 1]
                for a in range(9):
                    for b in range(8 - a):
                        if w[b] > w[b + 1]:
                            t = w[b]
                            w[b] = w[b + 1]
                            w[b + 1] = t
                out[y, x] = w[4]
    """
POWERS = """
    def powers(c, x, y):
        p = np.empty({cells})
        for i in range(len(x)):
            p[0] = 1.0
            for k in range(1, {cells}):
                p[k] = p[k - 1] * x[i]
            y[i] = 0.0
            for k in range({cells}):
                y[i] += c[k] * p[k]
    """


@pytest.mark.slow
def test_few_cells_get_a_column_per_iteration() -> None:
    images = np.random.default_rng(3).random((9, 40)), np.zeros((9, 40))
    kernel = agree(MEDIAN, *images, target="c", contract="strict", small_arrays=False)
    assert [extent.is_cst() for extent in kernel.scop.array("w_2").extents] == [True, False]
    assert any("each has a column of `w_2` instead" in note for note in kernel.scop.notes)
    vectors = kernel.source.split("#pragma omp simd")
    assert any("min_f64(w_2[" in one and "][x], w_2[" in one for one in vectors[1:])
    assert "each with a copy of w_2" in str(kernel.plan.decisions)


def test_a_single_loop_copies_the_smallest_only() -> None:
    assert expanded(POWERS.format(cells=6))[1].array("p_2").rank == 2
    part, found = expanded(POWERS.format(cells=9))
    assert found is part
    random = np.random.default_rng(4)
    agree(POWERS.format(cells=6), random.random(6), random.random(50), np.zeros(50), target="c", contract="strict")


@pytest.mark.slow
def test_what_stays_visible_of_few_cells_comes_from_the_last_column() -> None:
    text = POWERS.format(cells=5).replace("p = np.empty(5)\n", "pass\n").replace("(c, x, y)", "(c, x, y, p)")
    _, found = expanded(text)
    assert found.statements[-1].source == "p[...] = the last column of p_2"
    random = np.random.default_rng(5)
    for count in (0, 1, 30):
        given = random.random(5), random.random(count), np.zeros(count), np.full(5, 7.0)
        for target in ("c", "numba"):
            agree(text, *given, target=target, contract="strict")


BLOCKS = """
    def blocks(X, T, Y):
        t = np.empty((8, 8))
        for i in range(X.shape[0] // 8):
            for j in range(X.shape[1] // 8):
                for p in range(8):
                    for q in range(8):
                        s = 0.0
                        for k in range(8):
                            s += T[p, k] * X[8 * i + k, 8 * j + q]
                        t[p, q] = s
                for p in range(8):
                    for q in range(8):
                        s = 0.0
                        for k in range(8):
                            s += t[p, k] * T[q, k]
                        Y[8 * i + p, 8 * j + q] = s
    """

SUMMED = """
    def summed(X, T, Y):
        t = np.empty((8, 8))
        for i in range(X.shape[0] // 8):
            for j in range(X.shape[1] // 8):
                for p in range(8):
                    for q in range(8):
                        t[p, q] = T[p, q] * X[8 * i + p, 8 * j + q]
                s = 0.0
                for p in range(8):
                    for q in range(8):
                        s += t[p, q]
                Y[i, j] = s
    """


@pytest.mark.slow
def test_a_block_with_loops_for_lanes_inside_stays_in_the_cache() -> None:
    part, found = expanded(BLOCKS)
    assert found is part
    assert expanded(SUMMED)[1].array("t_2").rank == 3
    random = np.random.default_rng(11)
    given = random.random((16, 24)), random.random((8, 8)), np.zeros((16, 24))
    for target in ("c", "numba"):
        agree(BLOCKS, *given, target=target, contract="strict", threads=2)


SORTED = """
    def f(a, where, out):
        v = np.zeros(5, dtype=a.dtype)
        for i in range(2, a.shape[0] - 2):
            for j in range(a.shape[1]):
                for k in range(5):
                    v[k] = a[i + k - 2, j]
                for p in range(3):
                    m = p
                    for q in range(p + 1, 5):
                        if v[q] < v[m]:
                            m = q
                    v[p], v[m] = v[m], v[p]
                out[i, j] = v[2] + v[where[j]]
    """


def sorted_in(rows: int, columns: int, dtype: str = "float64") -> tuple[np.ndarray, ...]:
    a = np.random.default_rng(2).integers(0, 90, (rows, columns)).astype(dtype)
    return a, np.arange(columns) % 9 - 4, np.zeros((rows, columns), dtype)


def test_a_few_cells_in_which_data_choose_get_copies_too() -> None:
    before, after = expanded(SORTED)
    (copies,) = [array for array in after.arrays if array not in before.arrays]
    assert copies.rank == 2
    assert any("is filled anew in every iteration of the loop over j" in note for note in after.notes)


@pytest.mark.parametrize(
    ("line", "other"),
    [
        ("range(5):\n                    v[k] =", "range(4):\n                    v[k] ="),
        ("np.zeros(5, dtype=a.dtype)", "np.zeros(70, dtype=a.dtype)"),
        ("v[k] = a[i + k - 2, j]", "v[where[k]] = a[i + k - 2, j]"),
    ],
    ids=["a cell from before", "many cells", "no cell is certain"],
)
def test_where_data_choose_nothing_else_gets_copies(line: str, other: str) -> None:
    text = SORTED.replace(line, other)
    assert text != SORTED
    before, after = expanded(text)
    assert after.arrays == before.arrays
    agree(text, *sorted_in(8, 6), target="c")


@pytest.mark.parametrize("dtype", ["float64", "uint8"])
@pytest.mark.parametrize("target", ["c", "numba"])
@pytest.mark.parametrize(("rows", "columns"), [(0, 3), (5, 1), (9, 7), (60, 40)])
def test_cells_that_data_choose_are_those_of_the_copy(target: str, rows: int, columns: int, dtype: str) -> None:
    agree(SORTED, *sorted_in(rows, columns, dtype), target=target)


def test_what_is_out_of_range_in_a_copy_is_called_by_the_name_it_had() -> None:
    a, where, out = sorted_in(9, 7)
    where[3] = 5
    with pytest.raises(pv.OutOfBoundsError, match=r"`v\[where\[j\]\]` leaves its array .* `v` has 5 elements"):
        pv.compile(function_of(SORTED), target="c")(a, where, out)
