"""Pixels of several small numbers are left to the compiler; what lies side by side, and wider numbers, run in lanes."""

from __future__ import annotations

import numpy as np
import pytest

import polyviz as pv
from polyviz.model.program import ArrayType
from tests.running import agree, function_of

PIXELS = """
    def f(image, out):
        for i in range(image.shape[0]):
            for j in range(image.shape[1]):
                bright = image[i, j, 0] // 2 + image[i, j, 1] // 4 + image[i, j, 2] // 4
                out[i, j, 0] = bright
                out[i, j, 1] = bright
                out[i, j, 2] = bright
    """
PLANES = """
    def f(image, out):
        for i in range(image.shape[0]):
            for j in range(image.shape[1]):
                out[i, j] = image[i, j] // 2 + 1
    """


def is_in_lanes(text: str, rank: int, image: str, out: str) -> bool:
    kernel = pv.compile(function_of(text), target="c")
    types = {"image": ArrayType(image, rank), "out": ArrayType(out, rank)}
    return "#pragma omp simd" in kernel.specialise(types).text


@pytest.mark.parametrize("dtype", ["uint8", "int16"])
def test_small_numbers_some_bytes_apart_are_left_to_the_compiler(dtype: str) -> None:
    assert not is_in_lanes(PIXELS, 3, dtype, dtype)


@pytest.mark.parametrize(("image", "out"), [("int32", "int32"), ("float64", "float64"), ("uint8", "float32")])
def test_wider_numbers_run_in_lanes(image: str, out: str) -> None:
    assert is_in_lanes(PIXELS, 3, image, out)


def test_small_numbers_side_by_side_run_in_lanes() -> None:
    assert is_in_lanes(PLANES, 2, "uint8", "uint8")


def test_results_are_those_of_the_loops() -> None:
    image = np.random.default_rng(1).integers(0, 255, (5, 70, 3)).astype(np.uint8)
    agree(PIXELS, image, np.zeros_like(image), target="c")
