"""Arrays that are put together of others, as NumPy does it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import polyviz as pv
from polyviz.errors import ArgumentError, PolyvizError
from tests.frontend.compiled import same_compiled

x, y = np.arange(4.0) + 0.5, np.arange(4.0)[::-1] ** 2
GIVEN = {"A": np.arange(12.0).reshape(3, 4), "B": np.arange(12.0).reshape(3, 4) % 5, "x": x, "y": y}


def behind_each_other(A: Any, B: Any, x: Any, y: Any) -> Any:
    z = np.concatenate((x, y))
    z[1] += np.sum(np.concatenate([x[1:], y * 2.0, x[::-1]]) ** 2)
    z = np.concatenate((z, y))
    return z, np.append(x, 3.5), np.append(x, y), np.hstack((x, y, x))


def of_matrices(A: Any, B: Any, x: Any, y: Any) -> Any:
    wide = np.hstack((A, B[:, 1:], y[:3, None]))
    return wide, np.concatenate((A, B[1:]), axis=-2), np.vstack((A, x, B)), np.column_stack((A, y[1:]))


def beside_each_other(A: Any, B: Any, x: Any, y: Any) -> Any:
    return np.vstack((x, y)), np.column_stack((x, y, x + y)), np.stack([A, B], axis=1), np.stack((x, y), 1)


def of_sums_and_numbers(A: Any, B: Any, x: Any, y: Any) -> Any:
    z = np.concatenate(([0.0], np.cumsum(x), np.diff(y)))
    total = 0.0
    for i in range(len(x)):
        total += z[i + 1] - z[i]
    return z, total, np.concatenate((np.where(x > 1.0, x, y), [total, x[1]]))


def in_a_loop(A: Any, B: Any, x: Any, y: Any) -> None:
    for _ in range(3):
        z = np.concatenate((x[-1:], x, x[:1]))
        x[:] = z[2:] - z[:-2]
        A[0, :] = np.concatenate((y[2:], y[:2]))


def of_computed_names(A: Any, B: Any, x: Any, y: Any) -> Any:
    column = A[:, 0:1]
    apart = column.T - column
    scaled = 2.0 * (apart @ B)
    return np.hstack((scaled, B))


FUNCTIONS = [behind_each_other, of_matrices, beside_each_other, of_sums_and_numbers, in_a_loop, of_computed_names]


@pytest.mark.parametrize("target", ["c", "numba"])
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
def test_as_numpy_does_it(function: Any, target: str) -> None:
    same_compiled(function, GIVEN, target, "strict")


def joined(a: Any, b: Any) -> Any:
    return np.concatenate((a, b))


def begun(a: Any, b: Any) -> Any:
    return np.concatenate(([0], a)), np.append(b, 1)


@pytest.mark.parametrize("kinds", [("f4", "f8"), ("i4", "f4"), ("i4", "i8"), ("f4", "f4"), ("c16", "f8"), ("u1", "i2")])
@pytest.mark.parametrize("function", [joined, begun], ids=lambda function: function.__name__)
def test_the_type_has_room_for_all(function: Any, kinds: tuple[str, str]) -> None:
    a, b = (np.arange(4).astype(kind) for kind in kinds)
    try:
        same_compiled(function, {"a": a, "b": b}, "c", "strict")
    except PolyvizError as error:
        assert "not clear" in error.message  # refused or right


def test_parts_that_do_not_fit_are_refused() -> None:
    kernel = pv.compile("def f(A, B):\n return np.concatenate((A[:, :], B[:, :]), axis=1)")
    assert kernel(np.ones((2, 3)), np.ones((2, 1))).shape == (2, 4)
    with pytest.raises(ArgumentError, match="these sizes"):
        kernel(np.ones((2, 3)), np.ones((3, 3)))
    with pytest.raises(ArgumentError, match="these sizes"):
        kernel(np.ones((2, 3)), np.ones((1, 3)))


@pytest.mark.parametrize(
    "value",
    [
        "np.concatenate((x, A))",
        "np.concatenate((x, y), axis=1)",
        "np.concatenate((x, y), out=y)",
        "np.concatenate(A)",
        "np.stack((x, y), axis=3)",
        "np.append(A, x)",
        "np.concatenate((x, 1.0))",
        "np.hstack((A, x))",
    ],
)
def test_what_numpy_does_not_do_or_does_otherwise_is_refused(value: str) -> None:
    with pytest.raises(PolyvizError, match="not supported"):
        pv.extract(f"def f(A, x, y):\n A[0, 0] = x[0] = y[0] = 1.0\n z = {value}\n return z")


def test_names_of_a_cell_are_not_taken() -> None:
    with pytest.raises(PolyvizError, match="concatenate"):
        pv.extract("x[0] = y[0]\nz = np.concatenate((x, y))")
