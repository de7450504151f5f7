"""Numba changes the elements of ``x[1:] += x[:-1]`` one by one and reads what it changed; NumPy reads them first."""

from __future__ import annotations

import ast
import copy


def computed_first(text: str) -> str:
    """``text`` with assignments whose values numba, too, computes before it stores the first.

    >>> print(computed_first("x[1:] += x[:-1]\\nx[i] += x[i - 1]\\ny += y[::-1]"))
    x[1:] = x[1:] + x[:-1]
    x[i] += x[i - 1]
    y[:] = y + y[::-1]
    """
    tree = ast.parse(text)
    changed = _AtOnce()
    whole = changed.visit(tree)
    return ast.unparse(ast.fix_missing_locations(whole)) if changed.found else text


class _AtOnce(ast.NodeTransformer):
    def __init__(self) -> None:
        self.found = False

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.stmt:
        target, base = node.target, _base(node.target)
        if base is None or not _reads_parts(node.value, base, elements=isinstance(target, ast.Name) or _walks(target)):
            return node
        self.found = True
        old = copy.deepcopy(target)
        old.ctx = ast.Load()
        if isinstance(target, ast.Name):
            target = ast.Subscript(ast.Name(target.id, ast.Load()), ast.Slice(), ast.Store())
        return ast.copy_location(ast.Assign([target], ast.BinOp(old, node.op, node.value)), node)


def _base(target: ast.expr) -> str | None:
    while isinstance(target, ast.Subscript):
        target = target.value
    return target.id if isinstance(target, ast.Name) else None


def _walks(node: ast.expr) -> bool:
    return any(isinstance(part, ast.Slice) for part in ast.walk(node))


def _reads_parts(value: ast.expr, base: str, *, elements: bool) -> bool:
    """Whether ``value`` reads a part of the array ``base``; ``elements``: single ones count as parts."""
    return any(
        (isinstance(part, ast.Subscript) and _base(part) == base and (elements or _walks(part)))
        or (isinstance(part, ast.Attribute) and part.attr == "T" and _base(part.value) == base)
        for part in ast.walk(value)
    )
