"""Products of real, imaginary and complex numbers: the values of NumPy, without what is multiplied by zeros."""

from __future__ import annotations

import numpy as np
import pytest

import polyviz as pv
from tests.frontend.compiled import same_compiled
from tests.running import function_of

RANDOM = np.random.default_rng(9)
TERMS = [
    "x[i] * z[i]",
    "z[i] * x[i]",
    "1j * x[i] * z[i]",
    "-1j * 0.5 * x[i] * z[i] - x[i] * (z[i] + w[i])",
    "2j * 3j * z[i]",
    "z[i] * 1j * w[i]",
    "x[i] * 2j + z[i]",
    "z[i] / x[i]",
    "x[i] * z[i] / (x[i] + 1.0) * w[i]",
    "1j * x[i] / z[i]",
    "z[i] * w[i] / 3",
    "(i + 1) * z[i] * True",
    "(2.0 + 1j) * x[i] * z[i]",
]


def given(kind: str = "complex128") -> dict[str, np.ndarray]:
    z, w = (RANDOM.random(7) + 1j * RANDOM.random(7) for _ in range(2))
    x = RANDOM.random(7) - 0.5
    return {"z": z.astype(kind), "w": w.astype(kind), "x": x.astype("float32" if kind == "complex64" else "float64")}


def program(term: str) -> str:
    return f"def f(z, w, x):\n    for i in range(len(x)):\n        w[i] += {term}"


@pytest.mark.parametrize("contract", ["reassociate", "strict"])
@pytest.mark.parametrize("term", TERMS)
def test_the_values_of_numpy(term: str, contract: str) -> None:
    same_compiled(function_of(program(term)), given(), "c", contract)


def test_numbers_of_single_precision() -> None:
    for term in ("x[i] * z[i]", "z[i] * np.complex64(1j) * x[i]", "z[i] / x[i]"):
        same_compiled(function_of(program(term)), given("complex64"), "c", "reassociate")


@pytest.mark.parametrize("contract", ["reassociate", "strict"])
def test_nothing_is_divided_by_zero(contract: str) -> None:
    arrays = given() | {"x": np.zeros(7)}
    pv.compile(function_of(program("z[i] / x[i]")), target="c", contract=contract)(**arrays)
    assert np.isnan(arrays["w"].real).all()
    assert np.isnan(arrays["w"].imag).all()


@pytest.mark.parametrize(
    ("term", "called"), [("x[i] * z[i]", "scale_c128(x[i], z[i])"), ("z[i] * 1j", "turn_c128(1.0, z[i])")]
)
def test_zeros_are_left_out(term: str, called: str) -> None:
    for contract, is_left_out in (("reassociate", True), ("strict", False)):
        kernel = pv.compile(function_of(program(term)), target="c", contract=contract)
        kernel(**given())
        assert (called in kernel.source) == is_left_out
        assert ("multiply_c128" in kernel.source) != is_left_out
