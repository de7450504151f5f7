"""Functions inside the function: they become helpers beside it, which get what they see of the function as arguments.

``def f(x): return k * x`` inside a function with a ``k`` of its own is ``def f(x, k)``, and each ``f(y)`` is
``f(y, k=k)``: Python, too, looks at ``k`` when ``f`` is called. So is ``f = lambda x: k * x``.
"""

from __future__ import annotations

import ast
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from polyviz.frontend.parts import copy_of, parts_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from polyviz.frontend.source import Source

_INSIDE = ast.FunctionDef | ast.Lambda | ast.Global | ast.Nonlocal | ast.Yield | ast.Await


def without_nested_functions(source: Source) -> Source:
    """``source`` with the functions of its body as helpers; those that are more than called stay, and are refused.

    >>> from polyviz.frontend.source import read_source
    >>> text = "def g(A, k):\\n f = lambda x: k * x\\n A[0] = f(A[1])"
    >>> source = without_nested_functions(read_source(text, None, None))
    >>> print(ast.unparse(source.body[0]), "|", ast.unparse(source.helpers["f"]).replace("\\n   ", ""))
    A[0] = f(A[1], k=k) | def f(x, *, k): return k * x
    """
    if source.is_cell:
        return source
    found = {one.name: one for node in source.body if (one := _function(node)) is not None}
    found = {name: one for name, one in found.items() if _is_only_called(name, source.body) and _is_plain(one)}
    if not found:
        return source
    own = _stored(source.body) | _arguments(source.arguments)
    free = {name: _free(one) & own.keys() - found.keys() for name, one in found.items()}
    while (wider := {name: _with_called(name, free, found) for name in found}) != free:
        free = wider
    if any(free[name] & _bound(one) for name, one in found.items()):
        return source  # a name that one function passes on to another is its own there
    calls = _Calls(free)
    helpers = {name: _with_arguments(calls.visit(copy_of(one)), free[name]) for name, one in found.items()}
    rest = [node for node in source.body if (one := _function(node)) is None or one.name not in found]
    return replace(
        source,
        body=tuple(calls.visit(copy_of(node)) for node in rest),
        helpers={**source.helpers, **helpers},
    )


def _function(node: ast.stmt) -> ast.FunctionDef | None:
    """The function that ``node`` defines, also by ``lambda``."""
    if isinstance(node, ast.FunctionDef):
        return node
    match node:
        case ast.Assign(targets=[ast.Name(id=name)], value=ast.Lambda(args=arguments, body=value)):
            back = ast.copy_location(ast.Return(value), value)
            return ast.copy_location(ast.FunctionDef(name, arguments, [back], []), node)
    return None


def _is_only_called(name: str, body: Sequence[ast.stmt]) -> bool:
    """Whether ``name`` means one function from its definition on, and is called and nothing else."""
    place = next(place for place, node in enumerate(body) if (one := _function(node)) and one.name == name)
    rest = body[place + 1 :]
    uses, calls = Counter[str](), Counter[str]()
    for part in parts_of(*body):
        if isinstance(part, ast.Name):
            uses[part.id] += 1
        if isinstance(part, ast.FunctionDef):
            uses[part.name] += 1
    for part in parts_of(*rest):
        if isinstance(part, ast.Call) and isinstance(part.func, ast.Name):
            calls[part.func.id] += 1
    return uses[name] == calls[name] + 1


def _is_plain(function: ast.FunctionDef) -> bool:
    arguments = function.args
    others = [*function.decorator_list, arguments.vararg, arguments.kwarg]
    defaults = [*arguments.defaults, *(one for one in arguments.kw_defaults if one is not None)]
    is_constant = all(isinstance(one, ast.Constant) for one in defaults)
    inside = parts_of(*function.body)
    return not any(others) and is_constant and not any(isinstance(part, _INSIDE) for part in inside)


def _bound(function: ast.FunctionDef) -> set[str]:
    return {*_stored(function.body), *_arguments(function.args)}


def _free(function: ast.FunctionDef) -> set[str]:
    parts = parts_of(*function.body)
    return {part.id for part in parts if isinstance(part, ast.Name)} - _bound(function)


def _with_called(
    name: str, free: Mapping[str, set[str]], functions: Mapping[str, ast.FunctionDef]
) -> set[str]:
    """What ``name`` sees of the function around, and what the functions see that it calls."""
    called = _free(functions[name]) & functions.keys()
    return free[name].union(*(free[one] for one in called))


def _stored(body: Iterable[ast.stmt]) -> dict[str, None]:
    parts = (part for node in body if not isinstance(node, ast.FunctionDef) for part in parts_of(node))
    return {part.id: None for part in parts if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)}


def _arguments(arguments: ast.arguments | None) -> dict[str, None]:
    parts = parts_of(arguments)
    return {part.arg: None for part in parts if isinstance(part, ast.arg)}


class _Calls(ast.NodeTransformer):
    """Passes on what the functions see."""

    def __init__(self, free: Mapping[str, set[str]]) -> None:
        self._free = free

    def visit_Call(self, node: ast.Call) -> ast.Call:
        self.generic_visit(node)
        for name in sorted(self._free.get(node.func.id, ())) if isinstance(node.func, ast.Name) else ():
            passed = ast.copy_location(ast.Name(name, ast.Load()), node)
            node.keywords.append(ast.copy_location(ast.keyword(name, passed), node))
        return node


def _with_arguments(function: ast.FunctionDef, names: Iterable[str]) -> ast.FunctionDef:
    """``function`` that gets ``names``, by name alone: what a call gives by position stays where it was."""
    arguments = function.args
    own = sorted(names)
    arguments.kwonlyargs += [ast.copy_location(ast.arg(name), function) for name in own]
    arguments.kw_defaults += [None] * len(own)
    return function
