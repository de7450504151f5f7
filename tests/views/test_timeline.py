from __future__ import annotations

import pytest

from polyviz.views import timeline
from polyviz.views.pictures import pictures
from polyviz.views.sizes import binding
from tests.builders import loop, scop, statement
from tests.views.markup import assert_picture, texts
from tests.views.samples import SAMPLES, dependences_of, gemm, jacobi, scan


def timeline_of(part, found, **values):
    (group,) = timeline.groups(part)
    return timeline.timeline(group, found.relations, values, binding(values))


@pytest.mark.parametrize("name", ["gemm", "jacobi"])
def test_picture(name, golden):
    """Looked at as pictures before they were kept."""
    (found,) = pictures(*SAMPLES[name]()).timelines
    svg = timeline.draw(found)
    assert_picture(svg)
    golden(svg, "svg")


def test_arrows_between_statements_of_a_stencil():
    found = timeline_of(*jacobi(), tsteps=3, n=5)
    assert (found.loop, found.row_name, found.statements) == ("t", "i", ("S0", "S1"))
    assert found.points[0] == tuple((t, i) for t in range(3) for i in range(1, 4))
    inside = {(arrow.source, arrow.sink) for arrow in found.arrows if arrow.source_name == "S0"}
    assert inside == {
        ((t, i), (t, j)) for t in range(3) for i in range(1, 4) for j in range(1, 4) if abs(i - j) < 2
    }
    # The output dependence of S0 on itself belongs to its own picture.
    assert {arrow.kind for arrow in found.arrows} == {"flow"}
    assert found.notes == ("not drawn: anti arrows that lie under flow arrows",)


def test_loops_that_are_not_shown_are_named():
    found = timeline_of(*gemm(), ni=4, nj=4, nk=4)
    assert (found.loop, found.row_name) == ("i", "j")
    assert found.notes == ("k not shown: one mark stands for all values",)
    assert {(arrow.source, arrow.sink) for arrow in found.arrows} == {
        ((i, j), (i, j)) for i in range(4) for j in range(4)
    }


def lanes():
    part = scop(
        "n",
        loop("i", "S0", "S1", "S2"),
        S0=statement("0 <= i < n", writes="a[i]"),
        S1=statement("0 <= i < n", writes="b[i]"),
        S2=statement("0 <= i < n", writes="c[i]"),
    )
    found = dependences_of(
        "n",
        ("flow", "a", "S0[i] -> S1[i] : 0 <= i < n"),
        ("flow", "a", "S0[i] -> S2[i + 2] : 0 <= i < n - 2"),
    )
    return part, found


def test_statements_of_one_loop_have_a_row_each():
    found = timeline_of(*lanes(), n=4)
    assert found.row_name == ""
    svg = timeline.draw(found)
    assert_picture(svg)
    assert texts(svg)[0] == "S0 → S1 → S2"
    assert timeline.describe(found) == "Dependences between S0, S1, S2 over i: flow S0 to S1; flow S0 to S2."


def test_no_dependence_between_statements_gives_no_picture():
    part, _ = lanes()
    assert timeline_of(part, dependences_of("n"), n=4) is None
    assert timeline.groups(scan()[0]) == []


def test_separate_nests_are_not_drawn_together():
    part = scop(
        "n",
        loop("i", "S0"),
        loop("i", "S1"),
        S0=statement("0 <= i < n", writes="a[i]"),
        S1=statement("0 <= i < n", reads="a[i]", writes="b[i]"),
    )
    assert timeline.groups(part) == []


def test_large_groups_are_left_to_the_table():
    count = timeline.MOST_STATEMENTS + 1
    statements = {f"S{place}": statement("0 <= i < n", writes="a[i]") for place in range(count)}
    assert timeline.groups(scop("n", loop("i", *statements), **statements)) == []


def test_constant_bounds_are_cut_to_a_window():
    part = scop(
        "n",
        loop("i", "S0", "S1"),
        S0=statement("0 <= i < 100000", writes="a[i]"),
        S1=statement("0 <= i < 100000", reads="a[i]", writes="b[i]"),
    )
    found = timeline_of(part, dependences_of("n", ("flow", "a", "S0[i] -> S1[i] : 0 <= i < 100000")), n=1)
    assert found.notes == ("first 12 of 100000 values of i",)
    assert len(found.arrows) == 12
