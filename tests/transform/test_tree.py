"""Paths and edits of trees."""

from __future__ import annotations

import islpy as isl
import pytest

from polyviz.errors import OptionError
from polyviz.transform.tree import (
    band_at,
    bands,
    insert_mark,
    isolate_member,
    marks_above,
    members,
    node_at,
    path_of,
    row_texts,
    split_band,
    statements_under,
    walk,
)
from tests.scheduling import kernels


def flat(depth: int) -> isl.Schedule:
    names = "ijkl"[:depth]
    rows = ", ".join(f"{{ S[{', '.join(names)}] -> [{name}] }}" for name in names)
    domain = isl.UnionSet(f"{{ S[{', '.join(names)}] }}")
    return isl.Schedule.from_domain(domain).insert_partial_schedule(isl.MultiUnionPwAff(f"[{rows}]"))


def functions(tree: isl.Schedule) -> list[list[str]]:
    return [[row_texts(row)["S"] for row in members(band)] for _, band in bands(tree)]


def test_every_node_is_found_again_by_its_path() -> None:
    tree = kernels.lu().schedule
    paths = [path_of(node) for node in walk(tree)]
    assert len(set(paths)) == len(paths)
    assert all(node_at(tree, path).is_equal(node) for path, node in zip(paths, walk(tree), strict=True))
    assert paths == sorted(paths)


def test_statements_under_a_node() -> None:
    tree = kernels.lu().schedule
    assert statements_under(tree.get_root()) == ("S1", "S2", "S3")
    assert [statements_under(band) for _, band in bands(tree)] == [
        ("S1", "S2", "S3"),
        ("S1", "S2"),
        ("S1",),
        ("S3",),
        ("S3",),
    ]


@pytest.mark.parametrize(
    ("member", "expected", "path"),
    [
        (0, [["i"], ["j", "k"]], (0,)),
        (1, [["i"], ["j"], ["k"]], (0, 0)),
        (2, [["i", "j"], ["k"]], (0, 0)),
    ],
)
def test_a_member_alone(member: int, expected: list[list[str]], path: tuple[int, ...]) -> None:
    tree, found = isolate_member(flat(3), (0,), member)
    assert functions(tree) == expected
    assert found == path
    assert [row_texts(row)["S"] for row in members(band_at(tree, found))] == ["ijk"[member]]


def test_a_band_of_one_is_alone_already() -> None:
    tree, path = isolate_member(flat(1), (0,), 0)
    assert tree.plain_is_equal(flat(1))
    assert path == (0,)


def test_splitting_leaves_no_empty_band() -> None:
    assert functions(split_band(flat(3), (0,), 2)) == [["i", "j"], ["k"]]
    for position in (0, 3):
        with pytest.raises(OptionError, match="cannot be split"):
            split_band(flat(3), (0,), position)


def test_marks_are_found_through_bands() -> None:
    tree = insert_mark(split_band(flat(2), (0,), 1), (0,), "tile")
    inner = band_at(tree, (0, 0, 0))
    assert marks_above(inner) == ("tile",)


def test_what_is_not_there_is_said() -> None:
    with pytest.raises(OptionError) as missing:
        node_at(flat(1), (0, 3))
    assert str(missing.value) == "The schedule has no node at (0, 3)."
    with pytest.raises(OptionError) as leaf:
        band_at(flat(1), (0, 0))
    assert str(leaf.value) == "The node at (0, 0) is a leaf, not a band of loops."


def test_functions_in_pieces() -> None:
    row = isl.UnionPwAff("[n] -> { S[i] -> [(i)] : i < n; S[i] -> [(n - i)] : i >= n }")
    assert row_texts(row) == {"S": "i or n - i"}
