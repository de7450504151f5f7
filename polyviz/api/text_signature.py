"""The signature of a function that is given as text, as far as nothing has to be run to know it."""

from __future__ import annotations

import ast
import re
import textwrap
from inspect import Parameter, Signature
from itertools import zip_longest
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


def signature_of_text(text: str) -> Signature | None:
    """That of the only function of ``text``; None for other text, and where a default is no literal.

    >>> print(signature_of_text("def f(A, k=2, *, out=None):\\n    A[0] = k"))
    (A, k=2, *, out=None)
    """
    try:
        tree = ast.parse(textwrap.dedent(text))
        functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
        return Signature(list(_parameters(functions[0].args))) if len(functions) == 1 else None
    except (SyntaxError, ValueError):
        return None


def name_in_text(text: object) -> str:
    """What the first function of ``text`` is called.

    >>> name_in_text("def f(A):\\n    A[0] = 1")
    'f'
    """
    found = re.search(r"^\s*def\s+(\w+)", text, re.MULTILINE) if isinstance(text, str) else None
    return "function" if found is None else found[1]


def _parameters(given: ast.arguments) -> Iterator[Parameter]:
    """The arguments in the order of Python; raises ValueError for a default that would have to be computed."""
    if given.vararg or given.kwarg:
        raise ValueError("any number of arguments")
    by_place = [*given.posonlyargs, *given.args]
    first = len(by_place) - len(given.defaults)
    defaults: Sequence[ast.expr | None] = [*[None] * first, *given.defaults]
    for position, (argument, default) in enumerate(zip(by_place, defaults, strict=True)):
        is_early = position < len(given.posonlyargs)
        kind = Parameter.POSITIONAL_ONLY if is_early else Parameter.POSITIONAL_OR_KEYWORD
        yield Parameter(argument.arg, kind, default=_value(default))
    for argument, default in zip_longest(given.kwonlyargs, given.kw_defaults):
        yield Parameter(argument.arg, Parameter.KEYWORD_ONLY, default=_value(default))


def _value(default: ast.expr | None) -> object:
    return Parameter.empty if default is None else ast.literal_eval(default)
