from __future__ import annotations

import subprocess

import numpy as np
import pytest

import polyviz as pv
from polyviz.codegen.dtypes import TYPES
from polyviz.codegen.runtime_c import HELPERS, helper_source
from tests.codegen.differential import HEADERS
from tests.running import agree, function_of

KINDS = {"i": "iu", "u": "u", "f": "f", "c": "c", "": "biuf"}
NAMES = sorted(
    {
        f"{base}_{scalar.suffix}"
        for base, kind in HELPERS
        for scalar in TYPES.values()
        if scalar.kind in KINDS[kind]
    }
    - {f"checked_index_{scalar.suffix}" for scalar in TYPES.values()}
    | {"checked_index"}
)


@pytest.mark.slow
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_every_helper_compiles_alone_without_a_warning(compiler, tmp_path):
    try:
        subprocess.run([compiler, "--version"], capture_output=True, check=True)
    except FileNotFoundError:
        pytest.skip(f"{compiler} is not installed")
    for name in NAMES:
        source = tmp_path / f"{name}.c"
        source.write_text(HEADERS + helper_source([name]), encoding="utf-8")
    command = [compiler, "-std=gnu11", "-Wall", "-Wno-unused-function", "-Werror", "-fsyntax-only"]
    done = subprocess.run(
        [*command, *map(str, sorted(tmp_path.glob("*.c")))], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_a_helper_brings_those_it_uses_once_and_before_it(golden):
    golden(helper_source({"divide_c64", "power_c64", "floor_div_i64", "round_digits_f32", "checked_index"}))


def test_only_what_is_named_is_defined():
    assert helper_source([]) == ""
    assert helper_source(["max_i32"]).count("static inline") == 1


@pytest.mark.parametrize("contract", ["strict", "reassociate"])
def test_divisors_of_the_data_divide_short_and_long_numbers(contract: str) -> None:
    text = "def f(x, y, q, r):\n    for i in range(x.shape[0]):\n        for j in range(y.shape[0]):\n"
    text += "            q[i, j] = x[i] // y[j]\n            r[i, j] = x[i] % y[j]\n"
    edges = [0, 1, 7, 2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**62]
    x = np.array([*edges, *(-edge for edge in edges), -(2**63)])
    y = np.array([one for one in x if one != 0])
    q, r = np.zeros((2, len(x), len(y)), np.int64)
    kernel = agree(text, x, y, q, r, target="c", contract=contract)
    assert "floor_div_by_i64(" in kernel.source
    assert "floor_mod_by_i64(" in kernel.source


ROUNDED = """
    def f(x, y, q, r):
        for i in range(x.shape[0]):
            q[i] = x[i] // y[i]
            r[i] = x[i] % y[i]
    """


@pytest.mark.parametrize("contract", ["strict", "reassociate"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_fractions_are_rounded_down_without_a_call(dtype, contract: str) -> None:
    random = np.random.default_rng(5)
    y = (random.random(2000) + 0.01).astype(dtype) * random.choice([-1, 1], 2000).astype(dtype)
    multiples = random.integers(-60, 60, 2000).astype(dtype) * y
    nearby = [np.nextafter(multiples, dtype(end)) for end in (-np.inf, np.inf)]
    far = dtype(1e9) * random.random(2000).astype(dtype)
    odd = np.array([0.0, -0.0, 1e-40, -1e-40, 1.0, -1.0, np.inf], dtype)
    x = np.concatenate([multiples, *nearby, far, np.repeat(odd, 6)])
    y = np.concatenate([y, y, y, y, np.tile(odd[[4, 5, 4, 5, 6, 6]], 7)])
    x[np.isinf(x) & np.isinf(y)] = 1
    q, r = np.zeros((2, len(x)), dtype)
    kernel = agree(ROUNDED, x, y, q, r, target="c", contract=contract)
    assert "if (floor_rest_" in kernel.source


POWERS = """
    def f(x, e, out):
        for i in range(x.shape[0]):
            for j in range(e.shape[0]):
                out[i, j] = x[i] ** e[j]
    """


def by_squaring(base, exponent: int):
    """The multiplications of numba, in its order."""
    result, left = base.dtype.type(1), abs(exponent)
    while left:
        result = result * base if left & 1 else result
        left, base = left >> 1, base * base
    return 1 / result if exponent < 0 else result


@pytest.mark.parametrize("kind", ["float64", "float32"])
@pytest.mark.filterwarnings("ignore:overflow")
def test_powers_of_varying_exponents_have_the_bits_of_the_multiplications(kind):
    bases = np.array([1.0, -1.5, 2.5, 0.999, -0.0, np.nan, np.inf], kind)
    exponents = np.array([0, 1, 2, 3, 5, 17, 62, 63, 64, 1000])
    out = np.zeros((len(bases), len(exponents)), kind)
    kernel = pv.compile(function_of(POWERS), target="c", contract="strict")
    kernel(bases, exponents, out)
    expected = np.array([[by_squaring(base, int(one)) for one in exponents] for base in bases])
    np.testing.assert_array_equal(out, expected)
    assert np.array_equal(np.signbit(out), np.signbit(expected))
    assert "varying_power" in kernel.source


STEADY_POWERS = """
    def f(letters, k, growth, codes, values):
        code = 0
        for i in range(letters.shape[0]):
            code = (code * 4 + letters[i]) & (4 ** k - 1)
            codes[i] = code
            values[i] += growth ** k
    """


@pytest.mark.parametrize("k", [0, 1, 5, -1])
def test_powers_of_numbers_that_never_change_are_asked_for_once(k):
    letters = np.arange(37) * 7 % 4
    kernel = agree(STEADY_POWERS, letters, k, 1.25, np.zeros(37, int), np.ones(37), target="c", contract="strict")
    for name in ("steady_power_i64", "steady_power_f64"):
        assert f"__attribute__((const, noinline)) static {'int64_t' if 'i64' in name else 'double'} {name}(" in (
            kernel.source
        )


@pytest.mark.parametrize("base", ["complex128", "complex64"])
@pytest.mark.parametrize("exponent", ["complex128", "complex64", "float64", "int64"])
@pytest.mark.filterwarnings("ignore:Casting complex")
def test_powers_of_complex_numbers_have_the_bits_of_numba(base, exponent):
    random = np.random.default_rng(3)
    values = random.standard_normal(60) + 1j * random.standard_normal(60)
    x = np.append(values, [0, 1j, -1, complex(-0.0, -1.0)]).astype(base)
    e = np.append(4 * values, [0, 1, 2, 3, 0.5]).astype(exponent)
    out = np.zeros((len(x), len(e)), complex)
    agree(POWERS, x, e, out, target="c", contract="strict")


@pytest.mark.parametrize("kind", ["complex128", "complex64"])
def test_zero_has_no_power_of_a_negative_or_complex_exponent(kind):
    out = np.zeros((2, 6), kind)
    bases = np.array([0, complex(-0.0, 0.0)], kind)
    pv.compile(function_of(POWERS), target="c")(bases, np.array([-1, -0.5, 1j, 1 - 1j, 0, 0.5], kind), out)
    assert np.isnan(out[:, :4].real).all()
    assert np.isnan(out[:, :4].imag).all()
    assert (out[:, 4] == 1).all()
    assert (out[:, 5] == 0).all()


REMAINDERS = """
    def f(x, out):
        for i in range(x.shape[0]):
            out[0, i] = x[i] % 1
            out[1, i] = x[i] % 8.0
            out[2, i] = x[i] % 1.5
            out[3, i] = x[i] % 0.5
    """


@pytest.mark.parametrize("kind", ["float64", "float32"])
def test_remainders_by_powers_of_two_are_as_exact_as_others(kind):
    random = np.random.default_rng(7)
    values = random.standard_normal(400) * 10.0 ** random.integers(-30, 30, 400)
    special = [0.0, -0.0, 1.0, -1.0, -8.0, 1e-40, -1e-40, -1e-17, 2.0**53 + 2, -(2.0**60), np.inf, -np.inf, np.nan]
    x = np.concatenate([values, special]).astype(kind)
    out = np.zeros((4, len(x)), kind)
    kernel = pv.compile(function_of(REMAINDERS), target="c", contract="strict")
    kernel(x, out)
    with np.errstate(invalid="ignore"):
        expected = np.array([np.mod(x.astype(np.float64), by) for by in (1, 8.0, 1.5, 0.5)]).astype(kind)
    np.testing.assert_array_equal(out, expected)
    numbers = ~np.isnan(out)
    assert np.array_equal(np.signbit(out[numbers]), np.signbit(expected[numbers]))
    assert kernel.source.count("floor_mod_exact_f64(x[i]") == 2
