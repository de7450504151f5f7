"""Arrays that get all elements of another one, since a name means that one from there on; and what is said of it."""

from __future__ import annotations

import ast

from polyviz.frontend.literals import EXCHANGED, REBOUND, RETURNED

_DONE = {
    REBOUND: "stores its new values in `{}`, a copy that is made of the old ones before",
    EXCHANGED: "exchanges the elements of its arrays, in the place of their names",
    RETURNED: "returns an array of its own, a copy of the one that is meant then",
}


def is_rebound(target: ast.expr) -> bool:
    """Whether ``target`` is the array that gets the new value of a name."""
    return _kind(target) in _DONE


def rebound_note(node: ast.stmt, target: ast.expr, name: str) -> str:
    """What is said of the line ``node``, which stores new values in the array ``name``."""
    return f"Line {node.lineno} {_DONE[_kind(target)].format(name)}."


def _kind(target: ast.expr) -> str:
    return str(getattr(target.slice, "kind", "")) if isinstance(target, ast.Subscript) else ""
