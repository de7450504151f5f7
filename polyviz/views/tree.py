"""The schedule tree as indented text and as nested HTML lists."""

from __future__ import annotations

from collections.abc import Mapping

from polyviz.model.schedule import Schedule
from polyviz.views.html import badge, escape
from polyviz.views.nodes import Member, Node, read_tree
from polyviz.views.tables import plural


def root_of(schedule: Schedule) -> Node:
    """The tree of ``schedule`` with what its bands record."""
    return read_tree(schedule.tree, schedule.bands)


def rows_text(rows: Mapping[str, str]) -> str:
    """The functions of one loop; statements with the same one share it.

    >>> rows_text({"S0": "i", "S1": "i", "S2": "i + 1"})
    'S0, S1: i; S2: i + 1'
    """
    names: dict[str, list[str]] = {}
    for name, function in rows.items():
        names.setdefault(function, []).append(name)
    return "; ".join(f"{', '.join(group)}: {function}" for function, group in names.items())


def flags(member: Member) -> list[str]:
    """What is known of a loop, as single words.

    >>> flags(Member({"S": "i"}, coincident=True, role="tile"))
    ['tile', 'parallel']
    """
    words = [] if member.role == "loop" else [member.role]
    if member.coincident:
        return [*words, "parallel"]
    return [*words, "parallel reduction"] if member.reduction_parallel else words


def label(node: Node) -> str:
    """One line for a node, without its loops.

    >>> label(Node("sequence", ("S0", "S1")))
    'in this order'
    """
    if node.kind == "band":
        size = plural(len(node.members), "loop")
        return f"band of {size}, permutable" if node.permutable and len(node.members) > 1 else f"band of {size}"
    fixed = {"sequence": "in this order", "set": "in any order", "leaf": "statement"}
    if node.kind in fixed:
        return fixed[node.kind]
    if node.kind in ("domain", "filter"):
        names = ", ".join(node.statements) or "nothing"
        return f"{names} where {node.text}" if node.text else names
    return f"{node.kind} {node.text}".strip()


def tree_text(root: Node) -> str:
    """The tree with box-drawing lines, one loop per line.

    >>> print(tree_text(Node("domain", ("S",), children=(Node("band", ("S",), members=(Member({"S": "i"}, True),)),))))
    S
    └─ band of 1 loop
         S: i  [parallel]
    """
    return "\n".join(_lines(root))


def _lines(node: Node) -> list[str]:
    lines = [label(node)]
    bar = "│" if node.children else " "
    for member in node.members:
        marks = "".join(f" [{word}]" for word in flags(member))
        lines.append(f"{bar} {rows_text(member.rows)}{' ' + marks if marks else ''}")
    for place, child in enumerate(node.children):
        last = place == len(node.children) - 1
        first, rest = ("└─ ", "   ") if last else ("├─ ", "│  ")
        below = _lines(child)
        lines.append(first + below[0])
        lines.extend(rest + line for line in below[1:])
    return lines


def tree_html(root: Node) -> str:
    """The tree as nested lists; loops carry their marks as badges."""
    loops = "".join(_loop_html(member) for member in root.members)
    below = "".join(f"<li>{tree_html(child)}</li>" for child in root.children)
    table = f'<table style="margin:2px 0 2px 12px">{loops}</table>' if loops else ""
    nested = f'<ul style="margin:0;padding-left:22px">{below}</ul>' if below else ""
    return f"{escape(label(root))}{table}{nested}"


def _loop_html(member: Member) -> str:
    marks = " ".join(badge(word) for word in flags(member))
    function = f'<td style="text-align:left"><code>{escape(rows_text(member.rows))}</code></td>'
    return f'<tr>{function}<td style="text-align:left">{marks}</td></tr>'
