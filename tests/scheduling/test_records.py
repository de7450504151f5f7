"""Statements that touch parts of one record, such as a pixel, share the loops that go through the records."""

from __future__ import annotations

import numpy as np
import pytest

import polyviz as pv
from polyviz.runtime.toolchain import find_toolchain
from polyviz.scheduling.records import side_by_side
from tests.running import agree, function_of

COLOURS = """
    def colours(image, red, green, blue):
        for y in range(image.shape[0]):
            for x in range(image.shape[1]):
                red[image[y, x, 0]] += 1
                green[image[y, x, 1]] += 1
                blue[image[y, x, 2]] += 1
    """
INTERLEAVED = """
    def interleaved(re, im, z):
        for i in range(re.shape[0]):
            z[2 * i] = re[i]
            z[2 * i + 1] = im[i]
    """
COLOURED = """
    def coloured(hue, out):
        for i in range(hue.shape[0]):
            out[i, 0] = 255
            out[i, 1] = hue[i]
            out[i, 2] = 0
    """
TOGETHER = {"colours": COLOURS, "interleaved": INTERLEAVED, "colours that are written": COLOURED}
APART = {
    "halves": INTERLEAVED.replace("2 * i + 1", "i + re.shape[0]").replace("2 * i", "i"),
    "other steps": INTERLEAVED.replace("2 * i + 1", "3 * i + 1"),
    "long steps": INTERLEAVED.replace("2 * i + 1", "64 * i + 1").replace("2 * i", "64 * i"),
    "parts far from each other": COLOURS.replace("0]]", "9]]").replace("2]]", "20]]"),
    "no record": COLOURS.replace(", 0]", ", x]").replace(", 1]", ", x]").replace(", 2]", ", y]"),
    "records of others": """
        def f(points, a, b):
            n = points.shape[0]
            for i in range(n):
                for j in range(n):
                    a[i, j] = points[i, 0]
                    b[i, j] = points[j, 1]
        """,
}


@pytest.mark.parametrize("name", TOGETHER)
def test_the_records_are_touched_in_one_loop(name: str) -> None:
    order = pv.schedule(pv.extract(function_of(TOGETHER[name])), "pluto")
    assert "share a band" in str(order)
    assert "stay apart" not in str(order)


@pytest.mark.parametrize("name", APART)
def test_what_reads_no_record_together(name: str) -> None:
    part = pv.extract(function_of(APART[name]))
    assert side_by_side(part, ()).is_empty()


@pytest.mark.skipif(find_toolchain() is None, reason="no C compiler")
def test_the_counts_are_those_of_the_program() -> None:
    image = np.random.default_rng(3).integers(0, 20, (40, 30, 3))
    kernel = agree(COLOURS, image, *np.zeros((3, 20), np.int64), target="c")
    assert kernel.source.count("for (int64_t x = ") == 1
