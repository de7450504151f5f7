from __future__ import annotations

import pytest

from polyviz.benchmark.options import parse
from polyviz.benchmark.squares import EDGES, KERNELS, edges
from polyviz.benchmark.subject import Data
from polyviz.errors import OptionError


def test_the_suite_takes_its_kernel_and_many_sizes() -> None:
    options = parse(["--suite", "squares"])
    assert (options.kernels, options.size, options.name) == (KERNELS, "large", "squares-large")
    assert parse(["--suite", "squares", "--kernels", "syrk"]).kernels == ("syrk",)
    with pytest.raises(OptionError, match="Unknown kernel 'game'"):
        parse(["--suite", "squares", "--kernels", "game"])


def test_smaller_levels_have_smaller_squares() -> None:
    assert edges("large") == EDGES
    assert len(edges("small")) == len(EDGES)
    assert max(edges("small")) < min(EDGES)


def test_the_data_are_squares_and_say_so() -> None:
    data = Data("gemm", "mini", "float64", square=33)
    assert (data.label, Data("gemm", "mini", "float64").label) == ("gemm 33", "gemm")
    shapes = {argument.shape for argument in data.arguments() if getattr(argument, "shape", ())}
    assert shapes == {(33, 33)}
    assert data.example() == Data("gemm", "mini", "float64")
