"""What is transposed after it was computed: ``C[:] = (A + B).T`` is ``turned = A + B`` and ``C[:] = turned.T``.

``np.transpose(A)`` is ``A.T``. A name for such a part, ``D = (A + B).T``, is one for an array of its own: nobody else
has the array behind it.
"""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeGuard

from polyviz.frontend.array_names import bound_by
from polyviz.frontend.functions import UNIVERSAL
from polyviz.frontend.visited import Computing, FreshNames, LinesBefore, located, visited

if TYPE_CHECKING:
    from polyviz.frontend.names import GlobalNames
    from polyviz.frontend.source import Source

_MAKES_NEW = frozenset({*UNIVERSAL, *(f"numpy.{name}" for name in ("dot", "matmul", "outer", "where", "clip"))})
"""Functions whose results share no element with their arguments."""


def with_turned_parts(source: Source, names: GlobalNames) -> Source:
    """``source`` with names for what is computed and transposed; in a cell these would be in the notebook afterwards.

    >>> from polyviz.frontend.names import GlobalNames
    >>> from polyviz.frontend.source import read_source
    >>> source = read_source("def f(A, B):\\n    B[:] = np.transpose(A) + np.exp(A + 1.0).T", None, None)
    >>> print(ast.unparse(ast.Module(list(with_turned_parts(source, GlobalNames(source)).body), [])))
    turned = np.exp(A + 1.0)
    B[:] = A.T + turned.T
    """
    source = replace(source, body=tuple(visited(_Calls(names), source.body)))
    if source.is_cell:
        return source
    return replace(source, body=tuple(visited(_Parts(source, names), source.body)))


class _Calls(ast.NodeTransformer):
    def __init__(self, names: GlobalNames) -> None:
        self._names = names

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        match node:
            case ast.Call(args=[whole], keywords=[]) if self._names.canonical(node.func) == "numpy.transpose":
                return located(ast.Attribute(whole, "T", ast.Load()), node)
        return node


class _Parts(LinesBefore):
    def __init__(self, source: Source, names: GlobalNames) -> None:
        super().__init__()
        self._names = names
        self._fresh = FreshNames(source, names)

    def behind(self, node: Computing) -> list[ast.stmt]:
        """``node`` behind the lines that its value asks for; a name stands for a copy of what has none."""
        is_named = isinstance(node, ast.Assign) and bound_by(node) and self._is_computed(node.value)
        lines = super().behind(node)
        if is_named and node.value is not None:
            node.value = located(ast.Call(ast.Attribute(node.value, "copy", ast.Load()), [], []), node.value)
        return lines

    def visit(self, node: ast.AST) -> Any:
        """``node`` with names; what may not be computed at all stays where it is."""
        if isinstance(node, ast.IfExp | ast.BoolOp | ast.Lambda | ast.GeneratorExp | ast.ListComp):
            return node
        written = super().visit(node)
        if not self._is_computed(written):
            return written
        name = self._fresh.like("turned")
        self.before.append(ast.Assign([ast.Name(name, ast.Store())], written.value))
        return located(ast.Attribute(ast.Name(name, ast.Load()), "T", ast.Load()), node)

    def _is_computed(self, node: object) -> TypeGuard[ast.Attribute]:
        """Whether ``node`` is the transpose of something that has no name."""
        return isinstance(node, ast.Attribute) and node.attr == "T" and _is_new(node.value, self._names)


def _is_new(node: ast.expr, names: GlobalNames) -> bool:
    """Whether ``node`` certainly makes an array of its own: ``x.reshape(3, 4)`` shows the elements of ``x``.

    >>> from polyviz.frontend.names import GlobalNames
    >>> from polyviz.frontend.source import read_source
    >>> names = GlobalNames(read_source("n = 0", None, None))
    >>> texts = "A + B", "np.exp(A)", "A.reshape(3, 4)", "np.reshape(A, (3, 4))", "np.real(A)", "A"
    >>> [_is_new(ast.parse(text, mode="eval").body, names) for text in texts]
    [True, True, False, False, False, False]
    """
    if isinstance(node, ast.Call):
        return names.canonical(node.func) in _MAKES_NEW
    return isinstance(node, ast.BinOp | ast.UnaryOp | ast.Compare)
