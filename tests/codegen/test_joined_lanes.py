"""Products in lanes, and several updates of one cell in the same ones: text, values, and what stays in order."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

import polyviz as pv
from polyviz.model.program import ArrayType
from polyviz.runtime.toolchain import find_toolchain
from tests.running import function_of

if TYPE_CHECKING:
    from collections.abc import Callable

needs_compiler = pytest.mark.skipif(find_toolchain() is None, reason="no C compiler")

PRODUCT = """
def product(x, y):
    p = 1.0
    for i in range(x.shape[0]):
        p *= 1.0 + x[i] * y[i]
    return p
"""
CHOSEN = """
def chosen(x, y):
    p = 1.0
    for i in range(x.shape[0]):
        p *= x[i] if x[i] > y[i] else 1.0
    return p
"""
TWO_SUMS = """
def two(x, y):
    s = 0.0
    for i in range(x.shape[0]):
        s += x[i] * y[i]
        s -= y[i]
    return s
"""
TWO_PRODUCTS = """
def products(x, y):
    p = 1.0
    for i in range(x.shape[0]):
        p *= 1.5 - x[i]
        p *= 1.5 - y[i]
    return p
"""
GREATEST = """
def greatest(x, y):
    m = x[0]
    for i in range(x.shape[0]):
        m = max(m, x[i])
        m = max(m, y[i])
    return m
"""
MIXED = """
def mixed(x, y):
    s = 0.0
    for i in range(x.shape[0]):
        s += x[i]
        s *= 0.5 * y[i]
    return s
"""
ROWS = """
def rows(x, y):
    n = x.shape[0]
    for i in range(n):
        y[i] = 1.0
        for j in range(n):
            y[i] *= 1.0 + x[j] / (i + 1)
"""
TWO_IN_ROWS = """
def several(x, y):
    n = x.shape[0]
    for i in range(n):
        for j in range(n):
            y[i] += x[j] * (i + 1)
            y[i] -= 0.5 * x[n - 1 - j]
"""
BETWEEN = """
def between(x, y):
    s = 0.0
    q = 0.0
    for i in range(x.shape[0]):
        d = x[i] - y[i]
        e = d * d + 1
        s += e
        q += e * d
    return s + q
"""
LIVE_OUT = """
def last(x, y):
    s = 0.0
    d = 0.0
    for i in range(x.shape[0]):
        d = x[i] - y[i]
        s += d * d
        s += d
    return s + d
"""
RUNNING = """
def running(x, y):
    s = 0.0
    q = 0.0
    for i in range(x.shape[0]):
        d = x[i] - s
        s += d * 0.5
        q += d * d
    return s + q
"""
CHOSEN_BETWEEN = """
def chosen_between(x, y):
    s = 0.0
    q = 0.0
    for i in range(x.shape[0]):
        d = x[i] - y[i] if x[i] > y[i] else y[i]
        s += d * d
        q += d if d > 0.5 else 0.0
    return s + q
"""
GATHERED = """
def gathered(x, y):
    s = 0.0
    q = 0.0
    n = x.shape[0]
    for i in range(n):
        d = x[n - 1 - i] - y[i]
        s += d * d
        q += d
    return s + q
"""
TEXTS = [PRODUCT, CHOSEN, TWO_SUMS, TWO_PRODUCTS, GREATEST, MIXED, ROWS, TWO_IN_ROWS]
TEXTS += [BETWEEN, LIVE_OUT, RUNNING, CHOSEN_BETWEEN, GATHERED]


def named(text: str) -> str:
    return text.split("(", maxsplit=1)[0][5:]


def loops_of(text: str, contract: str = "reassociate") -> str:
    kernel = pv.compile(function_of(text), target="c", contract=contract)
    source = kernel.specialise({name: ArrayType("float64", 1) for name in "xy"}).text
    return source[source.index("int64_t kernel_") :]


@pytest.mark.parametrize("text", [PRODUCT, TWO_SUMS], ids=named)
def test_the_text(text: str, golden: Callable[..., None]) -> None:
    golden(loops_of(text), "c")


@pytest.mark.parametrize("text", [PRODUCT, CHOSEN, TWO_SUMS, TWO_PRODUCTS, GREATEST, ROWS], ids=named)
def test_lanes_only_where_the_order_may_change(text: str) -> None:
    assert "_lanes[" in loops_of(text)
    assert "_lanes[" not in loops_of(text, "strict")


@pytest.mark.parametrize("text", [MIXED, RUNNING], ids=named)
def test_what_has_to_stay_in_order_does(text: str) -> None:
    assert "_lanes[" not in loops_of(text)


def test_products_are_said() -> None:
    kernel = pv.compile(function_of(PRODUCT), target="c")
    assert [found.text for found in kernel.plan.decisions if found.step == "accumulate"] == [
        "the innermost loop keeps the cell it updates in a register, and multiplies in 32 lanes where products may be "
        "reordered"
    ]


@needs_compiler
@pytest.mark.parametrize("contract", ["reassociate", "strict"])
@pytest.mark.parametrize("text", TEXTS, ids=named)
def test_values_are_those_of_python_for_every_size(text: str, contract: str) -> None:
    function = function_of(text)
    kernel = pv.compile(function, target="c", contract=contract)
    for dtype in ("float64", "float32"):
        for n in (1, 2, 31, 64, 65, 200):
            x, y = (np.random.default_rng(n + place).random(n).astype(dtype) for place in (0, 1))
            found, wanted = y.copy(), y.copy()
            results = kernel(x, found), function(x, wanted)
            close = {"rtol": 1e-11 if dtype == "float64" else 1e-3, "atol": 1e-300}
            assert np.allclose(found, wanted, **close), (dtype, n)
            if results[1] is not None:
                assert np.allclose(*results, **close), (dtype, n)


@needs_compiler
def test_products_of_whole_numbers_wrap_around_as_they_do_in_order() -> None:
    text = """
def product(x):
    p = 1
    for i in range(x.shape[0]):
        p *= x[i]
    return p
"""
    kernel = pv.compile(function_of(text), target="c")
    x = 2 * np.random.default_rng(1).integers(1, 99, 500) + 1
    wanted = 1
    for value in x.tolist():
        wanted = wanted * value % 2**64
    assert kernel(x) % 2**64 == wanted


@needs_compiler
def test_an_empty_product_is_one() -> None:
    assert pv.compile(function_of(PRODUCT), target="c")(np.zeros(0), np.zeros(0)) == 1.0
