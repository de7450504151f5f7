"""What temporaries of a cell hold at the end is computed apart from the loops, where what it follows from is there."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest

import polyviz as pv

PRODUCT = """
for i in range(n):
    for j in range(n):
        s = 0.0
        for k in range(n):
            s += A[i, k] * B[k, j]
        C[i, j] = s
"""
UPDATE = PRODUCT.replace("s = 0.0", "s = C[i, j]")
SWAP = """
for i in range(n // 2):
    t = x[i]
    x[i] = x[n - 1 - i]
    x[n - 1 - i] = t
"""
FACTOR = """
for i in range(1, n):
    for j in range(1, i):
        s = C[i, j]
        for k in range(j):
            s -= 0.1 * C[i, k] * C[j, k]
        C[i, j] = s
"""
DEPENDENT = """
for i in range(n):
    s = 0.0
    for j in range(n):
        s += A[i, j]
    m = s / n
    v = 0.0
    for j in range(n):
        d = A[i, j] - m
        v += d * d
    y[i] = v
"""
TWICE = """
for i in range(n):
    d = A[i, 0] - x[i]
    y[i] = d * d
for i in range(n):
    d = A[0, i] + y[i]
    B[i, 0] = d
"""
MAYBE = """
for i in range(n):
    d = x[i]
    if A[i, 0] > 0.5:
        d = -x[i]
    y[i] = d
"""
KEPT = """
for t in range(4):
    for i in range(1, n - 1):
        d = x[i - 1] + x[i + 1]
        y[i] = d
    for i in range(1, n - 1):
        x[i] = 0.5 * y[i]
"""
APART = {
    "product": PRODUCT,
    "update": UPDATE,
    "swap": SWAP,
    "factor": FACTOR,
    "dependent": DEPENDENT,
    "twice": TWICE,
    "maybe": MAYBE,
    "kept": KEPT,
}
INSIDE = {
    "changed before and behind": KEPT.replace("y[i] = d", "y[i] = 2 * d"),
    "stored and changed again": KEPT.replace("x[i] = 0.5 * y[i]", "x[i] = y[i]; y[i] = 0"),
    "few iterations": """
for c in range(3):
    s = 0.0
    for i in range(n):
        s += A[c, i]
    y[c] = 2 * s
""",
    "a temporary that nobody sees": "def f(x, y, n):\n for i in range(n):\n  d = x[i]\n  y[i] = d",
}


def given(size: int) -> dict[str, Any]:
    chance = np.random.default_rng(3)
    square = {name: chance.random((size, size)) for name in "ABC"}
    return {"n": size, **square, "x": chance.random(size), "y": chance.random(size)}


def visible(text: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """What plain Python leaves in the names of a cell."""
    names = {name: value.copy() if isinstance(value, np.ndarray) else value for name, value in arguments.items()}
    exec(text, {}, names)
    return names


@pytest.mark.parametrize(
    ("name", "target"), [*((name, "c") for name in APART), ("update", "numba"), ("dependent", "numba")]
)
def test_values_are_those_of_python(name: str, target: str) -> None:
    kernel = pv.compile(APART[name], target=target, floating_point="strict")
    assert not kernel.plan.final_values
    assert kernel.plan.ahead is not None or kernel.plan.behind is not None
    for size in (0, 1, 2, 37):
        arguments = given(size)
        wanted = [parameter for parameter in inspect.signature(kernel).parameters if parameter not in arguments]
        expected = visible(APART[name], arguments | dict.fromkeys(wanted, -7.0))
        found = kernel(**{name: arguments.get(name, -7.0) for name in inspect.signature(kernel).parameters})
        assert found == tuple(expected[result] for result in kernel.program.results)
        for array in ("A", "B", "C", "x", "y"):
            np.testing.assert_array_equal(arguments[array], expected[array])


def test_before_behind_or_both() -> None:
    def parts(text: str) -> tuple[bool, bool]:
        plan = pv.compile(text, target="c").plan
        return plan.ahead is not None, plan.behind is not None

    assert parts(PRODUCT) == (False, True)
    assert parts(SWAP) == (True, False)
    assert parts(FACTOR) == parts(UPDATE) == (True, True)


def test_what_an_array_of_another_type_has_stored_is_not_read_back() -> None:
    kernel = pv.compile(KEPT, target="c")
    narrow = {"n": 9, "x": np.linspace(0, 1, 9, dtype="float32"), "y": np.zeros(9, "float32")}
    expected = dict(narrow) | {"x": narrow["x"].copy()}
    exec(KEPT.replace("x[i - 1] + x[i + 1]", "float(x[i - 1]) + float(x[i + 1])"), {}, expected)
    (found,) = kernel(**narrow, d=0.0)
    assert kernel.plan.read_back == ("S1",)
    assert found == pytest.approx(expected["d"], abs=1e-12)


@pytest.mark.parametrize("text", INSIDE.values(), ids=INSIDE)
def test_loops_hand_over_what_cannot_be_computed_again(text: str) -> None:
    plan = pv.compile(text, target="c").plan
    assert plan.ahead is None
    assert plan.behind is None
    said = any("the loops hand over what the last iteration leaves" in one.text for one in plan.decisions)
    assert said == text.startswith("\nfor")


def test_products_in_cells_have_register_tiles() -> None:
    assert pv.compile(PRODUCT, target="c").plan.register_tiles
    assert not pv.compile(PRODUCT, target="c", once_more=False).plan.register_tiles


def test_what_is_said() -> None:
    said = [decision.text for decision in pv.compile(UPDATE, target="c").plan.decisions]
    wanted = "the last iteration leaves in s is computed once more before and behind the loops"
    assert any(wanted in one for one in said)


def test_text(golden: Any) -> None:
    text = pv.compile(DEPENDENT, target="c", once_more=True).source
    golden(text[text.index("/* The last iteration") :])
