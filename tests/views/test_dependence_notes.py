"""What the dependence analysis could not do exactly is said in every form of its result."""

from __future__ import annotations

from dataclasses import replace

import polyviz as pv
from polyviz.views.bundles import dependences_bundle
from polyviz.views.schema import MIME

DOWNWARDS = "that loop runs downwards"
NOTE = "the dependences through A hold more pairs than needed"


def test_notes_are_shown_as_text_page_and_data() -> None:
    found = pv.dependences(pv.extract("def f(A):\n    for i in range(1, len(A)):\n        A[i] = A[i - 1]\n"))

    bundle = dependences_bundle(replace(found, notes=(NOTE,)))

    assert NOTE in bundle["text/plain"]
    assert NOTE in bundle["text/html"]
    assert NOTE in bundle[MIME]["left_out"]
    assert NOTE not in dependences_bundle(found)["text/plain"]


def test_a_loop_that_runs_downwards_is_told_apart_from_a_distance_backwards() -> None:
    downwards, upwards = (
        dependences_bundle(pv.dependences(part), part)
        for part in (
            pv.extract("def f(A):\n    for i in range(len(A) - 2, -1, -1):\n        A[i] = A[i + 1]\n"),
            pv.extract("def f(A):\n    for i in range(1, len(A)):\n        A[i] = A[i - 1]\n"),
        )
    )

    assert "(-1)" in downwards["text/plain"]
    assert DOWNWARDS in downwards["text/plain"] and DOWNWARDS in downwards["text/html"]
    assert DOWNWARDS not in upwards["text/plain"] and DOWNWARDS not in upwards["text/html"]
