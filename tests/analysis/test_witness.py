"""The smallest examples."""

from __future__ import annotations

import islpy as isl
import pytest

from polyviz.analysis.witness import smallest_instance, smallest_pair, smallest_parameters


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ("[n] -> { : n >= 7 }", {"n": 7}),
        ("[n] -> { : }", {"n": 0}),
        ("[n, m] -> { : n + m >= 5 and n >= 2m }", {"n": 4, "m": 1}),
        ("[n] -> { : n <= -3 }", {"n": -3}),
        ("[n] -> { : n = 4 or n = -4 }", {"n": 4}),
        ("[n] -> { : n mod 5 = 3 and n >= 4 }", {"n": 8}),
        ("{ : }", {}),
    ],
)
def test_parameters_of_least_magnitude(values, expected):
    assert smallest_parameters(isl.Set(values)) == expected


def test_the_size_goes_before_the_instances():
    relation = isl.Map("[n] -> { S[i] -> T[j] : 0 <= i, j < n and i + j = 5 }")
    pair = smallest_pair(relation)
    assert (pair.parameters, pair.source, pair.sink, pair.size) == ({"n": 4}, (2,), (3,), 4)


def test_the_first_of_several_pieces():
    relation = isl.Map("{ S[i] -> S[j] : i = 3 and j = 4; S[i] -> S[j] : i = 1 and 5 <= j <= 6 }")
    assert smallest_pair(relation).sink == (5,)


def test_an_instance_of_a_statement_without_loops():
    assert smallest_instance(isl.Set("[n] -> { S[] : n >= 2 }")) == ({"n": 2}, ())


def test_possible_sizes_come_first_where_there_are_any():
    relation = isl.Map("[n, m] -> { [i] -> [i + 1] : 0 <= i < n }")
    possible = isl.Set("[n, m] -> { : m > n }")
    assert smallest_pair(relation, possible).parameters == {"n": 1, "m": 2}
    assert smallest_pair(relation, isl.Set("[n, m] -> { : n < 0 }")).parameters == {"n": 1, "m": 0}
