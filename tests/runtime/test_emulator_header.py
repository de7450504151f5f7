"""What the emulator's header makes of single accesses: races, memory that was never written, segments and banks."""

from __future__ import annotations

import pytest

from polyviz.runtime.cache import BuildCache
from polyviz.runtime.emulator import header
from polyviz.runtime.native import NativeFunction, integer
from polyviz.runtime.toolchain import find_cxx_toolchain

PROBES = """
using namespace emulator;
static Cell probed;
static double value;
extern "C" int64_t fresh(void)
{
    probed = Cell{}, launch_number = 1;
    gridDim = blockDim = Index{8, 8, 8};
    return emulator_start(1);
}
extern "C" int64_t watched(int64_t block, int64_t interval, int64_t thread, int64_t write, int64_t shared)
{
    current_block = block, current_interval = interval, current_thread = thread;
    watch(probed, write, shared, 0, 0);
    return finding_count;
}
extern "C" int64_t read_of_shared(int64_t block)
{
    current_block = block, current_interval = 1;
    Reference<double, 0>{&value, &probed, 0, 0, 1, true}.note(false);
    return finding_count ? findings[0].kind : 0;
}
extern "C" int64_t segment_of(int64_t place) { return segment(place); }
extern "C" int64_t conflicts_of(int64_t itemsize, int64_t stride)
{
    Request request = {};
    for (int64_t lane = 0; lane < WARP; lane++)
        request.present |= 1u << lane, request.places[lane] = lane * stride;
    return conflicts(request, itemsize);
}
"""
UNINITIALISED = 3
READ, WRITE = 0, 1


@pytest.fixture(scope="module")
def library() -> str:
    toolchain = find_cxx_toolchain()
    if toolchain is None:
        pytest.skip("no C++ compiler")
    return str(BuildCache().library(header() + PROBES, toolchain, "strict").path)


def call(library: str, name: str, *values: int) -> int:
    return NativeFunction(library, name)(*map(integer, values))


@pytest.mark.parametrize(
    ("accesses", "everywhere", "shared"),
    [
        # block, interval between barriers, thread, kind
        ([(0, 0, 0, READ), (0, 0, 1, READ)], False, False),
        ([(0, 0, 0, READ), (0, 0, 1, WRITE)], True, True),
        ([(0, 0, 0, WRITE), (0, 0, 1, READ)], True, True),
        ([(0, 0, 0, WRITE), (0, 0, 1, WRITE)], True, True),
        ([(0, 0, 0, WRITE), (0, 0, 0, READ), (0, 0, 0, WRITE)], False, False),
        ([(0, 0, 0, WRITE), (0, 1, 1, READ), (0, 2, 0, WRITE)], False, False),
        ([(0, 0, 0, READ), (0, 0, 1, READ), (0, 0, 1, WRITE)], True, True),
        ([(0, 0, 0, READ), (0, 0, 1, READ), (0, 0, 0, WRITE)], True, True),
        ([(0, 0, 0, WRITE), (1, 1, 0, READ)], True, False),
        ([(0, 0, 0, READ), (1, 1, 0, READ), (0, 0, 0, WRITE)], True, False),
    ],
)
def test_accesses_that_no_barrier_orders_are_a_race(
    library: str, accesses: list[tuple[int, int, int, int]], everywhere: bool, shared: bool
) -> None:
    for memory, race in ((0, everywhere), (1, shared)):
        call(library, "fresh")
        assert bool([call(library, "watched", *access, memory) for access in accesses][-1]) is race


def test_what_another_block_wrote_is_not_in_the_shared_memory_of_this_one(library: str) -> None:
    for block, finding in ((0, 0), (1, UNINITIALISED)):
        call(library, "fresh")
        call(library, "watched", 0, 0, 0, WRITE, 1)
        assert call(library, "read_of_shared", block) == finding


def test_places_before_the_array_have_segments_too(library: str) -> None:
    places = (-129, -128, -1, 0, 127, 128)
    assert [call(library, "segment_of", place) for place in places] == [-2, -1, -1, 0, 0, 1]


@pytest.mark.parametrize(
    ("itemsize", "stride", "conflicts"),
    [
        (1, 1, 0),
        (1, 4, 0),
        (1, 128, 31),
        (4, 0, 0),
        (4, 4, 0),
        (4, 8, 1),
        (4, 128, 31),
        (8, 8, 0),
        (8, 16, 2),
        (16, 16, 0),
    ],
)
def test_words_in_one_bank_wait_for_each_other(library: str, itemsize: int, stride: int, conflicts: int) -> None:
    assert call(library, "conflicts_of", itemsize, stride) == conflicts
