from __future__ import annotations

import base64
import math
from xml.etree import ElementTree

from hypothesis import given
from hypothesis import strategies as st

from polyviz.views.svg import Canvas, data_uri, escape, number
from tests.views.markup import SVG, assert_picture, texts

HOSTILE = st.text(st.characters(exclude_categories=[]), max_size=30)


@given(HOSTILE, HOSTILE)
def test_any_text_gives_a_readable_document(title, content):
    canvas = Canvas(100, 50, f"t{title}")
    canvas.text(1, 2, content)
    canvas.text(1, 9, "</text><script>alert(1)</script>")
    root = assert_picture(canvas.render())
    assert len(list(root.iter(f"{SVG}text"))) == 2
    assert texts(canvas.render())[1] == "</text><script>alert(1)</script>"


@given(HOSTILE)
def test_escaped_text_comes_back(content):
    kept = ElementTree.fromstring(f"<a>{escape(content)}</a>").text or ""
    expected = "".join(character if _is_xml(character) else "\ufffd" for character in content)
    assert kept == expected.replace("\r\n", "\n").replace("\r", "\n")


def _is_xml(character: str) -> bool:
    code = ord(character)
    return code in (9, 10, 13) or 0x20 <= code <= 0xD7FF or 0xE000 <= code <= 0xFFFD or code >= 0x10000


def test_data_uri_holds_the_document():
    prefix, _, content = data_uri("<svg>ü</svg>").partition(",")
    assert prefix == "data:image/svg+xml;base64"
    assert base64.b64decode(content).decode() == "<svg>ü</svg>"


@given(st.floats(-1e6, 1e6))
def test_numbers_keep_one_decimal(value):
    assert math.isclose(float(number(value)), value, abs_tol=0.0501)


def test_dots_are_one_path():
    canvas = Canvas(10, 10, "dots")
    canvas.dots([(1, 2), (3, 4)], 2.5, "#123456")
    (path,) = ElementTree.fromstring(canvas.render()).iter(f"{SVG}path")
    assert path.get("d") == "M1 2h0M3 4h0"
    assert path.get("stroke-width") == "5"
    assert path.get("stroke-linecap") == "round"


def test_nothing_to_draw_leaves_no_trace():
    canvas = Canvas(10, 10, "empty")
    canvas.dots([], 2)
    assert "<path" not in canvas.render()
