"""Which loop goes innermost, and where tiles pay."""

from __future__ import annotations

import pytest

import polyviz as pv
from polyviz.mapping.locality import band_locality
from polyviz.transform.tree import bands
from tests.running import function_of


def judge(text: str) -> tuple[str, bool]:
    """The source iterator that goes innermost, and whether tiles help, for the only band of ``text``."""
    scop = pv.extract(function_of(text))
    dependences = pv.dependences(scop)
    # The band that pluto finds in the source order of these programs.
    tree = pv.schedule(scop, "isl").tree
    found = [(path, band) for path, band in bands(tree)]
    path, _ = found[-1]
    locality = band_locality(scop, dependences, tree, path)
    row = pv.schedule(scop, "isl").bands[-1].members[locality.best_innermost].rows
    return next(iter(row.values())), locality.tiling_helps


def nest(statement: str, loops: str = "ijk") -> str:
    lines = ["def f(A, B, C, n):"]
    for depth, iterator in enumerate(loops, 1):
        lines.append("    " * depth + f"for {iterator} in range(n):")
    return "\n".join([*lines, "    " * (len(loops) + 1) + statement])


@pytest.mark.parametrize(
    ("text", "innermost", "tiles"),
    [
        (nest("C[i, j] += A[i, k] * B[k, j]"), "j", True),
        (nest("C[j, i] += A[k, i] * B[j, k]"), "i", True),
        (nest("C[i, j] = A[i, j] + B[i, j]", "ij"), "j", False),
        (nest("C[i, j] = A[i, j] + B[i, j]", "ji"), "j", False),
        (nest("C[i, j] = A[j, i]", "ij"), None, True),
        (nest("C[i] = A[i] * B[i]", "i"), "i", False),
        (nest("C[i] += A[i, j] * B[j]", "ij"), "j", False),
    ],
)
def test_innermost_loop_and_tiles(text: str, innermost: str | None, tiles: bool) -> None:
    found, helps = judge(text)
    assert innermost is None or found == innermost
    assert helps is tiles


def test_short_loops_alone_are_no_reason_for_tiles() -> None:
    text = """
    def f(O, X, W, channels, n):
        for c in range(channels):
            for y in range(n):
                for x in range(n):
                    for ky in range(3):
                        for kx in range(3):
                            O[c, y, x] += X[c, y + ky, x + kx] * W[c, ky, kx]
    """
    plan = pv.compile(function_of(text), target="c").plan
    assert not any(decision.step == "tile" for decision in plan.decisions)


@pytest.mark.parametrize("text", ["C[i] += A[j] * A[i + j]", "s += A[j] * A[i + j]"])
def test_a_sum_in_a_variable_counts_as_one_in_a_cell(text: str) -> None:
    lines = "def f(A, C, n):\n    for i in range(n):\n        {}for j in range(n):\n            {}\n        {}\n"
    before, after = ("s = 0.0\n        ", "C[i] = s") if text.startswith("s") else ("", "")
    scop = pv.extract(function_of(lines.format(before, text, after)))
    tree = pv.schedule(scop, "pluto").tree
    path = next(path for path, band in bands(tree) if band.band_n_member() == 2)
    assert band_locality(scop, pv.dependences(scop), tree, path).best_innermost == 1


def test_parallel_loops_stand_as_the_array_lies_in_memory() -> None:
    text = """
def scaled(X, Y, scale):
    for b in range(X.shape[0]):
        for c in range(X.shape[1]):
            for i in range(X.shape[2]):
                Y[b, c, i] = X[b, c, i] * scale[c]
"""
    source = pv.compile(function_of(text), target="c").source
    assert source.index("for (int64_t b") < source.index("for (int64_t c") < source.index("for (int64_t i")
