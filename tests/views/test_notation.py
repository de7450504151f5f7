from __future__ import annotations

import islpy as isl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from polyviz.views.notation import affine, constant_last, constraints, distances, relation, row_texts


@pytest.mark.parametrize(
    ("domain", "text"),
    [
        ("[n, m] -> { S[i, j] : 0 <= i < n and 0 <= j < m }", "0 <= i < n, 0 <= j < m"),
        ("[n] -> { S[i, j] : 1 <= i < n - 1 and 1 <= j < n - 1 }", "1 <= i < n - 1, 1 <= j < n - 1"),
        ("[n] -> { S[i, j, k] : 0 <= k < j < i < n }", "2 <= i < n, 1 <= j < i, 0 <= k < j"),
        ("[n] -> { S[i, j] : 0 <= i < n and j = 3 }", "0 <= i < n, j = 3"),
        ("[n] -> { S[i] : i mod 4 = 0 and 0 <= i < n }", "i mod 4 = 0, 0 <= i < n"),
        ("[n] -> { S[i] : 0 <= i < n and n > 5 }", "n >= 6, 0 <= i < n"),
        ("[n] -> { S[i] : 0 <= i < n and (i = 3 or i > 7) }", "(8 <= i < n) or (i = 3 and n >= 4)"),
        ("{ S[] }", ""),
        ("[n] -> { S[] : n > 3 }", "n >= 4"),
        ("{ S[i] }", ""),
        ("{ S[i] : 1 = 0 }", "false"),
    ],
)
def test_constraints(domain, text):
    assert constraints(isl.Set(domain)) == text


def test_an_iterator_named_like_a_parameter_is_told_apart():
    domain = isl.Set("[n] -> { S[i] : 0 <= i < 4 }").set_dim_name(isl.dim_type.set, 0, "n")
    assert constraints(domain) == "0 <= i0 < 4"


def test_what_the_context_says_is_not_repeated():
    domain = isl.Set("[n] -> { S[i] : 0 <= i < n and n > 2 }")
    assert constraints(domain, isl.Set("[n] -> { : n > 5 }")) == "0 <= i < n"
    assert constraints(domain, isl.Set("[m] -> { : m > 5 }")) == "n >= 3, 0 <= i < n"
    assert constraints(isl.Set("[n] -> { : n > 5 }")) == "n >= 6"


bounds = st.integers(-6, 6)


@given(bounds, bounds, bounds, st.integers(1, 3), st.booleans())
def test_constraints_say_the_same_as_the_set(low, high, shift, step, strided):
    extra = f" and i mod {step} = 0" if strided else ""
    domain = isl.Set(f"[n] -> {{ S[i, j] : {low} <= i < n + {high}{extra} and i + {shift} <= j <= n }}")
    text = constraints(domain)
    read = text.replace(", ", " and ")
    assert isl.Set(f"[n] -> {{ S[i, j] : {read} }}").is_equal(domain)


@pytest.mark.parametrize(
    ("given_text", "text"),
    [
        ("-2 + n", "n - 2"),
        ("j - 2 + n", "j - 2 + n"),
        ("[1 + i, -1 + j]", "[i + 1, j - 1]"),
        ("3 + 2i - j", "2i - j + 3"),
        ("floor((1 + i)/2)", "floor((1 + i)/2)"),
    ],
)
def test_constants_come_last(given_text, text):
    assert constant_last(given_text) == text


def test_affine_functions():
    assert affine(isl.PwAff("[n] -> { [(n - 1)] }")) == "n - 1"
    assert affine(isl.PwAff("{ S[i] -> [(floor((i)/32))] }")) == "floor(i/32)"
    row = isl.UnionPwAff("[n] -> { S[i, j] -> [(i + j)]; T[i] -> [(1 + 2i)] }")
    assert row_texts(row) == {"S": "i + j", "T": "2i + 1"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[n] -> { S[i] -> T[i + 1, 0] : 0 <= i < n }", "S[i] → T[i + 1, 0] when 0 <= i < n"),
        ("{ S[i] -> T[i] }", "S[i] → T[i]"),
        ("{ S[] -> T[0] }", "S[] → T[0]"),
        ("{ S[i] -> T[i] : 1 = 0 }", "never"),
        ("{ S[3] -> T[0]; }", "S[3] → T[0]"),
    ],
)
def test_relations(text, expected):
    assert relation(isl.Map(text)) == expected


def test_pieces_of_a_relation_are_all_written():
    pieces = relation(isl.Map("{ S[i] -> T[0] : i < 3; S[i] -> T[i] : i > 7 }")).split("; ")
    assert len(pieces) == 2
    assert pieces[0].startswith("S[i] → T[0] when i <= 2")


@pytest.mark.parametrize(
    ("text", "depth", "common", "vectors"),
    [
        ("[n] -> { S[i, j] -> S[i, j + 1] : 0 <= i, j < n }", 2, None, ("(0, 1)",)),
        ("[n] -> { S[i] -> S[i2] : 0 <= i < i2 < n }", 1, None, ("(≥1)",)),
        ("[n] -> { S[i, j] -> S[i2, j2] : i < i2 < n and j2 <= j - 2 }", 2, None, ("(≥1, ≤-2)",)),
        ("{ S[i, j] -> S[i + 1, j2] : j <= j2 <= j + 99 }", 2, None, ("(1, 0..99)",)),
        ("{ S[t, i] -> T[t + 1, i, k] }", 2, 1, ("(1 | 0)",)),
        (
            "[n] -> { S[i, j] -> S[i, j2] : j < j2 < n; S[i, j] -> S[i2, j] : i < i2 < n }",
            2,
            None,
            ("(0, ≥1)", "(≥1, 0)"),
        ),
        ("{ S[i] -> T[i, j] }", 1, 1, ("(0)",)),
        ("{ S[i] -> T[i] }", 0, 0, ()),
        ("{ S[i] -> T[i] : 1 = 0 }", 1, 1, ()),
    ],
)
def test_distances(text, depth, common, vectors):
    assert distances(isl.Map(text), depth, common) == vectors


@given(st.sets(st.tuples(st.integers(-3, 3), st.integers(-3, 3)), min_size=1, max_size=9))
def test_few_distances_are_all_listed(vectors):
    text = "; ".join(f"S[i, j] -> S[i + {a}, j + {b}]" for a, b in vectors)
    listed = distances(isl.Map(f"{{ {text} }}"), 2)
    assert listed == tuple(f"({a}, {b})" for a, b in sorted(vectors))
