"""Schedules of one's own: used like any other, or refused with the first reason and an example."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import islpy as isl
import pytest

import polyviz as pv
from polyviz.analysis import dependences
from polyviz.editing.differences import same_order
from polyviz.scheduling import adopt, schedule
from polyviz.transform.tree import kind_of, walk
from tests.running import agree, function_of
from tests.scheduling import kernels

if TYPE_CHECKING:
    from collections.abc import Callable

REFUSED = sorted((Path(__file__).parent.parent / "must_fail_schedules").glob("*.isl"))


@pytest.mark.parametrize("path", REFUSED, ids=lambda path: path.stem)
def test_refused(path: Path, golden: Callable[..., None]) -> None:
    with pytest.raises(pv.LegalityError) as caught:
        adopt(kernels.matmul(), path.read_text(encoding="utf-8"))
    golden(str(caught.value))


@pytest.mark.parametrize("path", REFUSED, ids=lambda path: path.stem)
def test_the_message_names_an_example_or_the_place(path: Path) -> None:
    with pytest.raises(pv.LegalityError) as caught:
        adopt(kernels.matmul(), path.read_text(encoding="utf-8"))
    error = caught.value
    assert error.message.endswith(".")
    assert error.reason or error.hint


ORDER = "{ S[i, j] -> [0, j, i, 0]; R[i, j, k] -> [1, k, j, i] }"


def test_a_text_a_map_and_a_tree_are_one_order() -> None:
    part = kernels.matmul()
    known = dependences(part)
    text = adopt(part, ORDER, dependences=known)
    union = adopt(part, isl.UnionMap(f"[n] -> {ORDER}"), dependences=known)
    tree = adopt(part, text.tree, dependences=known)
    printed = adopt(part, str(text.tree), dependences=known)
    block = adopt(part, text.tree.get_root().get_schedule().to_str(), dependences=known)
    for other in (union, tree, printed, block):
        assert same_order(text.map, other.map)
        assert other.scheduler == "user"
        assert not other.by_hand


def test_numbers_in_times_are_sequences_and_the_rest_loops() -> None:
    part = kernels.matmul()
    tree = adopt(part, ORDER).tree
    assert [kind_of(node) for node in walk(tree)] == [
        "domain",
        "sequence",
        "filter",
        "band",
        "leaf",
        "filter",
        "band",
        "leaf",
    ]
    fused = adopt(part, "{ S[i, j] -> [i, j, 0, 0]; R[i, j, k] -> [i, j, 1, k] }")
    assert [kind_of(node) for node in walk(fused.tree)][:4] == ["domain", "band", "sequence", "filter"]
    assert [band.permutable for band in fused.bands] == [True, True]


@pytest.mark.parametrize(
    "order",
    [
        "{ S[i, j] -> [i, j, 0, 0]; R[i, j, k] -> [i, j, 1, k] }",
        "{ S[i, j] -> [-1, i, j, 0]; R[i, j, k] -> [floor(i/2), j, i, k] }",
        "{ S[i, j] -> [2i, j, 0] : i < j; S[i, j] -> [2i, j, 0] : i >= j; R[i, j, k] -> [2i + 1, k, j] }",
    ],
)
def test_the_order_is_the_one_that_was_typed(order: str) -> None:
    part = kernels.matmul()
    typed = isl.UnionMap(f"[n] -> {order}").intersect_domain(part.domain).intersect_params(part.context)
    assert same_order(adopt(part, order).map.intersect_params(part.context), typed)


SCALE = "def scale(A, factor):\n    for i in range(len(A)):\n        A[i] = factor * A[i]"
TREE = (
    '{ domain: "[A_shape_0] -> { S0[i] : 0 <= i < A_shape_0 }", child: { mark: "MARK", '
    'child: { schedule: "[A_shape_0] -> [{ S0[i] -> [(i)] }]" } } }'
)


@pytest.mark.parametrize(
    ("mark", "shown"),
    [("parallel", "#pragma omp parallel for"), ("vector", "#pragma omp simd"), ("unroll:4", "i + 3")],
)
def test_marks_that_are_proven_are_obeyed(mark: str, shown: str) -> None:
    import numpy as np

    kernel = agree(function_of(SCALE), np.arange(11.0), 3.0, target="c", schedule=TREE.replace("MARK", mark))
    assert shown in kernel.source
    assert kernel.schedule.by_hand


def test_a_schedule_of_ours_with_a_mark_is_proven_too() -> None:
    from dataclasses import replace

    part = kernels.matmul()
    known = dependences(part)
    honest = schedule(part, "original", dependences=known)
    node = honest.tree.get_root().child(0).child(0).child(0).child(1).child(0)
    lying = replace(honest, tree=node.insert_mark(isl.Id("parallel")).get_schedule(), by_hand=True)
    with pytest.raises(pv.LegalityError, match="marks a loop `parallel` that must not run so"):
        adopt(part, lying, dependences=known)
