"""The user's own loops as a runnable function: the reference that every variant is compared with.

It is rebuilt from the text, not taken from memory, so that the worker process runs exactly what was extracted; what the
text needs from outside (constants, helper functions with their own surroundings) travels along.
"""

from __future__ import annotations

import ast
import hashlib
import inspect
import textwrap
from dataclasses import dataclass, field, replace
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from polyviz.codegen.calling import result_names
from polyviz.frontend.absent import without_none
from polyviz.frontend.source import numbers_beside
from polyviz.frontend.written_out import as_table
from polyviz.runtime.at_once import computed_first
from polyviz.runtime.execute import load_function

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from polyviz.model.scop import Scop

_CONVENTIONAL = {
    "np": "import numpy as np",
    "numpy": "import numpy",
    "math": "import math",
    "numba": "import numba",
    "prange": "from numba import prange",
}
"""What these names mean in a text that comes without surroundings."""
_LIBRARIES = ("math", "cmath", "numpy", "numba", "builtins", "itertools")
"""Modules whose functions are imported, not carried along as text."""


@dataclass(frozen=True, slots=True)
class Original:
    """Text of a function ``name`` plus what it needs from outside.

    ``imports`` are lines of Python, ``constants`` the values of names; ``helpers`` are other functions by the name the
    text calls them.
    """

    name: str
    text: str
    imports: tuple[str, ...] = ()
    constants: Mapping[str, Any] = field(default_factory=dict)
    helpers: Mapping[str, Original] = field(default_factory=dict)

    def python(self) -> Callable[..., Any]:
        """The function as plain Python."""
        return self._load("")

    def numba(self, *, parallel: bool = False, checked: bool = False) -> Callable[..., Any]:
        """The function under ``numba.njit`` as written; ``parallel`` lets numba use its ``prange`` loops.

        ``checked``: a subscript that is out of range raises IndexError.
        """
        options = ("parallel=True, " if parallel else "") + ("boundscheck=True, " if checked else "")
        return self._load(options, under_numba=True)

    def _load(self, options: str, *, under_numba: bool = False) -> Callable[..., Any]:
        helpers = {name: helper._load("", under_numba=under_numba) for name, helper in self.helpers.items()}
        head = [*self.imports]
        if under_numba:
            head += ["import numba", f"@numba.njit({options}error_model='numpy')"]
        text = "\n".join([*head, computed_first(without_none(self.text)) if under_numba else self.text])
        mark = hashlib.sha256(text.encode()).hexdigest()[:8]  # tracebacks, and who reads the text, look it up
        filename = f"<original {self.name}{' numba' if under_numba else ''} {mark}>"
        return load_function(text, self.name, filename, {**self.constants, **helpers})


def original_of(scop: Scop, source: object, namespace: Mapping[str, Any] | None = None) -> Original:
    """The reference for ``scop``, extracted from ``source`` (function, text, kernel) with names from ``namespace``."""
    known = getattr(source, "original", None)
    if isinstance(known, Original):  # a kernel brings the loops it was made from
        return known
    function = plain_function(source)
    outside = dict(namespace or {}) if function is None else _surroundings(function)
    if scop.is_cell:
        return _carried(_cell_function(scop), scop.name, outside, {argument.name for argument in scop.arguments}, ())
    given = frozenset(argument.name for argument in scop.arguments)
    return _of_text(ast.parse(textwrap.dedent(scop.text)).body, scop.name, outside, (), given)


def _of_text(
    body: list[ast.stmt],
    name: str,
    outside: Mapping[str, Any],
    around: tuple[str, ...],
    given: frozenset[str] | None = None,
) -> Original:
    """The function ``name`` of a text, with the functions, imports and numbers that stand beside it; ``around`` are
    the functions that led here. It is called with all that is ``given``."""
    functions = {node.name: node for node in body if isinstance(node, ast.FunctionDef)}
    text = _plain_text(functions[name], given)
    arguments = {argument.arg for argument in _arguments(functions[name])}
    found = _carried(text, name, {**outside, **numbers_beside(body)}, arguments, ())
    mentioned = {node.id for node in ast.walk(functions[name]) if isinstance(node, ast.Name)} - arguments
    around = (*around, name)
    beside = {one: _of_text(body, one, outside, around) for one in sorted(mentioned & functions.keys() - {*around})}
    imports = tuple(ast.unparse(node) for node in body if isinstance(node, ast.Import | ast.ImportFrom))
    return replace(found, imports=(*found.imports, *imports), helpers={**found.helpers, **beside})


def plain_function(source: object) -> FunctionType | None:
    """The Python function behind ``source``, which may be wrapped by numba or a decorator; None where there is none."""
    inner = getattr(source, "py_func", source)
    inner = inspect.unwrap(inner) if callable(inner) else inner
    return inner if isinstance(inner, FunctionType) else None


def _surroundings(function: FunctionType) -> dict[str, Any]:
    return {**function.__globals__, **inspect.getclosurevars(function).nonlocals}


def _carried(
    text: str, name: str, outside: Mapping[str, Any], arguments: set[str], around: tuple[object, ...]
) -> Original:
    """``text`` with everything it mentions of ``outside``; ``around`` are the functions that led here."""
    names = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Name)]
    # What is stored anywhere in a function is its own everywhere.
    own = {node.id for node in names if not isinstance(node.ctx, ast.Load)}
    mentioned = {node.id for node in names} - arguments - own
    used = {name: outside[name] for name in sorted(mentioned & outside.keys())}
    missing = sorted(mentioned & _CONVENTIONAL.keys() - used.keys())
    imports = (*(_CONVENTIONAL[name] for name in missing), *_imports(used))
    constants = {name: value for name, value in used.items() if _is_constant(value)}
    helpers = {
        name: helper
        for name, value in used.items()
        if not any(value is one for one in around)
        for helper in [_helper(value, (*around, value))]
        if helper is not None
    }
    return Original(name, text, imports, constants, helpers)


def _is_constant(value: object) -> bool:
    """Whether ``value`` is a number, or a tuple of them: loops look those up, too."""
    return isinstance(value, int | float | complex | np.generic) or as_table(value) is not None


def _imports(used: Mapping[str, Any]) -> Iterable[str]:
    for name, value in used.items():
        if isinstance(value, ModuleType):
            yield f"import {value.__name__} as {name}"
        elif isinstance(value, np.ufunc):
            yield f"from numpy import {value.__name__} as {name}"
        elif isinstance(value, type | BuiltinFunctionType) and _home(value) in _LIBRARIES:
            yield f"from {_home(value)} import {value.__name__} as {name}"


def _home(value: type | BuiltinFunctionType) -> str:
    """The library that ``value`` can be imported from: ``numba`` for what lives in ``numba.misc.special``."""
    return str(value.__module__).partition(".")[0]


def _helper(value: object, around: tuple[object, ...]) -> Original | None:
    function = plain_function(value)
    if function is None or (function.__module__ or "").partition(".")[0] in _LIBRARIES:
        return None
    try:
        text = _plain_text(_first_function(ast.parse(textwrap.dedent(inspect.getsource(function)))))
    except (OSError, TypeError, SyntaxError, ValueError):
        return None
    arguments = set(inspect.signature(function).parameters)
    return _carried(text, function.__name__, _surroundings(function), arguments, around)


def _first_function(tree: ast.Module) -> ast.FunctionDef:
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            return node
    raise ValueError("the text of the part holds no function")


def _arguments(function: ast.FunctionDef) -> list[ast.arg]:
    return [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]


def _plain_text(function: ast.FunctionDef, given: frozenset[str] | None = None) -> str:
    return ast.unparse(without_types(function, given))


def without_types(function: ast.FunctionDef, given: frozenset[str] | None = None) -> ast.FunctionDef:
    """``function`` itself, from now on without decorators and types.

    One that is called by position with all that is ``given`` needs no defaults, which may depend on names from outside;
    those that are numbers stay for others that call it. The other arguments are None.
    """
    function.decorator_list = []
    function.returns = None
    for argument in _arguments(function):
        argument.annotation = None
    if given is not None and not _has_plain_arguments(function.args, given):
        ordered = sorted(_arguments(function), key=lambda argument: argument.arg not in given)
        none: list[ast.expr] = [ast.Constant(None) for argument in ordered if argument.arg not in given]
        function.args = ast.arguments([], ordered, None, [], [], None, none)
    return function


def _has_plain_arguments(arguments: ast.arguments, given: frozenset[str]) -> bool:
    """Whether all arguments are ``given`` by position, with defaults that are numbers, if they have any."""
    positional = {argument.arg for argument in (*arguments.posonlyargs, *arguments.args)}
    return positional == given and not arguments.kwonlyargs and all(map(_is_number, arguments.defaults))


def _is_number(node: ast.expr) -> bool:
    node = node.operand if isinstance(node, ast.UnaryOp) else node
    return isinstance(node, ast.Constant) and isinstance(node.value, int | float | complex)


def _cell_function(scop: Scop) -> str:
    arguments = ", ".join(argument.name for argument in scop.arguments)
    results = result_names(scop)
    body = ast.unparse(ast.parse(textwrap.dedent(scop.text)))
    lines = [f"def {scop.name}({arguments}):", textwrap.indent(body, "    ")]
    if results:
        lines.append(f"    return {', '.join(results)},")
    return "\n".join(lines)
