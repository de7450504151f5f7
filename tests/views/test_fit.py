from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from polyviz.views.fit import LIMIT, fit, omitted, size


def model(**content: Any) -> dict[str, Any]:
    return {"v": 1, "kind": "test", "shortened": [], **content}


def test_small_models_are_left_alone():
    small = model(points=[[1, 2]])
    assert fit(small) is small


def test_points_are_thinned_evenly_and_the_original_is_kept():
    large = model(points=[[i, i] for i in range(50_000)], text="short")
    before = copy.deepcopy(large)
    small = fit(large)
    assert large == before
    steps = {b[0] - a[0] for a, b in zip(small["points"], small["points"][1:], strict=False)}
    assert len(steps) == 1 and small["points"][0] == [0, 0]
    assert small["shortened"] == [{"path": "points", "total": 50_000, "kept": len(small["points"])}]
    assert size(small) < LIMIT


def test_texts_lose_their_end():
    small = fit(model(text="ab" * 300_000, points=[[1, 2], [3, 4]]))
    assert small["text"] == ("ab" * 300_000)[: len(small["text"])]
    assert small["points"] == [[1, 2], [3, 4]]
    assert small["shortened"][0]["path"] == "text"


def test_points_go_before_source_text():
    small = fit(model(text="x" * 60_000, points=[[i, i] for i in range(20_000)]))
    assert len(small["text"]) == 60_000
    assert len(small["points"]) < 20_000


@pytest.mark.slow
def test_long_lists_of_entries_lose_their_end():
    small = fit(model(rows=[{"name": f"row {place}", "points": [[1, 2]]} for place in range(20_000)]))
    assert [row["name"] for row in small["rows"]] == [f"row {place}" for place in range(len(small["rows"]))]
    assert {"path": "rows", "total": 20_000, "kept": len(small["rows"])} in small["shortened"]


def test_paths_lead_to_what_was_cut():
    panes = [{"points": [[i, i] for i in range(9_000)]} for _ in range(4)]
    small = fit(model(panes=panes))
    for record in small["shortened"]:
        found: Any = small
        for step in record["path"].split("."):
            found = found[int(step)] if isinstance(found, list) else found[step]
        assert len(found) == record["kept"] < record["total"] == 9_000


def test_what_cannot_be_cut_is_omitted():
    wide = model(values={f"name{place}": place for place in range(15_000)})
    assert fit(wide) == omitted(wide)
    assert fit(wide)["kind"] == "omitted" and fit(wide)["of"] == "test"


scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20)
trees = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(), inner, max_size=4)
)


@pytest.mark.slow
@settings(max_examples=12)
@given(trees, st.sampled_from([1, 50, 500]), st.characters())
def test_no_model_is_too_large(tree, copies, character):
    large = model(many=[tree] * copies, text=character * copies * 400)
    assert size(fit(large)) < LIMIT
