"""Blocks of a typed superposition are no larger than their tiles, and tiles have a size."""

from __future__ import annotations

import pytest

import polyviz as pv
from polyviz.errors import OptionError


def double(A):
    for i in range(A.shape[0]):
        for j in range(A.shape[1]):
            A[i, j] = 2 * A[i, j]


def made(outer, regular, **options):
    return pv.superpose(pv.extract(double), {"S0": outer}, {"S0": regular}, **options)


@pytest.mark.parametrize(
    ("outer", "regular", "threads"),
    [
        ("(0, floor(i/32)_x)", "(0, i_x, 0, j, 0)", {"x": 32}),
        ("(0, floor(i/7)_y, floor(j/13)_x)", "(0, i_y, j_x, 0)", {"x": 13, "y": 7}),
        ("(0, floor(i/64)_y, floor(j/64)_x)", "(0, i_y, j_x, 0)", {"x": 32, "y": 32}),
        ("(0, floor(i/8)_x)", "(0, i_y, j_x, 0)", {"x": 32, "y": 8}),
    ],
)
def test_a_block_has_no_more_threads_than_its_tile_has_iterations(outer, regular, threads):
    assert dict(made(outer, regular).kernels[0].threads) == threads


def test_what_is_asked_for_is_done():
    assert dict(made("(0, floor(i/32)_x)", "(0, i_x, 0, j, 0)", threads=(64,)).kernels[0].threads) == {"x": 64}


@pytest.mark.parametrize("size", ["0", "00"])
def test_a_tile_of_nothing_is_refused_in_a_sentence(size):
    with pytest.raises(OptionError, match="is no dimension of a scattering function of S0"):
        made(f"(0, floor(i/{size})_x)", "(0, i_x, 0, j, 0)")
