"""Tiles and diagonals as the mapping uses them: bands without marks."""

from __future__ import annotations

import islpy as isl

from polyviz.transform.tile import split_into_tiles
from polyviz.transform.tree import bands, members, row_texts
from polyviz.transform.wavefront import with_diagonal


def rows(tree: isl.Schedule) -> list[list[str]]:
    return [[text for row in members(band) for text in row_texts(row).values()] for _, band in bands(tree)]


BAND = '{ domain: "[n] -> { S[i, j] : 0 <= i, j < n }", child: { schedule: "[n] -> [{ S[i, j] -> [(i)] }, { S[i, j] -> [(j)] }]", permutable: 1, coincident: [ 0, 1 ] } }'  # noqa: E501


def test_tile_loops_count_elements_or_tiles() -> None:
    scaled = split_into_tiles(isl.Schedule(BAND), (0,), (4, 8), scaled=True)
    counted = split_into_tiles(isl.Schedule(BAND), (0,), (4, 8), scaled=False)
    assert rows(scaled)[1] == rows(counted)[1] == ["i", "j"]
    assert rows(scaled)[0][0].startswith("i - (i) mod 4")
    assert "floor" in rows(counted)[0][0]
    assert [band.band_member_get_coincident(1) for _, band in bands(scaled)] == [1, 1]


def test_a_wavefront_adds_the_second_row_to_the_first() -> None:
    tree = with_diagonal(isl.Schedule(BAND), (0,))
    ((_, band),) = bands(tree)
    assert rows(tree) == [["i + j", "j"]]
    assert [bool(band.band_member_get_coincident(position)) for position in (0, 1)] == [False, True]
