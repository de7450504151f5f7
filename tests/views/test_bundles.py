from __future__ import annotations

from dataclasses import replace

import jsonschema
import pytest

import polyviz as pv
from polyviz.model.dependences import Legality, LoopParallelism
from polyviz.model.display import mime_bundle
from polyviz.views import bundles
from polyviz.views.bundles import Section, combine
from polyviz.views.fit import LIMIT, size
from polyviz.views.schema import MIME, json_schema
from tests.builders import loop, scop, statement
from tests.views.markup import assert_static, page, pictures_in, texts
from tests.views.samples import SAMPLES, comparison, dependences_of, gemm, jacobi, named, tiled
from tests.views.test_models import program
from tests.views.test_text import VIOLATION

HOSTILE = "</pre></details><script>alert('x')</script><img src=x onerror=alert(1)>"
LOOPS = (LoopParallelism("i", 0, ("S0",), False, True, VIOLATION, "why"),)


def checked(bundle):
    """A bundle whose three forms are what the contract promises."""
    assert list(bundle) == [MIME, "text/html", "text/plain"]
    jsonschema.validate(bundle[MIME], json_schema(bundle[MIME]["kind"]))
    assert size(bundle[MIME]) < LIMIT
    assert_static(bundle["text/html"])
    assert bundle["text/plain"].strip()
    assert "\x1b" not in bundle["text/plain"]
    return bundle


@pytest.mark.parametrize("name", SAMPLES)
def test_values_show_themselves(name):
    part, found = SAMPLES[name]()
    shown = checked(part._repr_mimebundle_())
    assert len(pictures_in(shown["text/html"])) == len(part.statements)
    assert repr(part) == shown["text/plain"]
    checked(found._repr_mimebundle_())


def test_other_values():
    checked(tiled()._repr_mimebundle_())
    checked(Legality()._repr_mimebundle_())
    table = checked(Legality((VIOLATION,))._repr_mimebundle_())
    assert "S1[0, 3]" in "".join(page(table["text/html"]).text)
    checked(mime_bundle(comparison()))
    checked(mime_bundle(program()))
    checked(bundles.parallelism_bundle(LOOPS))


def test_a_part_with_dependences_has_arrows_and_the_combined_picture():
    part, found = jacobi()
    shown = pictures_in(checked(bundles.scop_bundle(part, found))["text/html"])
    assert len(shown) == 3
    assert texts(shown[2])[0] == "S0 → S1"
    assert "output" in texts(shown[0])


def test_a_part_whose_dependences_nobody_asked_for_says_nothing_of_them():
    part, found = gemm()
    alone, both = bundles.scop_bundle(part), bundles.scop_bundle(part, found)
    sentence = "no dependence of the statement on itself"
    assert "dependence" not in alone["text/html"]
    assert all(sentence not in texts(one) for one in pictures_in(alone["text/html"]))
    assert any(sentence in texts(one) for one in pictures_in(both["text/html"]))


def test_a_forbidden_order_shows_its_pair():
    part = pv.extract("for i in range(1, n):\n    for j in range(n - 1):\n        A[j, i] = A[j + 1, i - 1]")
    [svg] = pictures_in(checked(pv.check(part, "{ S0[i, j] -> [j, i] }")._repr_mimebundle_())["text/html"])
    assert "flow" in texts(svg)


def test_a_forbidden_pair_of_two_statements_is_an_arrow_where_a_loop_is_around_both():
    part = pv.extract("for i in range(1, n):\n    B[i] = A[i]\n    C[i] = B[i - 1]")
    [svg] = refused(part, "{ S0[i] -> [-i, 0]; S1[i] -> [-i, 1] }")
    assert {"S0 → S1", "flow"} <= set(texts(svg))


def test_a_forbidden_pair_of_two_nests_is_ringed_in_each_of_them():
    part = pv.extract("for i in range(n):\n    B[i] = A[i]\nfor i in range(n):\n    C[i] = B[i]")
    source, sink = refused(part, "{ S0[i] -> [1, i]; S1[i] -> [0, i] }")
    assert "S0[0]" in texts(source)
    assert "S1[0]" in texts(sink)


def test_the_picture_of_a_pair_keeps_sizes_for_which_it_is_one():
    first = "for i in range(n):\n    for j in range(i):\n        B[i, j] = A[i, j]\n"
    part = pv.extract(f"{first}for i in range(n):\n    C[i] = B[n - 1, i]")
    source, _ = refused(part, "{ S0[i, j] -> [1, i, j]; S1[i] -> [0, i, 0] }")
    assert "S0[1, 0]" in texts(source)
    assert "line 3 · n = 2 · 1 instance" in texts(source)


def refused(part, order):
    verdict = pv.check(part, order)
    assert not verdict
    return pictures_in(checked(verdict._repr_mimebundle_())["text/html"])


def test_what_is_preformatted_has_letters_of_one_width():
    assert "monospace" in bundles.listing_bundle("a\n  b")["text/html"]


def test_real_sizes_are_drawn_or_the_reader_is_told():
    part, found = jacobi()
    fitting = checked(bundles.scop_bundle(part, found, {"tsteps": 4, "n": 6}))
    assert fitting[MIME]["panes"][0]["values"] == {"n": 6, "tsteps": 4}
    assert fitting[MIME]["left_out"] == []
    large = checked(bundles.scop_bundle(part, found, {"tsteps": 1000, "n": 6}))
    (sentence,) = large[MIME]["left_out"]
    assert "not for the sizes of the run" in sentence
    assert sentence in "".join(page(large["text/html"]).text)


def test_statements_outside_loops_are_named_instead_of_drawn():
    part = scop(
        "n", "S0", loop("i", "S1"), "S2",
        S0=statement("", writes="s"), S1=statement("0 <= i < n", writes="x[i]"), S2=statement("", writes="t"),
    )  # fmt: skip
    shown = checked(bundles.scop_bundle(part))
    assert len(pictures_in(shown["text/html"])) == 1
    assert "Not drawn: S0, S2 (outside all loops, one instance each)." in "".join(
        page(shown["text/html"]).text
    )
    alone = checked(bundles.scop_bundle(scop("n", "S0", S0=statement("", writes="s"))))
    assert len(pictures_in(alone["text/html"])) == 1


def test_a_long_part_has_a_bounded_number_of_pictures():
    names = {f"S{place}": statement("0 <= i < n", writes="a[i]") for place in range(60)}
    shown = checked(bundles.scop_bundle(scop("n", loop("i", *names), **names)))
    assert len(pictures_in(shown["text/html"])) == 24
    assert "only the first 24 statements have a picture" in shown[MIME]["left_out"][0]


def test_no_distance_is_broken_in_two():
    loops = "for i in range(1, 9):\n    for j in range(8):\n        A[i, j] = A[i - 1, j + 1]"
    part = pv.extract(loops)
    forms = bundles.dependences_bundle(pv.dependences(part), part)
    assert "(1,\N{NO-BREAK SPACE}-1)" in forms["text/html"]
    assert "(1, -1)" in forms["text/plain"]


def test_dependences_leave_pictures_to_the_part_beside_them():
    part, found = gemm()
    assert pictures_in(checked(bundles.dependences_bundle(found, part))["text/html"])
    bare = checked(bundles.dependences_bundle(found, part, drawn=False))
    assert pictures_in(bare["text/html"]) == [] and bare[MIME]["panes"] == []
    assert bare[MIME]["relations"][0]["count"] == 25
    assert (
        "No dependence: any order is legal." in bundles.dependences_bundle(dependences_of("n"))["text/html"]
    )


def test_combination_keeps_order_folding_and_all_forms():
    part, found = gemm()
    shown = checked(
        combine(
            "gemm",
            [
                Section("Part", bundles.scop_bundle(part, found), open=True),
                Section("Schedule", bundles.schedule_bundle(tiled())),
                Section("Remark", bundles.note_bundle("nothing was relaxed")),
                Section("Program", bundles.program_bundle(program())),
                Section("Comparison", bundles.comparison_bundle(comparison()), open=True),
            ],
        )
    )
    sections = shown[MIME]["sections"]
    assert [section["heading"] for section in sections] == [
        "Part",
        "Schedule",
        "Remark",
        "Program",
        "Comparison",
    ]
    assert [section["open"] for section in sections] == [True, False, False, False, True]
    assert sections[2]["model"] is None
    assert shown["text/html"].startswith("<p><strong>gemm</strong></p><details open")
    headings = [line for line in shown["text/plain"].splitlines() if line.startswith("==")]
    assert headings == [f"== {section['heading']} ==" for section in sections]


def test_hostile_names_are_text_in_every_form():
    part = scop("n", loop("i", "S0"), S0=statement("0 <= i < n", writes="x[i]"))
    part = named(part, HOSTILE, S0=HOSTILE)
    sections = [
        Section(HOSTILE, bundles.scop_bundle(part, dependences_of("n"))),
        Section("Program", bundles.program_bundle(program(HOSTILE))),
        Section(
            "Loops",
            bundles.parallelism_bundle((LoopParallelism(HOSTILE, 0, (), True, False, None, HOSTILE),)),
        ),
        Section("Note", bundles.note_bundle(HOSTILE)),
    ]
    shown = checked(combine(HOSTILE, sections))
    assert HOSTILE in "".join(page(shown["text/html"]).text)


def test_source_of_each_variant_is_folded():
    html = bundles.comparison_bundle(comparison())["text/html"]
    assert "Source of pluto/c" in html and "for (i = 0; i &lt; n; i++)" in html


def test_a_section_does_not_repeat_its_heading():
    one = bundles.combine("f", [bundles.Section("Schedule by pluto", bundles.schedule_bundle(tiled()))])
    assert one["text/html"].count("Schedule by pluto") == 1
    assert one["text/plain"].count("Schedule by pluto") == 1


def test_what_stands_between_backticks_is_code():
    shown = bundles.note_bundle("`<b>` leaves its array")["text/html"]
    assert shown == "<p><code>&lt;b&gt;</code> leaves its array</p>"


def test_what_the_machine_allows_is_asked_for_where_something_was_timed():
    data = comparison()
    nothing = replace(data, roofline=None, rows=tuple(replace(row, measurement=None) for row in data.rows))
    assert "A roofline needs" in mime_bundle(replace(data, roofline=None))["text/html"]
    assert "A roofline needs" not in mime_bundle(nothing)["text/html"]
