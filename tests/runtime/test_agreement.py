"""When two results count as the same."""

from __future__ import annotations

import math

import numpy as np
import pytest

from polyviz.runtime.agreement import RELATIVE_TOLERANCE, bit_difference, compare_values


def agree(expected: object, actual: object) -> bool:
    return compare_values({"A": expected}, {"A": actual}).agrees


@pytest.mark.parametrize("dtype", RELATIVE_TOLERANCE)
def test_rounding_is_measured_against_the_largest_magnitude(dtype: str) -> None:
    tolerance = RELATIVE_TOLERANCE[dtype]
    expected = np.array([1000.0, 0.0, 1.0], dtype=dtype)
    inside, outside = expected.copy(), expected.copy()
    inside[1] = 500 * tolerance
    outside[1] = 2000 * tolerance
    assert agree(expected, inside)
    assert not agree(expected, outside)


@pytest.mark.parametrize(
    ("dtype", "rounded", "wrong"),
    [("f4", 1e-5, 1e-3), ("c8", 1e-5, 1e-3), ("f8", 1e-10, 1e-8), ("c16", 1e-10, 1e-8)],
)
def test_how_much_is_rounding_depends_on_the_type(dtype: str, rounded: float, wrong: float) -> None:
    """In numbers, not by the table: one that was widened would accept wrong results everywhere else."""
    expected = np.array([1.0], dtype)
    assert agree(expected, np.array([1.0 + rounded], dtype))
    assert not agree(expected, np.array([1.0 + wrong], dtype))


def test_a_sum_of_single_numbers_is_as_exact_as_they_are() -> None:
    expected, rounded = {"s": np.float64(1.0)}, {"s": np.float64(1.0 + 1e-7)}
    assert not compare_values(expected, rounded, [np.ones(3), 2, None]).agrees
    assert compare_values(expected, rounded, [np.ones(3, "f4"), 2]).agrees
    assert not compare_values(expected, {"s": np.float64(1.001)}, [np.ones(3, "f4")]).agrees


def test_a_large_wrong_value_is_no_measure() -> None:
    assert not agree(np.array([1.0, 1.0]), np.array([1e12, 1.5]))
    found = compare_values({"A": np.array([1.0, 2.0])}, {"A": np.array([1e12, 2.0])})
    assert found.largest_difference == pytest.approx(5e11)


def test_parts_of_a_complex_number_are_compared_apart() -> None:
    expected = np.array([complex(math.inf, 1.0), 1.0])
    assert agree(expected, np.array([complex(math.inf, 1.0 + 1e-12), 1.0]))
    assert not agree(expected, np.array([complex(math.inf, 1.5), 1.0]))
    assert not agree(expected, np.array([complex(-math.inf, 1.0), 1.0]))


def test_integers_and_truth_values_are_exact() -> None:
    assert agree(np.array([1, 2]), np.array([1, 2]))
    assert not agree(np.array([10**15, 2]), np.array([10**15 + 1, 2]))
    assert not agree(np.array([True, False]), np.array([True, True]))
    assert agree(np.array([2**63], dtype="u8"), np.array([2**63], dtype="u8"))
    assert not agree(np.array([2**63], dtype="u8"), np.array([2**63 + 1], dtype="u8"))


@pytest.mark.parametrize("special", [math.nan, math.inf, -math.inf, complex(math.nan, 1.0)])
def test_special_values_agree_with_themselves_only(special: complex) -> None:
    expected = np.array([1.0, special])
    assert agree(expected, expected.copy())
    for other in (0.0, 1e300, math.nan, math.inf, -math.inf):
        if not (other == special or (np.isnan(other) and np.isnan(special))):
            assert not agree(expected, np.array([1.0, other], dtype=expected.dtype)), other


def test_a_special_value_does_not_hide_another_difference() -> None:
    assert not agree(np.array([math.inf, 1.0, 2.0]), np.array([math.inf, 1.0, 3.0]))
    assert not agree(np.array([math.nan, 0.0]), np.array([math.nan, 1e-3]))


def test_shapes_must_be_equal() -> None:
    agreement = compare_values({"A": np.zeros((2, 3))}, {"A": np.zeros((3, 2))})
    assert agreement.sentence == "A has shape (3, 2), the original gives (2, 3)"
    assert not agree(np.zeros(1), np.float64(0.0))


def test_the_first_difference_is_named() -> None:
    expected, actual = np.arange(6.0).reshape(2, 3), np.arange(6.0).reshape(2, 3)
    actual[1, 0] = 7.0
    agreement = compare_values({"s": 1, "A": expected}, {"s": 1, "A": actual})
    assert agreement.sentence == "A[1, 0] is 7.0, the original loop gives 3.0"
    assert agreement.largest_difference == pytest.approx(4 / 5)
    assert compare_values({"s": 1}, {"s": 2}).sentence == "s is 2, the original loop gives 1"


def test_empty_arrays_and_nothing_agree() -> None:
    assert agree(np.zeros((0, 3)), np.zeros((0, 3)))
    assert compare_values({}, {}).agrees


def test_values_that_overflow_when_subtracted() -> None:
    assert not agree(np.array([1e308]), np.array([-1e308]))
    assert agree(np.array([1e308]), np.array([1e308]))
    assert agree(np.array([5e-324]), np.array([5e-324]))


def test_integers_where_floats_are_expected() -> None:
    assert agree(np.float64(3.0), 3)
    assert not agree(np.float64(3.0), 4)


def test_the_wider_tolerance_is_that_of_the_less_precise_side() -> None:
    assert agree(np.array([1.0], "f4"), np.array([1.00001], "f4"))
    assert agree(np.array([1.0], "f8"), np.array([1.00001], "f4"))
    assert agree(np.array([1.0], "f4"), np.array([1.00001], "f8"))
    assert not agree(np.array([1.0], "f8"), np.array([1.00001], "f8"))


def test_bits_differ_where_values_are_equal_within_rounding() -> None:
    one = {"A": np.array([1.0, 2.0]), "s": 1}
    assert bit_difference(one, {"A": np.array([1.0, 2.0]), "s": 1}) == ""
    assert bit_difference(one, {"A": np.array([1.0, np.nextafter(2.0, 3.0)]), "s": 1}) == (
        "A[1] is 2.0000000000000004, the original loop gives 2.0"
    )
    assert bit_difference({"z": np.array([1 + 0j])}, {"z": np.array([complex(1.0, -0.0)])}) != ""
    assert bit_difference({"n": np.array([1, 2])}, {"n": np.array([1, 3])}) == "n[1] is 3, the original loop gives 2"
    assert bit_difference({"A": np.zeros(2)}, {"A": np.zeros(3)}) == "A has shape (3,), the original gives (2,)"
    assert bit_difference({"s": 2.0}, {"s": 2.0}) == ""
