from __future__ import annotations

import islpy as isl
import pytest

from polyviz.views.sizes import binding, choose, clip, extents, parameter_names, stride

ALWAYS = isl.Set("[n] -> { : }")


def sets(*texts: str) -> list[isl.Set]:
    return [isl.Set(text) for text in texts]


@pytest.mark.parametrize(
    ("domains", "context", "values"),
    [
        (["[n] -> { S[i] : 0 <= i < n }"], "[n] -> { : }", {"n": 7}),
        (["[n] -> { S[i, j] : 1 <= i < n - 1 and 1 <= j < n - 1 }"], "[n] -> { : }", {"n": 9}),
        (["[n] -> { S[i, j, k] : 0 <= i, j, k < n }"], "[n] -> { : }", {"n": 5}),
        (["[n] -> { S[i] : 0 <= i < n }"], "[n] -> { : n >= 100 }", {"n": 100}),
        (["[n] -> { S[i] : 0 <= i < n }"], "[n] -> { : n mod 8 = 0 }", {"n": 8}),
        (
            ["[n, m] -> { S[i] : 0 <= i < n }", "[n, m] -> { T[i] : 0 <= i < m }"],
            "[n, m] -> { : m > n + 2 }",
            None,
        ),
        (["{ S[i] : 0 <= i < 9 }"], "{ : }", {}),
    ],
)
def test_chosen_values(domains, context, values):
    bound = isl.Set(context)
    chosen = choose(sets(*domains), bound)
    if values is not None and "n >= 100" not in context:
        assert chosen == values
    assert not binding(chosen).intersect(bound).is_empty()
    assert all(not domain.intersect_params(binding(chosen)).is_empty() for domain in sets(*domains))


def test_of_blocks_written_by_hand_two_are_drawn():
    blocks = isl.Set("[n] -> { S[b, i] : 0 <= b < n and 0 <= i < n and b mod 8 = 0 }")
    assert choose([blocks], isl.Set("[n] -> { : n > 0 }")) == {"n": 9}


def test_none_is_drawn_larger_than_it_is_known_to_be():
    cube = isl.Set("[n, steps] -> { S[t, i, j] : 0 <= t < steps and 0 < i, j < n - 1 }")
    drawn = choose([cube], isl.Set("[n, steps] -> { : }"), {"n": 200, "steps": 3})
    assert drawn["steps"] == 3 and drawn["n"] < 20


def test_known_sizes_are_taken_when_they_can_be_drawn():
    domains = sets("[n] -> { S[i, j] : 0 <= i < n and 0 <= j < n }")
    assert choose(domains, ALWAYS, {"n": 11, "other": 3}) == {"n": 11}
    assert choose(domains, ALWAYS, {"n": 2000}) == {"n": 7}
    assert choose(domains, ALWAYS, {"m": 5}) == {"n": 7}


def test_an_impossible_context_still_gives_values():
    assert set(choose(sets("[n] -> { S[i] : 0 <= i < n }"), isl.Set("[n] -> { : n > 3 and n < 2 }"))) == {"n"}


def test_parameter_names_of_several_domains():
    assert parameter_names(sets("[n] -> { S[] }", "[m, n] -> { T[] }")) == ("m", "n")


def test_extents_count_strides_and_know_infinity():
    assert extents(isl.Set("{ [i, j] : i mod 4 = 1 and 0 <= i < 100 and j >= i }")) == [25, float("inf")]
    assert extents(isl.Set("{ [i] : 1 = 0 }")) == [0]
    assert stride(isl.Set("{ [i] : i mod 4 = 1 }"), 0) == 4


@pytest.mark.parametrize(
    ("domain", "cuts"),
    [
        ("{ S[i, j] : 0 <= i < 8 and 0 <= j < 8 }", ()),
        ("{ S[i, j] : 0 <= i < 1000 and 1000 - i <= j < 1000 }", ("first 8 of 999 values of i",)),
        (
            "{ S[i, j] }",
            ("some 8 values of i, which has no bounds", "some 8 values of j, which has no bounds"),
        ),
        ("{ S[i, j] : i <= 3 and j = i }", ("last 8 values of i, which has no lower bound",)),
        ("{ S[i, j] : 0 <= i < 400 and i mod 4 = 0 and j = 0 }", ("first 8 of 100 values of i",)),
        ("{ S[i, j] : 1 = 0 }", ()),
    ],
)
def test_windows_are_finite_and_say_what_was_cut(domain, cuts):
    found = isl.Set(domain)
    window = clip(found, ("i", "j"))
    assert window.cuts == cuts
    assert window.domain.is_bounded()
    assert window.domain.is_subset(found)
    assert window.domain.is_empty() == found.is_empty()
    assert window.domain.count_val().to_python() <= 24 * 24


def test_a_loop_from_one_parameter_to_another_is_drawn_with_instances() -> None:
    domain = isl.Set("[lo, hi] -> { S[i] : lo <= i < hi }")
    anything = isl.Set("[lo, hi] -> { : }")
    assert choose([domain], anything, {"lo": -3, "hi": 40}) == {"hi": 4, "lo": -3}
    found = choose([domain], anything)
    assert found["lo"] < found["hi"]
    assert choose([domain], isl.Set("[lo, hi] -> { : hi <= lo }"))["hi"] <= 1
