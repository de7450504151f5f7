"""Shapes: the same tree as values, there and back."""

from __future__ import annotations

import islpy as isl
import pytest

from polyviz.errors import OptionError
from polyviz.gallery import polybench
from polyviz.transform.nest import apart, gathered, one_band
from polyviz.transform.shape import Branches, Loops, Shape, part_at, pruned, shape_of, tidy, tree_of
from polyviz.transform.tree import bands, node_at, path_of, walk
from tests.scheduling import kernels
from tests.shared import part_of
from tests.transform.trees import scheduled


@pytest.mark.parametrize("entry", polybench(), ids=lambda entry: entry.name)
def test_there_and_back(entry: object) -> None:
    tree = part_of(entry.name).schedule  # type: ignore[attr-defined]
    assert tree_of(tree.get_domain(), shape_of(tree)).plain_is_equal(tree)


def test_flags_and_marks_stay() -> None:
    _, tree = scheduled(kernels.two_products())
    path = next(path for path, band in bands(tree) if band.band_n_member() == 3)
    marked = node_at(tree, path).insert_mark(isl.Id("vector")).get_schedule()
    assert tree_of(marked.get_domain(), shape_of(marked)).plain_is_equal(marked)


def test_paths_mean_the_same_node() -> None:
    tree = kernels.lu().schedule
    shape = shape_of(tree)
    for node in list(walk(tree))[1:]:
        found = part_at(shape, path_of(node))
        assert isinstance(found, Loops) == (node.get_type() == isl.schedule_node_type.band)
        assert isinstance(found, Branches) == (node.get_type() == isl.schedule_node_type.sequence)
        assert len(found.children) == (
            node.n_children() if node.get_type() != isl.schedule_node_type.leaf else 0
        )
    with pytest.raises(OptionError, match="no node at"):
        part_at(shape, (0, 7))


def test_nests_are_merged_and_taken_apart() -> None:
    tree = kernels.matmul().schedule
    assert [band.band_n_member() for _, band in bands(gathered(tree))] == [2, 1]
    assert [band.band_n_member() for _, band in bands(apart(gathered(tree)))] == [1, 1, 1]
    assert gathered(tree).get_map().is_equal(tree.get_map())
    merged, path = one_band(tree, (0,), 0, 2)
    assert (path, [band.band_n_member() for _, band in bands(merged)]) == ((0,), [2, 1])
    assert one_band(merged, (0,), 0, 2)[0] is merged
    cut, path = one_band(merged, (0,), 1, 1)
    assert (path, [band.band_n_member() for _, band in bands(cut)]) == ((0, 0), [1, 1, 1])
    with pytest.raises(
        OptionError, match="needs 3 loops directly inside one another; from loop i on there are 2"
    ):
        one_band(tree, (0,), 0, 3)


def sequences(shape: Shape) -> int:
    return isinstance(shape, Branches) + sum(map(sequences, shape.children))


def test_sequences_inside_sequences_become_one() -> None:
    domain = isl.UnionSet("{ A[]; B[]; C[] }")
    inner = '{ sequence: [ { filter: "{ B[] }" }, { filter: "{ C[] }" } ] }'
    outer = f'{{ sequence: [ {{ filter: "{{ A[] }}" }}, {{ filter: "{{ B[]; C[] }}", child: {inner} }} ] }}'
    text = f'{{ domain: "{domain}", child: {outer} }}'
    shape = shape_of(isl.Schedule(text))
    assert (sequences(shape), sequences(tidy(shape))) == (2, 1)
    times = isl.UnionMap("{ A[] -> [0]; B[] -> [1]; C[] -> [2] }")
    assert tree_of(domain, tidy(shape)).get_map().is_equal(times)


def test_what_runs_nothing_is_left_out() -> None:
    shape = shape_of(kernels.matmul().schedule)
    only = pruned(shape, isl.UnionSet("[n] -> { S[i, j] : i = 0 }"))
    assert sequences(only) == 0
    first = isl.UnionSet("[n] -> { S[i, j] : i = 0 }")
    times = tree_of(first, only).get_map().intersect_domain(first)
    assert times.is_equal(isl.UnionMap("[n] -> { S[i, j] -> [0, j] : i = 0 }"))
