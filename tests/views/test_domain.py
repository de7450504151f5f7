from __future__ import annotations

from xml.etree import ElementTree

import islpy as isl
import pytest

from polyviz.views import domain
from polyviz.views.instances import pane
from polyviz.views.palette import INK, KINDS
from polyviz.views.pictures import pictures
from polyviz.views.sizes import binding
from tests.builders import loop, scop, statement
from tests.views.markup import SVG, assert_picture, strokes, texts
from tests.views.samples import SAMPLES, dependences_of, named


@pytest.mark.parametrize("name", SAMPLES)
def test_picture(name, golden):
    """Looked at as pictures before they were kept."""
    found = pictures(*SAMPLES[name]())
    for one in found.panes:
        svg = domain.draw(one)
        assert_picture(svg)
        golden(svg, f"{one.statement}.svg")


def drawn(part, found, name="S0", **values):
    return pane(part.statement(name), found.relations, values, binding(values))


def test_heading_says_what_is_shown():
    svg = domain.draw(drawn(*SAMPLES["triangle"](), n=4))
    assert texts(svg)[:3] == ["S0", "x[i] += L[i, j] * x[j]", "line 4 · n = 4 · 10 instances"]
    assert {"i", "j", "flow", "anti", "output"} <= set(texts(svg))


def test_kinds_differ_by_more_than_colour():
    svg = domain.draw(drawn(*SAMPLES["triangle"](), n=4))
    dashes = {
        kind: {path.get("stroke-dasharray") for path in strokes(svg, KINDS[kind].colour)} for kind in KINDS
    }
    assert dashes["anti"] == {KINDS["anti"].dash} and dashes["output"] == {KINDS["output"].dash}
    assert None in dashes["flow"]
    assert not dashes["reduction"]


def test_every_point_is_a_dot():
    svg = domain.draw(drawn(*SAMPLES["triangle"](), n=4))
    dots = [path for path in strokes(svg, INK) if path.get("d").endswith("h0")]
    assert sum(path.get("d").count("h0") for path in dots) == 10


def test_in_a_crowd_one_instance_stands_out():
    found = drawn(*SAMPLES["seidel"](), tsteps=5, n=7)
    assert len(found.arrows) >= domain.CROWDED
    assert "thick: the dependences of S0[2, 3, 3]; thin: all others" in texts(domain.draw(found))


def test_an_empty_domain_says_so():
    part = scop("n", loop("i", "S0"), S0=statement("0 <= i < n and n > 5", writes="x"))
    svg = domain.draw(drawn(part, dependences_of("n"), n=1))
    assert_picture(svg)
    assert "empty: no instance is executed" in texts(svg)


def test_a_statement_outside_all_loops():
    part = scop("n", "S0", S0=statement("", writes="x"))
    svg = domain.draw(drawn(part, dependences_of("n"), n=1))
    assert_picture(svg)
    assert "outside all loops: one instance" in texts(svg)


def test_a_cut_domain_says_what_is_missing():
    part = scop("n", loop("i", loop("j", "S0")), S0=statement("0 <= i < 5000 and i <= j", writes="x"))
    svg = domain.draw(drawn(part, dependences_of("n"), n=1))
    shown = texts(svg)
    assert "first 8 of 5000 values of i" in shown
    assert "first 8 values of j, which has no upper bound" in shown
    assert "line 1 · n = 1 · 36 instances drawn" in shown


@pytest.mark.parametrize(
    "text",
    [
        "i = 3 and j = 2 and k = 1",
        "0 <= i < 5 and j = 2 and k = 1",
        "0 <= i < 5 and j = i and k = -i",
        "0 <= i < 5 and 0 <= j < 3 and k = 7",
        "(0 <= i < 2 or 6 <= i < 8) and 0 <= j < 3 and 0 <= k < 3",
        "-9 <= i < -5 and -100 <= j < -98 and 1000 <= k < 1002",
        "i >= 0 and j <= 0",
    ],
)
@pytest.mark.parametrize("iterators", ["ijk", "ij", "i"])
def test_unusual_shapes_stay_inside_the_canvas(text, iterators):
    names = ", ".join(iterators)
    inside = isl.Set(f"[n] -> {{ S0[i, j, k] : {text} }}").project_out(
        isl.dim_type.set, len(iterators), 3 - len(iterators)
    )
    nest = "S0"
    for name in reversed(iterators):
        nest = loop(name, nest)
    part = scop("n", nest, S0=statement(str(inside).partition(":")[2].rpartition("}")[0] or "", writes="x"))
    assert part.statements[0].iterators == tuple(names.split(", "))
    root = assert_picture(domain.draw(drawn(part, dependences_of("n"), n=1)))
    width, height = float(root.get("width")), float(root.get("height"))
    assert 100 < width < 900 and 60 < height < 700


def test_hostile_text_is_text():
    part = scop("n", loop("i", "S0"), S0=statement("0 <= i < n", writes="x"))
    hostile = "</text><script>alert('x')</script>&amp;"
    svg = domain.draw(drawn(named(part, "f", S0=hostile), dependences_of("n"), n=4))
    assert hostile in texts(svg)
    assert_picture(svg)


def test_long_source_is_cut_and_notes_wrap():
    part = scop("n", loop("i", "S0"), S0=statement("0 <= i < n", writes="x"))
    svg = domain.draw(
        pane(
            named(part, "f", S0="x" * 500).statements[0], (), {"n": 4}, binding({"n": 4}), "a long note " * 20
        )
    )
    width = float(ElementTree.fromstring(svg).get("width"))
    for element in ElementTree.fromstring(svg).iter(f"{SVG}text"):
        if element.get("text-anchor") is None:
            length = len(element.text or "") * float(element.get("font-size")) * 0.5
            assert float(element.get("x")) + length < width


def test_description_counts_the_arrows():
    assert domain.describe(drawn(*SAMPLES["triangle"](), n=4)) == (
        "Iteration domain of S0 over i, j: 10 instances for n = 4; "
        "dependences on itself: 6 flow, 6 anti, 3 output."
    )
