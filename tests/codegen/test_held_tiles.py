"""Shapes of held tiles: they fit the registers, and whatever is left of rows and columns finds a tile."""

from __future__ import annotations

import pytest

from polyviz.codegen.held_tiles import tile_shapes


@pytest.mark.parametrize(("rows", "window"), [(False, False), (True, False), (True, True)])
@pytest.mark.parametrize(("lanes", "registers"), [(8, 32), (16, 32), (4, 16), (2, 16)])
def test_every_rest_has_a_tile_and_every_tile_fits(lanes: int, registers: int, rows: bool, window: bool) -> None:
    shapes = tile_shapes(lanes, registers, rows=rows, window=window)
    assert [height for height, _ in shapes] == sorted({height for height, _ in shapes}, reverse=True)
    assert shapes[-1][0] == 1
    for height, widths in shapes:
        assert all(height * one.vectors + one.vectors < registers for one in widths)
        assert [one.least for one in widths] == sorted((one.least for one in widths), reverse=True)
        assert (widths[-1].vectors, widths[-1].least) == (1, 1)
        assert all(one.least <= lanes * one.vectors for one in widths)
