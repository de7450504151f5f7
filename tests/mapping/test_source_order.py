"""The order of the source where tiles would turn scalars into arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import polyviz as pv
from tests.running import compiled_by_numba

if TYPE_CHECKING:
    from collections.abc import Callable


def chains(weights: Any, costs: Any, n: int) -> None:
    """The cheapest way to split every span: a scalar per span, spans along a wavefront."""
    for length in range(2, n):
        for i in range(1, n - length + 1):
            best = 1e30
            for k in range(i, i + length - 1):
                cost = costs[i, k] + costs[k + 1, i + length - 1] + weights[i - 1] * weights[k]
                best = min(best, cost)
            costs[i, i + length - 1] = best


def angles(points: Any, cosines: Any) -> None:
    """Several sums over the same loop, of which register tiles make nothing."""
    for i in range(points.shape[0]):
        for j in range(points.shape[0]):
            dot = 0.0
            own = 0.0
            other = 0.0
            for k in range(points.shape[1]):
                dot += points[i, k] * points[j, k]
                own += points[i, k] * points[i, k]
                other += points[j, k] * points[j, k]
            cosines[i, j] = dot / np.sqrt(own * other)


def down_columns(image: Any, weights: Any, out: Any) -> None:
    """The order of the source walks down the columns in its innermost loop: the one found does not."""
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            total = 0.0
            for k in range(weights.shape[0]):
                total += image[i + k, j] * weights[k]
            out[i, j] = total


def product(left: Any, right: Any, out: Any) -> None:
    """Register tiles are worth the array."""
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            total = 0.0
            for k in range(left.shape[1]):
                total += left[i, k] * right[k, j]
            out[i, j] = total


def takes_the_source_order(kernel: pv.Kernel) -> bool:
    return any(decision.step == "source-order" for decision in kernel.plan.decisions)


@pytest.mark.parametrize("function", [chains, angles])
def test_scalars_stay_in_registers_in_the_order_of_the_source(function: Callable[..., None]) -> None:
    kernel = pv.compile(function, target="c")
    assert takes_the_source_order(kernel)
    assert not kernel.plan.expansions
    assert "#pragma omp parallel for" in kernel.source
    assert "which keeps `" in kernel.report()


@pytest.mark.parametrize("function", [down_columns, product])
def test_orders_that_are_worth_an_array_stay(function: Callable[..., None]) -> None:
    kernel = pv.compile(function, target="c")
    assert not takes_the_source_order(kernel)
    assert kernel.plan.expansions


def test_tiles_that_were_asked_for_and_other_schedulers_keep_their_order() -> None:
    assert not takes_the_source_order(pv.compile(chains, target="c", tile=16))
    assert not takes_the_source_order(pv.compile(chains, target="c", schedule="isl"))


@pytest.mark.parametrize("size", [1, 2, 3, 40, 300])
def test_what_runs_in_the_order_of_the_source_is_right(size: int) -> None:
    random = np.random.default_rng(3)
    weights, costs = random.random(size + 1), random.random((size + 1, size + 1))
    expected = costs.copy()
    if size <= 40:
        chains(weights, expected, size)
    else:
        compiled_by_numba(chains, (weights, expected, size))(weights, expected, size)
    pv.compile(chains, target="c")(weights, costs, size)
    np.testing.assert_allclose(costs, expected)


def band(matrix: Any, right: Any, width: int) -> None:
    """A solver for band matrices, of which each row has a factor for few other rows."""
    for k in range(right.size):
        for i in range(k + 1, min(k + width + 1, right.size)):
            factor = matrix[i, k - i + width] / matrix[k, width]
            for j in range(k + 1, min(k + width + 1, right.size)):
                matrix[i, j - i + width] -= factor * matrix[k, j - k + width]
            right[i] -= factor * right[k]


@pytest.mark.parametrize("target", ["c", "python"])
def test_no_array_is_mostly_empty(target: str) -> None:
    kernel = pv.compile(band, target=target)
    assert "for some sizes, hardly any cells are used" in kernel.report()
    generator = np.random.default_rng(3)
    matrix, right = generator.random((40, 7)), generator.random(40)
    matrix[:, 3] += 7.0
    expected, expected_right = matrix.copy(), right.copy()
    band(expected, expected_right, 3)
    kernel(matrix, right, 3)
    assert np.allclose(matrix, expected)
    assert np.allclose(right, expected_right)


def test_a_solver_for_band_matrices_needs_no_square_of_memory() -> None:
    """The square would have 8 TB."""
    matrix, right = np.ones((10**6, 3)), np.ones(10**6)
    matrix[:, 1] = 4.0
    pv.compile(band, target="c")(matrix, right, 1)
    assert np.isfinite(right).all()
