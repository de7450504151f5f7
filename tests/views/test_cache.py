"""The cache of the static forms agrees with hand-made runs, and its pictures say what happened."""

from __future__ import annotations

import re

import numpy as np

import polyviz as pv
from polyviz.api.shown import inspector_bundle
from polyviz.api.workbench import Workbench
from polyviz.views.cache import CacheShape, regions_of, simulate, unknown_accesses, usual_cache
from polyviz.views.cache_picture import order_forms
from tests.views.markup import assert_picture, assert_static, pictures_in, texts

SWEEP = """
def sweep(A, B, n):
    for i in range(1, n):
        for j in range(1, n - 1):
            A[i, j] = A[i - 1, j + 1] + B[i, j]
"""
JACOBI = """
def jacobi_2d(A, B, n, steps):
    for t in range(steps):
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                B[i, j] = 0.2 * (A[i, j] + A[i, j - 1] + A[i, j + 1] + A[i - 1, j] + A[i + 1, j])
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                A[i, j] = 0.2 * (B[i, j] + B[i, j - 1] + B[i, j + 1] + B[i - 1, j] + B[i + 1, j])
"""
LINE = "def line(A, n):\n    for i in range(n):\n        A[i] = 1.0"


def model(source, schedules=("original",), **values):
    bench = Workbench(pv.inspect(source, schedules=schedules))
    bench.draw_for(values)
    return bench.model()


def outcomes(found, shape):
    return [touch.outcome for touch in simulate(found, found["variants"][0], shape).touches]


def test_a_line_is_missed_once_and_written_back():
    found = model(LINE, n=8)
    run = simulate(found, found["variants"][0], CacheShape(128, 32, 4))
    assert [touch.outcome for touch in run.touches] == ["first", *["hit"] * 3] * 2
    assert run.moved == 4 * 32  # two lines in, two out


def test_what_was_evicted_is_missed_again():
    twice = "def twice(A, n):\n    for t in range(2):\n        for i in range(n):\n            A[4 * i] = 1.0"
    shape = CacheShape(64, 32, 1)  # two sets of one line, and three lines fight for them
    assert outcomes(model(twice, n=3), shape) == ["first", "first", "first", "again", "hit", "again"]


def test_an_order_that_goes_against_the_rows_misses_more():
    """The figures that the live view of the same loops shows."""
    found = drawn_sweep()
    shape = usual_cache(found)
    assert str(shape) == "256 B, lines of 32 bytes, 4 ways"
    runs = [simulate(found, variant, shape) for variant in found["variants"]]
    assert [(run.count("hit"), run.count("first"), run.count("again")) for run in runs] == [
        (98, 28, 0),
        (60, 28, 38),
    ]
    assert [run.moved for run in runs] == [1344, 2976]


def drawn_sweep():
    bench = Workbench(pv.inspect(SWEEP, schedules=("original", "pluto")))
    bench.draw_for({parameter.name: 8 for parameter in bench.inspector.scop.parameters})
    return bench.model()


def test_arrays_lie_behind_each_other():
    bases = [(region.array["name"], region.base, region.size) for region in regions_of(drawn_sweep())]
    assert bases == [("A", 0, 512), ("B", 512, 448)]


def test_accesses_that_cannot_be_followed_are_named():
    found = model("def f(A, B, n):\n    for i in range(n):\n        A[i] = B[i // 2]", n=4)
    assert unknown_accesses(found) == ["B[i // 2]"]
    assert "Left out, since their cells are not known exactly: B[i // 2]." in order_forms(found)[1]


def test_of_two_branches_each_cell_counts_once_and_what_only_one_does_is_left_out():
    found = model(
        "def f(A, B, C, n):\n    for i in range(n):\n        if A[i] > 0.5:\n            C[i] = A[i]\n"
        "        else:\n            C[i] = -B[n - i]",
        n=4,
    )
    [variant] = found["variants"]
    assert len(simulate(found, variant, usual_cache(found)).touches) == 4 * 2
    assert unknown_accesses(found) == []
    assert unknown_accesses(found, conditional=True) == ["B[n - i]"]
    assert "Left out, since only the data decide whether they happen: B[n - i]." in order_forms(found)[1]


def test_what_is_moved_is_the_misses_and_what_is_written_back():
    [row] = [line for line in order_forms(drawn_sweep())[1].splitlines() if line.strip().startswith("original ")]
    _, _, _, misses, _, back, *moved = row.split()
    assert moved == ["1.31", "KiB"]
    assert (int(misses) + int(back)) * 32 == 1344


def test_pictures_show_every_access_once():
    found = drawn_sweep()
    html, text = order_forms(found)
    assert_static(html)
    original, pluto = pictures_in(html)
    assert_picture(original)
    assert "126 accesses, 98 hits, 28 misses, 1.31 KiB moved" in texts(original)
    assert "miss: was evicted" in texts(original)
    crosses = re.findall(r"l4\.8 4\.8", pluto)
    assert len(crosses) == 38 + 1  # and the one of the legend
    assert "original       126    98      28" in text


def test_nothing_to_follow_is_said():
    found = model("def f(n):\n    s = 0.0\n    for i in range(n):\n        s += 1.0\n    return s", n=3)
    html, text = order_forms(found)
    assert text.startswith("No access can be followed through a cache")
    assert text in html


def test_a_saved_inspector_shows_order_and_cache():
    bundle = inspector_bundle(
        pv.inspect(SWEEP, np.zeros((9, 9)), np.zeros((9, 9)), 8, schedules=("original",))
    )
    assert "Order of the accesses under original in a cache of" in bundle["text/html"]
    assert "== Order and cache ==" in bundle["text/plain"]


def test_what_notebook_09_has_its_reader_find_out():
    """Skewed loops move less than those as written, tiles of four half of it; in half the cache they do not fit."""
    bench = Workbench(pv.inspect(JACOBI, schedules=("original", "pluto")))
    bench.draw_for({"n": 9, "steps": 7})
    bench.apply("pluto", "tile", "t", {"sizes": [4, 4, 4]})
    found = bench.model()

    def moved(size):
        return [simulate(found, variant, CacheShape(size)).moved for variant in found["variants"]]

    assert moved(1024) == [13152, 9984, 6880]
    assert moved(512) == [23296, 16128, 26592]
