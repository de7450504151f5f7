from __future__ import annotations

import pytest

from polyviz.benchmark.options import SHORT_KERNELS, parse, suite
from polyviz.errors import OptionError


def test_the_whole_suite_by_default() -> None:
    options = parse([])
    assert len(options.kernels) == 30
    assert (options.size, options.schedules, options.targets) == (
        "large",
        ("pluto", "isl", "original"),
        ("c", "numba"),
    )
    assert options.name == "polybench-large"


def test_short_is_small_and_has_a_file_of_its_own() -> None:
    options = parse(["--short"])
    assert (options.kernels, options.size, options.name) == (SHORT_KERNELS, "small", "polybench-short")
    assert options.schedules == ("pluto",)
    assert parse(["--short", "--schedules", "isl"]).schedules == ("isl",)


def test_single_precision_is_for_products_of_matrices() -> None:
    options = parse(["--dtype", "float32"])
    assert set(options.kernels) < set(suite("polybench", "large"))
    assert "gemm" in options.kernels and "jacobi-2d" not in options.kernels
    assert parse(["--dtype", "float32", "--kernels", "jacobi-2d"]).kernels == ("jacobi-2d",)


def test_lists_are_kept_in_order_without_repetition() -> None:
    assert parse(["--kernels", "lu, gemm,lu"]).kernels == ("lu", "gemm")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--kernels", "gem"], "Unknown kernel 'gem': did you mean 'gemm'?"),
        (["--schedules", "plut"], "Unknown schedule 'plut': did you mean 'pluto'?"),
        (["--targets", "cobol"], "Unknown target 'cobol'; known: c, numba, python, cuda, emulated."),
        (["--targets", ","], "No target is named; known: c, numba, python, cuda, emulated."),
        (["--repeats", "1"], "--repeats must be 2 or more, not 1: one sample has no interval."),
        (["--size", "huge"], "Argument --size: invalid choice: 'huge'"),
        (["--unknown"], "Unrecognized arguments: --unknown; polyviz bench --help explains."),
    ],
)
def test_wrong_options_are_one_line(words: list[str], message: str) -> None:
    with pytest.raises(OptionError) as caught:
        parse(words)
    assert str(caught.value).startswith(message)
    assert "\n" not in str(caught.value)


def test_a_suite_has_only_kernels_of_the_size() -> None:
    assert set(suite("polybench", "large")) < set(suite("gallery", "small"))
    assert len(suite("gallery", "extralarge")) < len(suite("gallery", "small"))
