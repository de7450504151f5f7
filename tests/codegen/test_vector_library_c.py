"""Library functions in vectors: declared where last bits may differ, with NaN and infinity as they were."""

from __future__ import annotations

import shutil
import subprocess

import numpy as np
import pytest

import polyviz as pv
from polyviz.codegen.vector_library_c import DECLARED, vector_declarations

EXPONENTIALS = "def f(x, y):\n    for i in range(x.shape[0]):\n        y[i] = np.exp(x[i]) + np.sin(x[i])"


ONE = "def f(x, y):\n    for i in range(x.shape[0]):\n        y[i] = np.{}(x[i])"
POWERS = "def f(x, z, y):\n    for i in range(x.shape[0]):\n        y[i] = x[i] ** z[i]"


def special_values(dtype: str) -> np.ndarray:
    """Values at which functions turn, end or lose their digits: denormal ones, and angles that need all of pi."""
    kind = np.finfo(dtype)
    small = [kind.tiny, kind.tiny / 4, kind.smallest_subnormal, 1e-5, 1 - 1e-7, 1 + 1e-7, 0.5, 1.0, 2.0, 2.5, 3.0]
    angles = [np.pi / 2, np.pi, 1e4 * np.pi, 1e8 * np.pi, 33333.0, 2.0**24 + 1, 2.0**30 + 1, 2.0**31, 1e15, 1e22, 1e30]
    ends = [87.5, 88.7, 103.5, 104.0, 708.0, 709.7, 710.0, 744.5, 746.0, kind.max, np.inf, 0.0]
    positive = np.array([*small, *angles, *ends], dtype)
    return np.concatenate([positive, -positive, np.array([np.nan], dtype)])


def agree_but_for_last_bits(given: np.ndarray, wanted: np.ndarray) -> None:
    """Whether the numbers are those of more digits, up to four units in the last place; NaN and infinity are exact."""
    with np.errstate(all="ignore"):
        rounded = wanted.astype(given.dtype)
        apart = np.abs(given.astype(wanted.dtype) - rounded) > 4 * np.spacing(np.abs(rounded)).astype(wanted.dtype)
    finite = np.isfinite(rounded)
    np.testing.assert_array_equal(given[~finite], rounded[~finite])
    assert np.isfinite(given[finite]).all()
    assert not (apart & finite).any()


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", sorted(DECLARED.keys() - {"pow"}))
def test_special_values_keep_their_meaning(name: str, dtype: str) -> None:
    # In every lane of the vectors, and in the iterations that remain.
    x = np.concatenate([special_values(dtype), np.roll(special_values(dtype), 3), np.ones(5, dtype)])
    y = np.zeros_like(x)
    kernel = pv.compile(ONE.format(name), target="c")
    kernel(x, y)
    with np.errstate(all="ignore"):
        agree_but_for_last_bits(y, getattr(np, name)(x.astype("longdouble")))


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_powers_of_special_values_keep_their_meaning(dtype: str) -> None:
    x, z = (grid.ravel().copy() for grid in np.meshgrid(special_values(dtype), special_values(dtype)))
    y = np.zeros_like(x)
    kernel = pv.compile(POWERS, target="c")
    kernel(x, z, y)
    assert "simd(" in kernel.source
    with np.errstate(all="ignore"):
        agree_but_for_last_bits(y, np.power(x.astype("longdouble"), z.astype("longdouble")))


GLIBC = ["-D__GLIBC__=2", "-D__GLIBC_MINOR__=22"]


@pytest.mark.parametrize(
    ("compiler", "flags", "expected"),
    [
        ("gcc", GLIBC, True),
        ("gcc", ["-D__GLIBC__=2", "-D__GLIBC_MINOR__=17"], False),
        ("gcc", [], False),
        ("gcc", [*GLIBC, "-U__x86_64__"], False),
        ("clang-19", GLIBC, False),
    ],
    ids=["glibc", "old glibc", "musl", "another processor", "clang"],
)
def test_nothing_is_declared_where_there_are_no_vectors_of_them(
    compiler: str, flags: list[str], expected: bool
) -> None:
    if shutil.which(compiler) is None:
        pytest.skip(f"{compiler} is not installed")
    declarations = vector_declarations("y[i] = exp(x[i]);", "reassociate")
    command = [compiler, "-E", "-P", "-xc", "-D__x86_64__=1", *flags, "-"]
    read = subprocess.run(command, input=declarations, capture_output=True, text=True, check=True).stdout
    assert ("simd(" in read) == expected


def test_functions_are_declared_once_each_and_only_where_bits_may_differ() -> None:
    x, y = np.linspace(-3, 3, 50), np.zeros(50)
    kernel = pv.compile(EXPONENTIALS, target="c")
    kernel(x, y)
    np.testing.assert_allclose(y, np.exp(x) + np.sin(x), rtol=1e-14)
    declared = [line for line in kernel.source.splitlines() if "simd(" in line]
    assert [line.partition(" double ")[2].partition(";")[0] for line in declared] == ["exp(double)", "sin(double)"]
    assert "simd(" not in pv.compile(EXPONENTIALS, target="c", contract="strict").source
