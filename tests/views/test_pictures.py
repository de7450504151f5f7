from __future__ import annotations

import polyviz as pv
from polyviz.views.pictures import dependence_rows, drawings, pictures, pictures_of_dependences
from polyviz.views.text import dependences_text
from tests.builders import loop, scop, statement
from tests.views.samples import dependences_of, gemm, jacobi, scan


def test_rows_count_pairs_for_the_shown_values():
    part, found = jacobi()
    rows = dependence_rows(found, part, {"tsteps": 3, "n": 5})
    assert [(row.kind, row.array, row.count) for row in rows] == [
        ("flow", "B", 21),
        ("flow", "A", 14),
        ("anti", "A", 21),
        ("output", "B", 6),
    ]


def test_distances_reach_over_common_loops_and_loops_of_the_same_name():
    part, found = jacobi()
    rows = dependence_rows(found, part)
    assert rows[0].distances == ("(0 | -1)", "(0 | 0)", "(0 | 1)")
    assert rows[1].distances == ("(1 | -1)", "(1 | 0)", "(1 | 1)")
    assert rows[3].distances == ("(1, 0)",)


def test_separate_nests_have_a_relation_and_no_distance():
    part = scop(
        "n",
        loop("i", "S0"),
        loop("i", "S1"),
        S0=statement("0 <= i < n", writes="a[i]"),
        S1=statement("0 <= i < n", reads="a[i]", writes="b[i]"),
    )
    (row,) = dependence_rows(dependences_of("n", ("flow", "a", "S0[i] -> S1[i] : 0 <= i < n")), part)
    assert row.distances == ()
    assert row.summary == "S0[i] → S1[i] when 0 <= i < n"


def test_input_dependences_have_no_row():
    part, found = gemm()
    assert "input" in {one.kind for one in found.relations}
    assert {row.kind for row in dependence_rows(found, part)} == {"flow", "reduction"}


def test_endless_relations_are_not_counted():
    found = dependences_of("n", ("flow", "a", "S0[i] -> S0[i2] : i2 > i"))
    part = scop("n", loop("i", "S0"), S0=statement("i >= 0", writes="a[i]"))
    (row,) = dependence_rows(found, part, {"n": 4})
    assert row.count is None and row.distances == ("(≥1)",)
    shown = pictures(part, found)
    assert shown.panes[0].notes[0] == "first 12 values of i, which has no upper bound"


def test_huge_constant_parts_are_quick():
    part = scop(
        "n",
        loop("i", loop("j", loop("k", "S0"))),
        S0=statement("0 <= i < 100000 and i <= j < 200000 and 0 <= k < 300000", writes="a[i]"),
    )
    every = "S0[i, j, k] -> S0[i, j2, k2] : 0 <= i < 100000 and i <= j < j2 < 200000 and 0 <= k, k2 < 300000"
    found = dependences_of(
        "n", ("output", "a", every.replace("0 <= k, k2 < 300000", "0 <= k < 300000 and 0 <= k2 < 300000"))
    )
    shown = pictures(part, found)
    assert len(shown.panes[0].points) <= 125
    (row,) = dependence_rows(found, part, shown.values)
    assert row.count is None


def test_dependences_alone_draw_the_instances_they_join():
    _, found = scan()
    shown = pictures_of_dependences(found)
    (pane,) = shown.panes
    assert pane.iterators == ("i",)
    assert pane.notes == ("the instances that take part in a dependence",)
    assert pictures_of_dependences(dependences_of("n")).panes == ()


def test_a_description_for_every_drawing():
    found = pictures(*jacobi())
    assert len(drawings(found)) == 3
    assert all(description.endswith(".") for _, description in drawings(found))


def test_pairs_of_deep_nests_are_counted_where_equalities_settle_most_coordinates():
    loops = "".join(f"{'    ' * depth}for {name} in range(n):\n" for depth, name in enumerate("abcde"))
    part = pv.extract(f"{loops}{'    ' * 5}if a > 0:\n{'    ' * 6}A[a, b, c, d, e] = A[a - 1, b, c, d, e]")
    [row] = dependence_rows(pv.dependences(part), part, {"n": 5})
    assert row.count == 3 * 5**4
    [row] = dependence_rows(pv.dependences(part), part, {"n": 500})
    assert row.count is None
    assert "not counted" in dependences_text(pv.dependences(part), [row], {"n": 500})
