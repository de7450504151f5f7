"""Every kind of result as it is met without a kernel: exported, on a page that strips scripts and styles, as text."""

from __future__ import annotations

import re
from functools import cache

import bleach
import nbformat
import numpy as np
import pytest
from nbconvert import HTMLExporter, LatexExporter

import polyviz as pv
from polyviz.exercises import find
from polyviz.model.display import mime_bundle

PRODUCT = """def product(A, B, C):
    for i in range(A.shape[0]):
        for j in range(A.shape[0]):
            for k in range(A.shape[0]):
                C[i, j] += A[i, k] * B[k, j]
"""
CROOKED = """for i in range(1, n):
    for j in range(n - 1):
        A[j, i] = A[j + 1, i - 1] + X[j, i]
"""
KEPT = [
    "p",
    "strong",
    "code",
    "pre",
    "table",
    "thead",
    "tbody",
    "tr",
    "th",
    "td",
    "ul",
    "ol",
    "li",
    "img",
    "details",
]
KEPT += ["summary", "div", "span"]


def arrays():
    return tuple(np.random.default_rng(0).random((12, 12)) for _ in range(3))


@cache
def device():
    kernel = pv.compile(PRODUCT, schedule="superposition", target="emulated")
    kernel(*arrays())
    return kernel.device_view()


# Each result with words that its page and its text have to say, and whether it has a picture and a table.
RESULTS = {
    "inspector": (
        lambda: pv.inspect(CROOKED, schedules=("original", "pluto")),
        "Loop j is parallel",
        True,
        True,
    ),
    "part": (lambda: pv.extract(CROOKED), "A[j, i] = A[j + 1, i - 1] + X[j, i]", True, True),
    "dependences": (lambda: pv.dependences(pv.extract(CROOKED)), "(1, -1)", True, True),
    "schedule": (lambda: pv.schedule(pv.extract(CROOKED), "pluto"), "parallel", False, False),
    "check": (lambda: pv.check(pv.extract(CROOKED), "{ S0[i, j] -> [j, i] }"), "S0[2, 0] reads", True, True),
    "compare": (
        lambda: pv.compare(PRODUCT, *arrays(), schedules=("original",), targets=("python",), repeats=2),
        "original/python",
        True,
        True,
    ),
    "ablation": (
        lambda: pv.ablation(PRODUCT, *arrays(), target="python", without=("tile",), repeats=2),
        "without tile",
        True,
        True,
    ),
    "tune": (
        lambda: pv.tune(PRODUCT, *arrays(), target="numba", seconds=1, remember=False),
        "the defaults",
        True,
        True,
    ),
    "device": (device, "transactions", True, True),
    "edit": (lambda: pv.edit(CROOKED).apply("reversal", at="j"), 'reversal(at="j")', False, False),
    "polycheck": (
        lambda: find("crooked").attempt('interchange(order=("j", "i"))'),
        "would change the result",
        True,
        False,
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", RESULTS)
def test_it_survives(name, monkeypatch):
    monkeypatch.setattr("polyviz.model.display._has_front_end", lambda: False)
    make, words, has_picture, has_table = RESULTS[name]
    forms = mime_bundle(make())
    assert words in forms["text/plain"]
    bare = stripped(forms["text/html"])
    assert words in text_of(bare)
    assert ('src="data:image/svg+xml;base64,' in bare) == has_picture
    assert all(re.search(r'alt="[^"]{20,}"', picture) for picture in re.findall(r"<img[^>]*>", bare))
    assert ("<table" in bare) == has_table
    page = exported(forms)
    assert text_of(forms["text/html"]) in text_of(page)
    assert all(picture in page for picture in re.findall(r'src="data:[^"]*"', bare))
    assert words in printed(forms)


def stripped(html):
    """What is left where only safe tags are let through, as on GitHub; nothing that was said may go."""
    bare = bleach.clean(html, tags=KEPT, attributes={"img": ["src", "alt"]}, protocols=["data"], strip=True)
    assert text_of(bare) == text_of(html)
    return bare


def text_of(html):
    """The words of a page."""
    plain = re.sub(r"<[^>]*>", " ", html)
    for name, letter in (("&lt;", "<"), ("&gt;", ">"), ("&quot;", '"'), ("&#x27;", "'"), ("&amp;", "&")):
        plain = plain.replace(name, letter)
    return " ".join(plain.split())


def exported(forms):
    cell = nbformat.v4.new_code_cell("", outputs=[nbformat.v4.new_output("display_data", forms)])
    return HTMLExporter().from_notebook_node(nbformat.v4.new_notebook(cells=[cell]))[0]


def printed(forms):
    """The words of the result in LaTeX, where nobody meets a live view: text, with the signs of LaTeX escaped."""
    live = {**forms, "application/vnd.jupyter.widget-view+json": {"model_id": "1", "version_major": 2}}
    cell = nbformat.v4.new_code_cell("", outputs=[nbformat.v4.new_output("display_data", live)])
    page = LatexExporter().from_notebook_node(nbformat.v4.new_notebook(cells=[cell]))[0]
    [_, text] = re.findall(r"\\begin\{Verbatim\}[^\n]*\n(.*?)\\end\{Verbatim\}", page, re.DOTALL)
    plain = re.sub(r"\\([_{}#$%&])", r"\1", text)
    for name, letter in ((r"\textbackslash{}", "\\"), (r"\^{}", "^"), (r"\textasciitilde{}", "~")):
        plain = plain.replace(name, letter)
    return " ".join(plain.split())


@pytest.mark.slow
def test_an_error_stays_readable_in_an_exported_page():
    with pytest.raises(pv.ExtractionError) as caught:
        pv.extract("for i in range(n):\n    while A[i] > '<script>':\n        A[i] = 0.0")
    trace = caught.value._render_traceback_()
    output = nbformat.v4.new_output(
        "error", ename="ExtractionError", evalue=str(caught.value), traceback=trace
    )
    cell = nbformat.v4.new_code_cell("", outputs=[output])
    page = HTMLExporter().from_notebook_node(nbformat.v4.new_notebook(cells=[cell]))[0]
    assert "while A[i] &gt; '&lt;script&gt;':" in page
    assert "^^^^^" in page
