"""Static HTML that every trust check lets through: tables, details, images; no script, style sheet, inline SVG or id.

Where a colour is set, foreground and background are set together, so that any theme stays readable.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from polyviz.views.svg import data_uri, escape

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["badge", "details", "escape", "heading", "image", "items", "paragraph", "preformatted", "table"]

_BADGES = {
    "parallel": ("#e0f3ec", "#00513b"),
    "parallel reduction": ("#f6e6f4", "#6b2560"),
    "tile": ("#e3effa", "#00416b"),
    "point": ("#e3effa", "#00416b"),
}
_PLAIN_BADGE = ("#eeeeee", "#1b1b1b")
_WHOLE = 24
"""Letters of a cell that are not broken into lines: a time with its interval has as many."""


def image(svg: str, alternative: str) -> str:
    """A picture as a data URI with its text alternative."""
    style = "max-width:100%;margin:4px 8px 4px 0;vertical-align:top"
    return f'<img alt="{escape(alternative)}" style="{style}" src="{data_uri(svg)}">'


def table(rows: Iterable[Sequence[object]], header: Sequence[str], code: Sequence[int] = ()) -> str:
    """A table with a header row; cells are escaped, the columns in ``code`` are set as code.

    >>> table([["<x>", 1]], ["name", "count"], code=[0]).count("<code>&lt;x&gt;</code>")
    1
    >>> table([["87.7 µs (85.4–90.0 µs)", "a note that is longer than any figure"]], ["median", "note"]).count("nowrap")
    3
    """
    head = "".join(f'<th scope="col" {_style(name)}>{escape(name)}</th>' for name in header)
    body = "".join(
        f"<tr>{''.join(_cell(value, is_code=place in code) for place, value in enumerate(row))}</tr>" for row in rows
    )
    # Notebooks centre tables otherwise.
    return f'<table style="margin:4px 0"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'


def _cell(value: object, *, is_code: bool) -> str:
    text = escape(value)
    return f"<td {_style(value)}>{f'<code>{text}</code>' if is_code and value != '' else text}</td>"


def _style(value: object) -> str:
    """The look of a cell; a figure stays on one line beside a long note."""
    whole = ";white-space:nowrap" if len(str(value)) <= _WHOLE else ""
    return f'style="text-align:left;vertical-align:top{whole}"'


def details(summary: str, content: str, *, opened: bool = False) -> str:
    """A part that folds; ``content`` is HTML, ``summary`` text."""
    start = f'<details{" open" if opened else ""} style="margin:6px 0">'
    return f'{start}<summary style="font-weight:600">{escape(summary)}</summary>{content}</details>'


def preformatted(text: str) -> str:
    """Text as it is, with its own colours and letters of one width, which exported pages do not give it."""
    style = (
        "background:#f7f7f7;color:#1b1b1b;padding:8px;overflow:auto;line-height:1.35;font-family:monospace"
    )
    return f'<pre style="{style}">{escape(text)}</pre>'


def paragraph(text: str) -> str:
    """A paragraph of text.

    >>> paragraph("`i` runs first")
    '<p><code>i</code> runs first</p>'
    """
    return f"<p>{_prose(text)}</p>"


def items(texts: Iterable[str]) -> str:
    """A bulleted list of texts; nothing for none."""
    listed = "".join(f"<li>{_prose(text)}</li>" for text in texts)
    return f"<ul>{listed}</ul>" if listed else ""


def _prose(text: str) -> str:
    """A sentence; what it has between backticks is code."""
    return re.sub("`([^`]+)`", r"<code>\1</code>", escape(text))


def heading(text: str) -> str:
    """A heading that does not shout in a notebook."""
    return f"<p><strong>{escape(text)}</strong></p>"


def badge(text: str) -> str:
    """A small coloured word; the word itself carries the meaning."""
    background, foreground = _BADGES.get(text, _PLAIN_BADGE)
    style = f"background:{background};color:{foreground};border-radius:4px;padding:0 5px;white-space:nowrap"
    return f'<span style="{style}">{escape(text)}</span>'
