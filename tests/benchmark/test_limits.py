from __future__ import annotations

from polyviz.benchmark.limits import choose_field, run_limit


def test_everybody_races_when_there_is_time() -> None:
    field = choose_field({"a": 0.001, "b": 0.002, "c": 0.01}, ("a",), 5, 30.0)
    assert (field.racing, field.rounds, field.left_out) == (("a", "b", "c"), 5, ())


def test_the_slowest_go_first_when_time_is_short() -> None:
    field = choose_field({"a": 1.0, "b": 3.0, "c": 2.0}, ("a",), 5, 16.0)
    assert (field.racing, field.left_out) == (("a", "c"), ("b",))


def test_those_that_make_the_ratio_stay_whatever_it_takes() -> None:
    field = choose_field({"peer": 50.0, "own": 1.0, "other": 2.0}, ("peer", "own"), 5, 1.0)
    assert set(field.racing) == {"peer", "own"}


def test_hopeless_variants_are_left_out_though_there_is_time() -> None:
    field = choose_field({"a": 0.1, "b": 2.1}, ("a",), 5, 1000.0)
    assert field.left_out == ("b",)


def test_a_cold_start_does_not_make_a_variant_hopeless() -> None:
    field = choose_field({"a": 0.00001, "b": 0.1}, ("a",), 5, 1000.0)
    assert field.left_out == ()


def test_slow_kernels_get_fewer_rounds_and_never_more_than_asked_for() -> None:
    assert choose_field({"a": 2.5}, (), 5, 1000.0).rounds == 3
    assert choose_field({"a": 2.5}, (), 2, 1000.0).rounds == 2


def test_nobody_is_a_field_too() -> None:
    assert choose_field({}, (), 5, 1.0).racing == ()


def test_the_limit_follows_the_best_run() -> None:
    assert run_limit(0.8) == 16.0
    assert run_limit(10.0) == 60.0
    assert run_limit(1e-6) == 10.0
