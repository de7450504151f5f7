from __future__ import annotations

from polyviz.views.nodes import Member, Node
from polyviz.views.tree import flags, label, root_of, tree_html, tree_text
from tests.views.markup import assert_static, page
from tests.views.samples import tiled


def test_text(golden):
    golden(tree_text(root_of(tiled())))


def test_html_says_the_same():
    html = tree_html(root_of(tiled()))
    assert_static(html)
    shown = "".join(page(html).text)
    for line in ("S0, S1", "permutable band of 2 loops", "floor(i/32)", "mark parallel", "j + 1"):
        assert line in shown
    assert page(html).tags.count("span") == 11


def test_flags():
    assert flags(Member({}, coincident=True, reduction_parallel=True)) == ["parallel"]
    assert flags(Member({}, coincident=False, reduction_parallel=True, role="point")) == [
        "point",
        "parallel reduction",
    ]
    assert flags(Member({}, coincident=False)) == []


def test_labels():
    assert label(Node("filter", ("S",), "S: i >= 5")) == "S where i >= 5"
    assert label(Node("filter", ("S", "T"), "S: i >= 5; T: i >= 5")) == "S, T where S: i >= 5; T: i >= 5"
    assert label(Node("set", ("S",))) == "in any order"
    assert label(Node("context", ("S",), "n >= 5")) == "context n >= 5"
    assert label(Node("guard", ("S",))) == "guard"


def test_hostile_marks_are_text():
    html = tree_html(Node("mark", ("S",), "<script>"))
    assert_static(html)
    assert "&lt;script&gt;" in html
