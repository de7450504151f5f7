"""What pictures and static HTML are made of, read back from their text."""

from __future__ import annotations

import base64
from dataclasses import dataclass, field
from html.parser import HTMLParser
from xml.etree import ElementTree

SVG = "{http://www.w3.org/2000/svg}"
ALLOWED = {
    "p", "strong", "div", "img", "details", "summary", "table", "thead", "tbody", "tr", "th", "td",
    "ul", "li", "code", "pre", "span",
}  # fmt: skip
ALLOWED_ATTRIBUTES = {"alt", "src", "style", "scope", "open"}
VOID = {"img"}


@dataclass
class Page(HTMLParser):
    tags: list[str] = field(default_factory=list)
    attributes: list[tuple[str, str, str]] = field(default_factory=list)
    open_tags: list[str] = field(default_factory=list)
    text: list[str] = field(default_factory=list)
    balanced: bool = True

    def __post_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [(tag, name, value or "") for name, value in attrs]
        if tag not in VOID:
            self.open_tags.append(tag)

    def handle_endtag(self, tag):
        self.balanced = self.balanced and bool(self.open_tags) and self.open_tags.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


def page(html: str) -> Page:
    found = Page()
    found.feed(html)
    found.close()
    return found


def pictures_in(html: str) -> list[str]:
    """The SVG documents of the images."""
    prefix = "data:image/svg+xml;base64,"
    sources = [value for tag, name, value in page(html).attributes if (tag, name) == ("img", "src")]
    assert all(source.startswith(prefix) for source in sources)
    return [base64.b64decode(source.removeprefix(prefix)).decode() for source in sources]


def assert_static(html: str) -> None:
    """Nothing that a trust check, an exported page or GitHub would take away."""
    found = page(html)
    assert set(found.tags) <= ALLOWED
    assert {name for _, name, _ in found.attributes} <= ALLOWED_ATTRIBUTES
    assert found.balanced and not found.open_tags
    alternatives = [value for tag, name, value in found.attributes if (tag, name) == ("img", "alt")]
    assert len(alternatives) == found.tags.count("img") and all(alternatives)
    for style in (value for _, name, value in found.attributes if name == "style"):
        parts = {part.partition(":")[0].strip() for part in style.split(";") if part}
        # A colour without its background disappears in one of the themes.
        assert ("color" in parts) == ("background" in parts)
    for picture in pictures_in(html):
        assert_picture(picture)


def assert_picture(svg: str) -> ElementTree.Element:
    """Well-formed, with a title and a background, and everything inside the canvas."""
    root = ElementTree.fromstring(svg)
    assert root.tag == f"{SVG}svg"
    assert {element.tag for element in root.iter()} <= {
        f"{SVG}{name}" for name in ("svg", "title", "rect", "path", "text")
    }
    assert root.find(f"{SVG}title").text
    assert root.find(f"{SVG}rect").get("fill") == "#ffffff"
    width, height = float(root.get("width")), float(root.get("height"))
    for text in root.iter(f"{SVG}text"):
        assert 0 <= float(text.get("x")) <= width
        assert 0 <= float(text.get("y")) <= height
    return root


def texts(svg: str) -> list[str]:
    return [element.text or "" for element in ElementTree.fromstring(svg).iter(f"{SVG}text")]


def strokes(svg: str, colour: str) -> list[ElementTree.Element]:
    return [path for path in ElementTree.fromstring(svg).iter(f"{SVG}path") if path.get("stroke") == colour]
