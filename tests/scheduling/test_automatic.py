"""From a part to a checked schedule: tiling, the common time space, what is known of each loop."""

from __future__ import annotations

from typing import TYPE_CHECKING

import islpy as isl
import pytest

from polyviz.analysis import check
from polyviz.errors import OptionError
from polyviz.scheduling import schedule
from tests.scheduling import kernels
from tests.scheduling.bands import bands_text

if TYPE_CHECKING:
    from collections.abc import Callable


def test_original_keeps_the_source_and_knows_its_loops(golden: Callable[[str], None]) -> None:
    result = schedule(kernels.lu(), "original")
    assert result.map.is_equal(schedule(kernels.lu(), "original").map)
    golden("\n".join(bands_text(result)))


@pytest.mark.thinned(4)
@pytest.mark.parametrize("scheduler", ["original", "isl", "feautrier", "pluto", "spatial"])
@pytest.mark.parametrize("kernel", kernels.KERNELS)
def test_the_map_is_one_order_in_one_space(kernel: str, scheduler: str) -> None:
    part = kernels.KERNELS[kernel]()
    result = schedule(part, scheduler)
    maps = result.map.get_map_list()
    ranges = {str(maps.get_at(place).get_space().range()) for place in range(maps.n_map())}
    assert len(ranges) == 1
    assert result.map.domain().is_equal(part.domain.intersect_params(part.context))
    assert result.map.is_single_valued()
    assert check(part, result.map)


def test_sequences_are_constants_and_short_tuples_end_in_zeros() -> None:
    result = schedule(kernels.matmul(), "original")
    expected = (
        "[n] -> { S[i, j] -> [i, j, 0, 0] : 0 <= i, j < n; R[i, j, k] -> [i, j, 1, k] : 0 <= i, j, k < n }"
    )
    assert result.map.is_equal(isl.UnionMap(expected))


def test_tiling(golden: Callable[[str], None]) -> None:
    result = schedule(kernels.seidel_2d(), "pluto", tile=(4, 32))
    golden("\n".join([*bands_text(result), "", *(decision.text for decision in result.decisions)]))
    assert check(kernels.seidel_2d(), result)


def test_one_size_serves_all_loops() -> None:
    result = schedule(kernels.matmul(), "pluto", tile=16)
    tiles = [band for band in result.bands if band.members[0].role == "tile"]
    assert [len(band.members) for band in tiles] == [2, 3]
    assert tiles[1].members[2].rows == {"R": "floor((k)/16)"}


@pytest.mark.parametrize("tile", [0, 2.5, "32", (32, -1), (2.5,), ()])
def test_tile_sizes_are_positive_integers(tile: object) -> None:
    with pytest.raises(OptionError) as error:
        schedule(kernels.matmul(), "pluto", tile=tile)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("sizes", [3, {"m": 10}, {"n": "ten"}])
def test_sizes_are_values_of_parameters(sizes: object) -> None:
    with pytest.raises(OptionError) as error:
        schedule(kernels.matmul(), "pluto", sizes=sizes)
    assert "\n" not in str(error.value)


def test_nothing_to_tile_is_said() -> None:
    result = schedule(kernels.pointwise_chain(), "pluto", tile=8)
    (decision,) = [decision for decision in result.decisions if decision.step == "tile"]
    assert decision.text == "No band of two and more loops is permutable: nothing is tiled."


def test_flags_of_the_tree_are_those_of_the_bands() -> None:
    result = schedule(kernels.matmul(), "original")
    root = result.tree.get_root()
    assert root.child(0).band_member_get_coincident(0)
    assert [band.members[0].coincident for band in result.bands] == [True, True, False]
