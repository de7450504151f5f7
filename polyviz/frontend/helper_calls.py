"""What a helper function does with what it is given, as far as its text says."""

from __future__ import annotations

import ast

from polyviz.frontend.functions import MAKERS
from polyviz.frontend.parts import argument_names, parts_of, stored_in

_MADE_BY = {name.rpartition(".")[2] for name in MAKERS} | {"copy"}


def is_expression(helper: ast.FunctionDef) -> bool:
    """Whether ``helper`` only assigns names, chooses and returns: its result is one expression of its arguments.

    >>> [is_expression(ast.parse(f"def f(x):\\n {body}").body[0]) for body in ("return x", "x[0] = 1")]
    [True, False]
    """
    return all(_is_simple(node) for node in helper.body)


def _is_simple(node: ast.stmt) -> bool:
    match node:
        case ast.Assign(targets=targets, value=value):
            are_several = any(isinstance(target, ast.Tuple) for target in targets)
            names = [one for target in targets for one in (target.elts if isinstance(target, ast.Tuple) else [target])]
            return all(isinstance(one, ast.Name) for one in names) and (not are_several or isinstance(value, ast.Tuple))
        case ast.AugAssign(target=target) | ast.AnnAssign(target=target):
            return isinstance(target, ast.Name)
        case ast.If():
            return all(_is_simple(one) for one in (*node.body, *node.orelse))
        case ast.Return() | ast.Pass() | ast.Expr(value=ast.Constant()):
            return True
    return False


def operands(helper: ast.FunctionDef) -> set[str]:
    """The names whose values ``helper`` computes with, or returns, as they are.

    >>> sorted(operands(ast.parse("def f(a, b, c, d): return a[0] + len(b) - np.sin(c) * d").body[0]))
    ['c', 'd']
    """
    found: list[ast.expr | None] = []
    for part in parts_of(*helper.body):
        match part:
            case ast.BinOp(left=left, right=right):
                found += [left, right]
            case ast.UnaryOp(operand=value) | ast.Return(value=value):
                found.append(value)
            case ast.Call(func=ast.Attribute(), args=args):
                found += args
    return {part.id for part in found if isinstance(part, ast.Name)}


def changes_arrays(helper: ast.FunctionDef) -> bool:
    """Whether ``helper`` may change an array that it was given, itself or by what it calls."""
    made = _made(helper)
    for part in parts_of(*helper.body):
        if isinstance(part, ast.Expr) and isinstance(part.value, ast.Call):
            return True
        if isinstance(part, ast.Subscript) and isinstance(part.ctx, ast.Store) and _base(part) not in made:
            return True
        if isinstance(part, ast.AugAssign) and isinstance(part.target, ast.Name) and part.target.id not in made:
            return True
    return False


def _made(helper: ast.FunctionDef) -> set[str]:
    """The names whose values are all made by ``helper``: nobody else has them."""
    made, others = set(), argument_names(helper.args)
    for part in parts_of(*helper.body):
        match part:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.BinOp() | ast.Constant()):
                made.add(name)
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call(func=ast.Attribute(attr=called))):
                (made if called in _MADE_BY else others).add(name)
            case ast.Assign(targets=targets):
                others |= stored_in(*targets)
    return made - others


def _base(node: ast.expr) -> str | None:
    while isinstance(node, ast.Subscript | ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else None


def given_values(helper: ast.FunctionDef, call: ast.Call) -> dict[str, ast.expr] | None:
    """What each parameter of ``helper`` is in ``call``; None where the call does not fit, or nobody can tell.

    >>> helper, call = ast.parse("def f(a, b=2, *, c=3): pass").body[0], ast.parse("f(x, c=y)").body[0].value
    >>> {name: ast.unparse(value) for name, value in given_values(helper, call).items()}
    {'a': 'x', 'b': '2', 'c': 'y'}
    """
    by_place = [one.arg for one in (*helper.args.posonlyargs, *helper.args.args)]
    names = [*by_place, *(one.arg for one in helper.args.kwonlyargs)]
    defaults = dict(zip(by_place[::-1], helper.args.defaults[::-1], strict=False))
    for one, value in zip(helper.args.kwonlyargs, helper.args.kw_defaults, strict=True):
        defaults |= {} if value is None else {one.arg: value}
    if helper.args.vararg or helper.args.kwarg or any(isinstance(one, ast.Starred) for one in call.args):
        return None
    given = dict(zip(by_place, call.args, strict=False))
    given |= {one.arg: one.value for one in call.keywords if one.arg is not None}
    missing = {name: value for name, value in defaults.items() if name not in given}
    is_once = len(given) == len(call.args) + len(call.keywords)
    if not is_once or {*given, *missing} != {*names}:
        return None
    if not all(isinstance(value, ast.Constant) for value in missing.values()):
        return None
    return {name: {**missing, **given}[name] for name in names}
