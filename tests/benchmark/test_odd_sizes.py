from __future__ import annotations

from polyviz.benchmark.odd_sizes import KERNELS, odd_sizes
from polyviz.benchmark.options import parse
from polyviz.benchmark.subject import Data


def test_extents_become_primes() -> None:
    assert odd_sizes({"a": 1000, "b": 1100, "c": 1200, "d": 2}) == {"a": 1009, "b": 1103, "c": 1201, "d": 2}


def test_the_suite_takes_its_kernels_and_keeps_their_level() -> None:
    options = parse(["--suite", "odd-sizes"])
    assert (options.kernels, options.size, options.name) == (KERNELS, "large", "odd-sizes-large")
    assert parse(["--suite", "odd-sizes", "--kernels", "mvt"]).kernels == ("mvt",)


def test_the_data_have_these_sizes() -> None:
    data = Data("gemm", "mini", "float32", odd=True)
    assert data.extents == odd_sizes(data.entry.sizes["mini"])
    shapes = {
        argument.shape for argument in data.arguments() if hasattr(argument, "shape") and argument.shape
    }
    assert shapes == {
        (data.extents["ni"], data.extents["nj"]),
        (data.extents["ni"], data.extents["nk"]),
        (data.extents["nk"], data.extents["nj"]),
    }
    assert data.example().odd


def test_other_types_and_contracts_go_into_files_of_their_own() -> None:
    assert parse(["--dtype", "float32", "--contract", "strict"]).name == "polybench-large-float32-strict"
