"""Functions whose text leaves open how many dimensions their arrays have: calls tell, as for numba."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import polyviz as pv
from polyviz.api.by_call import OpenKernel
from tests.running import function_of

if TYPE_CHECKING:
    from collections.abc import Callable

PRODUCT = function_of("def product(A, B):\n    return A @ B\n")
CLIPPED = function_of("def clipped(a, b, c):\n    return np.minimum(np.maximum(a, 2), 10) * c + b\n")
A = np.random.default_rng(3).random((4, 4))


@pytest.mark.parametrize("target", ["c", "python"])
def test_the_first_call_tells(target: str) -> None:
    kernel: Any = pv.compile(PRODUCT, target=target)
    assert isinstance(kernel, OpenKernel)
    assert "first call" in repr(kernel)
    with pytest.raises(pv.ExtractionError, match="`@` is not supported"):
        _ = kernel.source
    np.testing.assert_allclose(kernel(A, A), A @ A)
    assert "product" in kernel.source
    np.testing.assert_allclose(kernel(A, A[0]), A @ A[0])
    np.testing.assert_allclose(kernel(A[0], B=A), A[0] @ A)
    assert kernel.target == target


def test_a_number_that_is_an_array_after_all() -> None:
    kernel = pv.compile(CLIPPED, target="c")
    assert kernel(3, 4, 5) == 19
    for array in (np.arange(6), np.arange(12.0).reshape(3, 4)):
        np.testing.assert_array_equal(kernel(array, array, 2), CLIPPED(array, array, 2))
    assert "min_f64" in kernel.source or "minimum_f64" in kernel.source
    assert kernel(30, 4, 5) == 54


def test_rows_where_elements_were_read() -> None:
    kernel = pv.compile(function_of("def f(A):\n    for i in range(len(A)):\n        A[i] = 2 * A[i]\n"), target="c")
    for shape in ((3,), (3, 2), (3,)):
        array = np.ones(shape)
        kernel(array)
        np.testing.assert_array_equal(array, 2)


@pytest.mark.slow
def test_parts_of_arrays_of_many_dimensions() -> None:
    def products(G, H, S):
        for i in range(G.shape[0]):
            for j in range(G.shape[1]):
                S[i] += G[i, j] @ H[i, j]

    G, H = (np.random.default_rng(seed).random((2, 3, 4, 4)) for seed in (1, 2))
    S = np.zeros((2, 4, 4))
    pv.compile(products, target="c")(G, H, S)
    np.testing.assert_allclose(S, (G @ H).sum(axis=1))


def of_neighbours(neighbours: Any, H: Any, G: Any, D: Any) -> None:
    for a in range(neighbours.shape[0]):
        for b in range(neighbours.shape[1]):
            if a - b >= 0:
                product = G[a - b, neighbours[a, b]] @ H[a, b]
                D[a] += product @ (H[a, b] * D[a, b, 0])


@pytest.mark.slow
def test_factors_of_more_dimensions_than_what_chooses_them() -> None:
    chosen = np.random.default_rng(1)
    given = [chosen.integers(0, 3, (3, 2)), chosen.random((3, 2, 2, 2)), chosen.random((3, 3, 2, 2))]
    expected = chosen.random((3, 2, 2))
    found = expected.copy()
    of_neighbours(*given, expected)
    pv.compile(of_neighbours)(*given, found)
    np.testing.assert_allclose(found, expected)


def test_names_that_lines_above_give_a_value() -> None:
    text = (
        "def distances(K, x, high):\n    for i in range(high):\n        for j in range(high):\n"
        "            d = x[i] - x[j]\n            K[i, j] = np.dot(d, d)\n"
    )
    kernel = pv.compile(function_of(text), target="c")
    assert isinstance(kernel, OpenKernel)
    K = np.zeros((3, 3))
    kernel(K, A, 3)
    np.testing.assert_allclose(K, ((A[:3, None] - A[None, :3]) ** 2).sum(axis=2))


@pytest.mark.parametrize("kind", ["Any", "np.ndarray", "'npt.NDArray[np.float64]'"])
def test_heads_that_say_only_that_there_is_an_array(kind: str) -> None:
    kernel = pv.compile(function_of(f"def f(x: {kind}):\n    return x * 2\n"), target="python")
    np.testing.assert_allclose(kernel(A), A * 2)
    np.testing.assert_allclose(kernel(A[0]), A[0] * 2)


def test_what_no_dimensions_make_legible_is_refused_at_once() -> None:
    with pytest.raises(pv.ExtractionError, match="print"):
        pv.compile(function_of("def f(A):\n    A += print(3)\n"))
    with pytest.raises(pv.ExtractionError, match="inv"):
        pv.compile(function_of("def f(A):\n    return np.linalg.inv(A)\n"))
    with pytest.raises(pv.ExtractionError, match="never have the same number"):
        pv.compile(function_of("def f(x, n):\n    for _ in range(n):\n        x = x[1:] + 1.0\n    return x\n"))


def test_calls_that_do_not_fit(golden: Callable[..., None]) -> None:
    kernel = pv.compile(PRODUCT)
    texts = []
    for arguments in [(A,), (3.0, 4.0), (A, np.zeros((3, 3, 3)))]:
        with pytest.raises(pv.PolyvizError) as caught:
            kernel(*arguments)
        texts.append(str(caught.value))
    with pytest.raises(pv.ArgumentError) as missing:
        pv.compile(function_of("def g(a, A):\n    for i in range(3):\n        A[i, 0] = a\n"))(A, A)
    texts.append(str(missing.value))
    golden("\n".join(texts))


@pytest.mark.slow
def test_a_race_reads_what_its_arguments_tell() -> None:
    found = pv.compare(PRODUCT, A, A, schedules=["original"], targets=["python"], repeats=1)
    assert [row.status for row in found.rows] == ["ok", "ok"]


WEIGHTED = function_of(
    "def weighted(x, w=None, out=None):\n    if out is None:\n        out = np.zeros_like(x)\n"
    "    for i in range(len(x)):\n        if w is None:\n            out[i] = x[i]\n        else:\n"
    "            out[i] = w[i] * x[i]\n    return out\n"
)


@pytest.mark.parametrize("target", ["c", "python"])
def test_calls_tell_which_arguments_are_none(target: str) -> None:
    kernel = pv.compile(WEIGHTED, target=target)
    x, w = A[0], A[1]
    for given in ({}, {"w": w}, {"w": w, "out": np.zeros(4)}, {"out": np.zeros(4)}, {"w": None}):
        np.testing.assert_array_equal(kernel(x, **given), WEIGHTED(x, **given))
        np.testing.assert_array_equal(kernel(x, *given.values()), WEIGHTED(x, *given.values()))
    assert str(kernel.__signature__) == "(x, w=None, out=None)"


def test_a_part_that_was_read_without_an_argument_says_so(golden: Callable[..., None]) -> None:
    kernel = pv.compile(pv.compile(WEIGHTED, target="python"), target="python")
    np.testing.assert_array_equal(kernel(A[0]), A[0])
    with pytest.raises(pv.ArgumentError) as caught:
        kernel(A[0], A[1])
    golden(str(caught.value))


def test_a_race_of_calls_without_an_argument() -> None:
    found = pv.compare(WEIGHTED, A[0], None, np.zeros(4), schedules=["original"], targets=["python"], repeats=1)
    assert [row.status for row in found.rows] == ["ok", "ok"]


MASKED = function_of("def masked(x, m):\n    x[m] = 7.0\n    return np.sum(x[~m])\n")
STORED = function_of("def stored(x, m):\n    x[m] = 7.0\n")


@pytest.mark.parametrize("target", ["c", "python"])
@pytest.mark.parametrize("function", [MASKED, STORED])
def test_calls_tell_that_an_array_is_a_mask(function: Any, target: str) -> None:
    kernel = pv.compile(function, target=target)
    places = np.array([2, 0, 1, 3])
    for x, m in ((A[0].copy(), A[1] > 0.5), (A.copy(), A > 0.5), (A.copy(), A[2] > 0.5), (A[0].copy(), places)):
        y = x.copy()
        assert kernel(x, m) == pytest.approx(function(y, m))
        np.testing.assert_array_equal(x, y)
    with pytest.raises(pv.PolyvizError, match=r"whole number|with 1 subscript|used as a size"):
        kernel(A[0].copy(), A[1])


def test_a_kernel_for_a_mask_takes_no_other_array(golden: Callable[..., None]) -> None:
    kernel: Any = pv.compile(MASKED, target="python")
    kernel(A[0].copy(), A[1] > 0.5)
    with pytest.raises(pv.ArgumentError) as caught:
        kernel.kernel(A[0].copy(), np.array([2, 0, 1, 3]))
    golden(str(caught.value))


def test_others_may_look_what_it_is() -> None:
    kernel = pv.compile(PRODUCT, target="python")
    for name in ("dispatcher", "shape", "dtype"):
        assert not hasattr(kernel, name)

    def uses_its_name(x, y):
        for kernel in range(3):
            y[kernel] = x[kernel]

    uses_its_name.__globals__["kernel"] = kernel
    y = np.zeros(3)
    try:
        pv.compile(uses_its_name, target="python")(A[0], y)
    finally:
        del uses_its_name.__globals__["kernel"]
    np.testing.assert_array_equal(y, A[0, :3])
    kernel(A, A)
    told = {name for name in vars(kernel.kernel) if not name.startswith("_")}
    assert told
    assert all(hasattr(kernel, name) for name in told)


BLOCKS = function_of(
    """
    def blocks(A, B, C, n, block=4):
        for ii in range(0, n, block):
            for kk in range(n // block):
                for i in range(ii, min(ii + block, n)):
                    for k in range(block):
                        for j in range(n):
                            C[i, j] += A[i, kk * block + k] * B[kk * block + k, j]
    """
)
STRIDES = function_of(
    """
    def convolve(x, w, y, stride, gap):
        for i in range(len(y)):
            s = 0.0
            for p in range(len(w)):
                s += x[i * stride + p * gap] * w[p]
            y[i] = s
    """
)


def blocks(kernel: Any, *rest: int) -> None:
    size = 22
    left, right = (np.random.default_rng(seed).random((size, size)) for seed in (1, 2))
    found, expected = np.zeros((size, size)), np.zeros((size, size))
    kernel(left, right, found, size, *rest)
    BLOCKS(left, right, expected, size, *rest)
    np.testing.assert_allclose(found, expected)


def takes(kernel: Any, name: str) -> bool:
    """Whether the program that ran last is one for any value of ``name``."""
    return re.search(rf"[(,]\s*(const int64_t )?{name}\s*[,)]", kernel.source) is not None


@pytest.mark.parametrize("target", ["c", "numba"])
def test_the_block_size_of_a_call_is_a_constant(target: str) -> None:
    kernel = pv.compile(BLOCKS, target=target)
    assert kernel.scop.deciding == ("block",) and not kernel.plan.decisions
    for rest in ((8,), (), (8,)):
        blocks(kernel, *rest)
        assert kernel.plan.decisions
        assert target == "numba" or not takes(kernel, "block")


@pytest.mark.slow
def test_after_a_few_values_loops_take_any() -> None:
    kernel = pv.compile(BLOCKS, target="c")
    for block in range(2, 8):
        blocks(kernel, block)
        assert takes(kernel, "block") == (block >= 6)
    blocks(kernel, 3)
    assert not takes(kernel, "block")


def test_several_values_are_told_together_or_not_at_all() -> None:
    kernel = pv.compile(STRIDES, target="c")
    assert kernel.scop.deciding == ("stride", "gap")
    x, w = np.random.default_rng(5).random(4000), np.ones(3)
    for stride, gap in ((2, 3), (1, 1), (1100, 2)):
        found, expected = np.zeros(4), np.zeros(4)
        kernel(x, w, found, stride, gap)
        STRIDES(x, w, expected, stride, gap)
        np.testing.assert_allclose(found, expected)
        assert takes(kernel, "stride") == takes(kernel, "gap") == (stride > 1024)


def test_values_that_are_no_small_numbers_go_the_usual_way() -> None:
    kernel = pv.compile(BLOCKS, target="c")
    with pytest.raises(pv.ArgumentError, match="size cannot be computed"):
        blocks(kernel, 0)
    with pytest.raises(pv.ArgumentError, match="block"):
        blocks(kernel, "8")


def test_a_schedule_of_ones_own_is_that_of_any_value() -> None:
    part = pv.extract(STRIDES)
    kernel = pv.compile(STRIDES, target="c", schedule=part.schedule)
    x, y = np.ones(99), np.zeros(9)
    kernel(x, np.ones(3), y, 2, 1)
    np.testing.assert_array_equal(y, 3.0)
    assert takes(kernel, "stride")


@pytest.mark.slow
def test_races_and_tuning_are_about_the_values_given() -> None:
    arguments = (np.ones(99), np.ones(3), np.zeros(9), 2, 1)
    found = pv.compare(STRIDES, *arguments, schedules=["pluto"], targets=["c"], repeats=1)
    note = "`stride` is taken as 2, its value in this call: only for a constant are the loops affine."
    assert note in found.data.notes
    assert [row.verified for row in found.rows] == [True, True]
    part = pv.extract(STRIDES)
    own = pv.compare(STRIDES, *arguments, schedules={"own": part.schedule}, targets=["c"], repeats=1)
    assert note not in own.data.notes


def test_the_row_length_of_a_flat_matrix_is_not_asked_for() -> None:
    part = pv.extract("def f(A, n):\n for i in range(n):\n  for j in range(n):\n   A[i * n + j] += 1.0")
    assert part.deciding == ()
def counted(x: Any, low: Any, high: Any, counts: Any) -> None:
    width = (high - low) / len(counts)
    for i in range(len(x)):
        place = int((x[i] - low) // width)
        if 0 <= place < len(counts):
            counts[place] += 1


def stepped(x: Any, k: Any) -> Any:
    for i in range(k):
        x[i] += 1.0


@pytest.mark.parametrize("target", ["c", "python"])
def test_a_float_where_a_size_could_be_meant(target: str) -> None:
    kernel = pv.compile(counted, target=target)
    x = np.linspace(0.0, 4.0, 9)
    for low, high in ((0.5, 3.5), (0, 4), (np.float64(0.25), 4)):
        expected, found = np.zeros(4), np.zeros(4)
        counted(x, low, high, expected)
        kernel(x, low, high, found)
        np.testing.assert_array_equal(found, expected)
    with pytest.raises(pv.ArgumentError, match="must be an integer"):
        pv.compile(stepped, target=target)(x, 2.5)


def test_a_float_beside_dimensions_that_the_call_tells() -> None:
    def of_rows(A, low, counts):
        total = np.sum(A @ A)
        place = int((total - low) // 1)
        counts[place] += 1

    kernel, counts = pv.compile(of_rows), np.zeros(4)
    kernel(np.eye(2), 0.5, counts)
    assert counts.tolist() == [0.0, 1.0, 0.0, 0.0]


def test_what_loops_for_a_value_do_not_take_goes_to_those_for_any() -> None:
    def set_between(x, first, last, step):
        for i in range(first, last, step):
            x[i] = 1.0

    kernel = pv.compile(set_between, target="c")
    for first, last, step in ((2, 9, 3), (-4, 3, 1), (-9, -2, 2)):
        found, expected = np.zeros(9), np.zeros(9)
        kernel(found, first, last, step)
        set_between(expected, first, last, step)
        np.testing.assert_array_equal(found, expected)


def test_a_kernel_that_waits_for_its_first_call_may_be_called_by_other_loops() -> None:
    outer = function_of(
        "def outer(A: 'float64[:, :]'):\n    return product(A, A)\n", product=pv.compile(PRODUCT, target="python")
    )
    np.testing.assert_allclose(pv.compile(outer, target="python")(A), A @ A)
