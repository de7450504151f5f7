"""A page of HTML that opens in any browser, without a server or a network."""

from __future__ import annotations

from polyviz.views.html import escape

_STYLE = (
    "body{font:15px/1.5 system-ui,sans-serif;max-width:1100px;margin:2em auto;padding:0 1em}"
    "table{border-collapse:collapse;font-size:13px}th,td{padding:3px 10px 3px 0;border-bottom:1px solid #dddddd}"
)


def html_page(title: str, body: str) -> str:
    """A whole page around ``body``, which is HTML.

    >>> html_page("a < b", "<p>x</p>").count("a &lt; b")
    2
    """
    name = escape(title)
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{name}</title>'
        f"<style>{_STYLE}</style></head>\n<body><h1>{name}</h1>\n{body}\n</body></html>\n"
    )
