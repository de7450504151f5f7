"""What is achieved of the limit, what holds the others back, and the picture of it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING
from xml.etree import ElementTree

import pytest

import polyviz as pv
from polyviz.benchmark.obstacles import obstacles
from polyviz.benchmark.roofline_picture import can_be_drawn, roofline_picture
from polyviz.benchmark.rooflines import achieved, held_back
from polyviz.benchmark.store import Store
from polyviz.model.roofline import Peaks, Work, limit_of
from tests.benchmark.samples import BROKEN, FAST, MEASURED, PEAKS, RESULTS, SLOW
from tests.running import function_of

if TYPE_CHECKING:
    from pathlib import Path


def test_the_limit_is_the_slower_of_computing_and_moving() -> None:
    assert limit_of(Work(8_000, 1, 1, 10**9), PEAKS, "float64").bottleneck == "multiply-add peak"
    far = limit_of(Work(8, 2_000, 2_000, 10**9), PEAKS, "float64")
    assert (far.bottleneck, far.seconds) == ("copy bandwidth", 2e-6)
    near = limit_of(Work(8, 2_000, 2_000, 4_000), PEAKS, "float64")
    assert (near.bottleneck, near.seconds) == ("cache bandwidth", 5e-7)
    assert near.share(1e-6) == 0.5


def test_shares_of_the_fastest_variant_and_of_the_best_peer() -> None:
    fast, slow = achieved(MEASURED)
    assert (fast.kernel, fast.limit.bottleneck, fast.share) == ("gemm", "multiply-add peak", 0.5)
    assert (slow.kernel, slow.limit.bottleneck) == ("lu", "copy bandwidth")
    assert slow.peer_share is not None
    assert slow.share is not None
    assert slow.peer_share == 2 * slow.share
    assert achieved(RESULTS) == ()


def test_shares_in_the_fastest_round() -> None:
    fast, slow = achieved(MEASURED)
    assert slow.own is not None
    assert slow.own.samples
    quicker = replace(slow, own=replace(slow.own, samples=(8.0, 16.0, 5.0)))
    assert (quicker.share, quicker.best_share) == (slow.limit.seconds / 8, slow.limit.seconds / 5)
    assert held_back(MEASURED.kernels[2], quicker) == (
        "at 50% of the copy bandwidth, 80% in its fastest round: nearly all that this machine can do"
    )
    assert replace(fast, own=None).best_share is None


def test_what_holds_a_kernel_back() -> None:
    fast, slow = achieved(MEASURED)
    assert held_back(MEASURED.kernels[2], slow) == (
        "at 95% of the copy bandwidth: nearly all that this machine can do"
    )
    halved = replace(slow, work=replace(slow.work), limit=replace(slow.limit, seconds=slow.limit.seconds / 2))
    assert held_back(MEASURED.kernels[2], halved) == (
        "at 48% of the copy bandwidth; serial: Loop k is not parallel: it carries flow of A"
    )
    decided = "decided was: the band is tiled by 32 x 32; tile loop 0 runs on all threads"
    assert held_back(FAST, fast) == f"at 50% of the multiply-add peak; {decided}"
    assert (
        held_back(SLOW, None) == "decided was: the band is tiled by 32 x 32; tile loop 0 runs on all threads"
    )
    assert held_back(BROKEN, None) == "no variant could be timed"


def test_a_short_run_is_named() -> None:
    own = replace(FAST.variants[-1], samples=(5e-5,) * 3)
    assert held_back(replace(FAST, variants=(own,)), None).startswith(
        "a run takes 50 µs, of which calling it"
    )


def test_the_picture_is_a_document_with_every_kernel() -> None:
    found = can_be_drawn(achieved(MEASURED))
    picture = roofline_picture(found, PEAKS, "float64")
    texts = [element.text for element in ElementTree.fromstring(picture).iter() if element.text]
    assert {"gemm", "lu", "memory, 2 GB/s", "last cache, 8 GB/s"} <= set(texts)


def test_kernels_that_move_nothing_have_no_place_in_it() -> None:
    fast, _ = achieved(MEASURED)
    assert can_be_drawn([replace(fast, work=Work(5, 0, 0, 0))]) == ()
    assert can_be_drawn([replace(fast, own=None, peer=None)]) == ()


def test_one_kernel_alone_can_be_drawn() -> None:
    fast, _ = achieved(MEASURED)
    peaks = Peaks({"float64": 1e9}, 1e9, 1e9, 1, 1)
    assert roofline_picture([fast], peaks, "float64").startswith("<svg")


def test_the_picture_lies_beside_the_table_and_comes_back_from_the_file(tmp_path: Path) -> None:
    store = Store(tmp_path, "polybench-large")
    store.save(MEASURED)
    assert store.picture.read_text(encoding="utf-8").startswith("<svg")
    assert "![The roofline of this machine with the kernels](polybench-large.svg)" in store.table.read_text(
        encoding="utf-8"
    )
    assert store.load() == MEASURED
    without = Store(tmp_path, "other")
    without.save(RESULTS)
    assert not without.picture.exists()


SERIAL = "def running(A):\n    for i in range(1, len(A)):\n        A[i] = A[i - 1] + A[i]\n"
FREE = (
    "def free(A, B, n):\n    for i in range(n):\n        for j in range(n):\n            A[i, j] = B[i, j]\n"
)


PRODUCT = (
    "def product(A, x, y, n):\n    for i in range(n):\n        for j in range(n):\n            y[i] += A[i, j] * x[j]\n"
)
BOTH = (
    "def both(A, x, y, n):\n"
    "    for i in range(n):\n        for j in range(n):\n            x[i] += A[i, j]\n"
    "    for i in range(n):\n        for j in range(n):\n            y[i] += A[j, i]\n"
)


@pytest.mark.usefixtures("one_processor")
@pytest.mark.parametrize("source", [PRODUCT, BOTH], ids=["rows in lanes", "copies of threads"])
def test_sums_in_lanes_and_in_copies_of_threads_hold_nothing_back(source: str) -> None:
    kernel = pv.compile(function_of(source), target="c")
    assert "lanes" in kernel.source and "omp" in kernel.source
    assert obstacles(kernel) == ()


def test_a_serial_loop_is_an_obstacle_with_its_reason() -> None:
    first, *_ = obstacles(pv.compile(function_of(SERIAL), target="c"))
    assert first.startswith("serial: loop i is not parallel: iteration i=1 writes A[1]")
    assert obstacles(pv.compile(function_of(FREE), target="c")) == ()
