"""The schedule tree as indented text and as nested HTML lists."""

from __future__ import annotations

from typing import TYPE_CHECKING

from polyviz.model.words import plural
from polyviz.views.html import badge, escape
from polyviz.views.nodes import Member, Node, read_tree

if TYPE_CHECKING:
    from collections.abc import Mapping

    from polyviz.model.schedule import Schedule

_PLAIN = "list-style:none;margin:2px 0"


def root_of(schedule: Schedule) -> Node:
    """The tree of ``schedule`` with what its bands record."""
    return read_tree(schedule.tree, schedule.bands)


def rows_text(rows: Mapping[str, str]) -> str:
    """The functions of one loop; statements with the same one share it, and all of them need not be named.

    >>> rows_text({"S0": "i", "S1": "i", "S2": "i + 1"})
    'S0, S1: i; S2: i + 1'
    >>> rows_text({"S0": "i", "S1": "i"})
    'i'
    """
    names: dict[str, list[str]] = {}
    for name, function in rows.items():
        names.setdefault(function, []).append(name)
    if len(names) == 1:
        return next(iter(names))
    return "; ".join(f"{', '.join(group)}: {function}" for function, group in names.items())


def flags(member: Member) -> list[str]:
    """What is known of a loop, as single words.

    >>> flags(Member({"S": "i"}, coincident=True, role="tile"))
    ['tile', 'parallel']
    """
    role = [] if member.role == "loop" else [str(member.role)]
    if member.coincident:
        return [*role, "parallel"]
    return [*role, "parallel reduction"] if member.reduction_parallel else role


def label(node: Node) -> str:
    """One line for a node, without its loops.

    >>> label(Node("sequence", ("S0", "S1")))
    'in this order'
    """
    if node.kind == "band":
        kind = "permutable band" if node.permutable else "band"
        return "loop" if len(node.members) == 1 else f"{kind} of {plural(len(node.members), 'loop')}"
    fixed = {"sequence": "in this order", "set": "in any order", "leaf": "statement"}
    if node.kind in fixed:
        return fixed[node.kind]
    if node.kind in ("domain", "filter"):
        names = ", ".join(node.statements) or "nothing"
        # A condition says whose it is, which of one statement is clear.
        return f"{names} where {node.text.removeprefix(f'{names}: ')}" if node.text else names
    return f"{node.kind} {node.text}".strip()


def tree_text(root: Node) -> str:
    """The tree with box-drawing lines, one loop per line.

    >>> print(tree_text(Node("domain", ("S",), children=(Node("band", ("S",), members=(Member({"S": "i"}, True),)),))))
    S
    └─ loop i  [parallel]
    """
    return "\n".join(_lines(root))


def _lines(node: Node) -> list[str]:
    lines = [label(node)]
    bar = "│" if node.children else " "
    if len(node.members) == 1:
        lines[0] += " " + _loop_text(node.members[0])
    else:
        lines += [f"{bar} {_loop_text(member)}" for member in node.members]
    for place, child in enumerate(node.children):
        last = place == len(node.children) - 1
        first, rest = ("└─ ", "   ") if last else ("├─ ", "│  ")
        below = _lines(child)
        lines.append(first + below[0])
        lines.extend(rest + line for line in below[1:])
    return lines


def _loop_text(member: Member) -> str:
    marks = "".join(f" [{word}]" for word in flags(member))
    return f"{rows_text(member.rows)}{' ' + marks if marks else ''}"


def tree_html(root: Node) -> str:
    """The tree as nested lists; loops carry their marks as badges."""
    single = len(root.members) == 1
    loops = "".join(f'<li style="{_PLAIN}">{_loop_html(member)}</li>' for member in root.members)
    below = "".join(f'<li style="{_PLAIN}">{tree_html(child)}</li>' for child in root.children)
    head = f"{escape(label(root))} {_loop_html(root.members[0])}" if single else escape(label(root))
    return head + _list_html("" if single else loops) + _list_html(below)


def _list_html(entries: str) -> str:
    style = "margin:0 0 0 6px;padding-left:14px;border-left:1px solid #9a9a9a"
    return f'<ul style="{style}">{entries}</ul>' if entries else ""


def _loop_html(member: Member) -> str:
    marks = "".join(f" {badge(word)}" for word in flags(member))
    return f"<code>{escape(rows_text(member.rows))}</code>{marks}"
