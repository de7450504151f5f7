"""Where in a helper something stands that is read in the place of its call: errors show both lines."""

from __future__ import annotations

import ast

from polyviz.errors import Span, caret_excerpt
from polyviz.frontend.parts import parts_of

_KEY = "stands_in"


def with_lines(helper: ast.FunctionDef, text: str, indent: int = 0) -> ast.FunctionDef:
    """``helper``, whose nodes know where they stand in ``text``, of which ``indent`` columns were removed.

    >>> text = "def g(x):\\n    return abs(x, 2)"
    >>> helper = with_lines(ast.parse(text).body[0], text)
    >>> print(inside_of(helper.body[0].value))
      In `g`, which is called there:
      2 |     return abs(x, 2)
        |            ^^^^^^^^^
    """
    if _KEY in vars(helper):
        return helper
    lines = [line[indent:].encode() for line in text.splitlines()]

    def column(line: int, offset: int) -> int:
        # The parser counts bytes of UTF-8, people count characters.
        return len(lines[line - 1][:offset].decode(errors="ignore")) + 1 + indent

    for node in parts_of(helper, *helper.body):
        if isinstance(node, ast.expr | ast.stmt):
            first, last = node.lineno, node.end_lineno or node.lineno
            ends = column(first, node.col_offset), column(last, node.end_col_offset or node.col_offset)
            span = Span(first, ends[0], last, ends[1])
            vars(node)[_KEY] = (helper.name, text, span)
    return helper


def inside_of(node: ast.AST) -> str:
    """The line of the helper that ``node`` stands in, with what is read there; nothing for lines of the program."""
    name, text, span = vars(node).get(_KEY, ("", "", None))
    excerpt = "" if span is None else caret_excerpt(text, span)
    return f"  In `{name}`, which is called there:\n{excerpt}" if excerpt else ""
