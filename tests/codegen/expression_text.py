"""Python text -> the model's expressions, so that tests read like the programs they are about."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from polyviz.model.expression import (
    Assign,
    Binary,
    Branch,
    Call,
    Compare,
    Conditional,
    Constant,
    Element,
    Expression,
    Instruction,
    Logical,
    Loop,
    Name,
    Unary,
)

if TYPE_CHECKING:
    from collections.abc import Container

OPERATORS = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%", ast.Pow: "**",
    ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^", ast.LShift: "<<", ast.RShift: ">>",
    ast.USub: "-", ast.UAdd: "+", ast.Invert: "~", ast.Not: "not", ast.And: "and", ast.Or: "or",
    ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!=",
}  # fmt: skip
MODULES = {"np": "numpy", "math": "math"}


def expression(text: str, arrays: Container[str]) -> Expression:
    """The expression that ``text`` means; names in ``arrays`` are arrays or scalars, others iterators or parameters."""
    return _expression(ast.parse(text, mode="eval").body, arrays)


def body(text: str, arrays: Container[str]) -> tuple[Instruction, ...]:
    """The instructions that ``text`` means."""
    return tuple(_instruction(node, arrays) for node in ast.parse(text).body)


def _instruction(node: ast.stmt, arrays: Container[str]) -> Instruction:
    def convert(part: ast.expr) -> Expression:
        return _expression(part, arrays)

    def block(nodes: list[ast.stmt]) -> tuple[Instruction, ...]:
        return tuple(_instruction(part, arrays) for part in nodes if not isinstance(part, ast.Pass))

    match node:
        case ast.Assign(targets=[target], value=value):
            return Assign(convert(target), convert(value))
        case ast.AugAssign(target=target, op=operator, value=value):
            return Assign(convert(target), convert(value), OPERATORS[type(operator)])
        case ast.If(test=test, body=then, orelse=otherwise):
            return Branch(convert(test), block(then), block(otherwise))
        case ast.For(target=ast.Name(id=iterator), iter=ast.Call(args=arguments), body=inner):
            bounds = [convert(argument) for argument in arguments]
            start, stop, step = (
                [Constant(0), *bounds, Constant(1)] if len(bounds) == 1 else [*bounds, Constant(1)][:3]
            )
            return Loop(iterator, start, stop, step, block(inner))
    raise AssertionError(ast.dump(node))


def _expression(node: ast.expr, arrays: Container[str]) -> Expression:
    def convert(part: ast.expr) -> Expression:
        return _expression(part, arrays)

    match node:
        case ast.Constant(value=value):
            return Constant(value)
        case ast.Name(id=name):
            return Element(name) if name in arrays else Name(name)
        case ast.Subscript(value=ast.Name(id=name), slice=ast.Tuple(elts=parts)):
            return Element(name, tuple(convert(part) for part in parts))
        case ast.Subscript(value=ast.Name(id=name), slice=part):
            return Element(name, (convert(part),))
        case ast.UnaryOp(op=operator, operand=operand):
            return Unary(OPERATORS[type(operator)], convert(operand))
        case ast.BinOp(left=left, op=operator, right=right):
            return Binary(OPERATORS[type(operator)], convert(left), convert(right))
    return _choice(node, arrays)


def _choice(node: ast.expr, arrays: Container[str]) -> Expression:
    def convert(part: ast.expr) -> Expression:
        return _expression(part, arrays)

    match node:
        case ast.Compare(left=left, ops=operators, comparators=others):
            symbols = tuple(OPERATORS[type(operator)] for operator in operators)
            return Compare(symbols, tuple(convert(part) for part in [left, *others]))
        case ast.BoolOp(op=operator, values=values):
            return Logical(OPERATORS[type(operator)], tuple(convert(value) for value in values))
        case ast.IfExp(test=test, body=then, orelse=otherwise):
            return Conditional(convert(test), convert(then), convert(otherwise))
    return _call(node, arrays)


def _call(node: ast.expr, arrays: Container[str]) -> Expression:
    def convert(part: ast.expr) -> Expression:
        return _expression(part, arrays)

    match node:
        case ast.Attribute(value=owner, attr=attribute):
            return Call(attribute, (convert(owner),))
        case ast.Call(func=ast.Name(id=name), args=arguments):
            return Call(name, tuple(convert(argument) for argument in arguments))
        case ast.Call(
            func=ast.Attribute(value=ast.Name(id=("np" | "math") as module), attr=name), args=arguments
        ):
            return Call(f"{MODULES[module]}.{name}", tuple(convert(argument) for argument in arguments))
        case ast.Call(func=ast.Attribute(value=owner, attr=name)):
            return Call(name, (convert(owner),))
    raise AssertionError(ast.dump(node))
