"""What the function returns."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from polyviz.frontend.nodes import Leaf, Node
from polyviz.model.expression import Assign, Element
from polyviz.model.scop import Result

if TYPE_CHECKING:
    from polyviz.frontend.expressions import ExpressionReader
    from polyviz.frontend.program import Program


def read_return(program: Program, expressions: ExpressionReader, node: ast.Return) -> tuple[Node, ...]:
    """Note the results; a result that is not a name gets a scalar of its own and a statement that computes it."""
    value = node.value
    if value is None or (isinstance(value, ast.Constant) and value.value is None):
        return ()
    parts = value.elts if isinstance(value, ast.Tuple) else [value]
    nodes: list[Node] = []
    names = tuple(_result(program, expressions, part, nodes) for part in parts)
    program.result = Result(names, isinstance(value, ast.Tuple), program.source.cut)
    return tuple(nodes)


def _result(program: Program, expressions: ExpressionReader, part: ast.expr, nodes: list[Node]) -> str:
    if isinstance(part, ast.Tuple):
        raise program.source.error(
            part,
            "A tuple inside of the returned tuple is not supported.",
            reason="A kernel hands back numbers and arrays, one or several of them.",
            hint="Return all of them in one tuple, `return a, b, c`, and put them together in the caller.",
        )
    array = program.array(part.id) if isinstance(part, ast.Name) else None
    if array is not None:
        return array.name
    value = expressions.read(part)
    if isinstance(value, Element) and not value.subscripts and program.scalars[value.array].origin == "local":
        return value.array
    target = program.temporary("result", part)
    span = program.source.span(part)
    leaf = Leaf((Assign(target, value),), span, program.source.segment(span), program.requirements())
    nodes.append(leaf)
    return target.array
