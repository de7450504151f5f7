"""The user's own loops as a runnable function: the reference that every variant is compared with.

It is rebuilt from the text, not taken from memory, so that the worker process runs exactly what was extracted; values
from outside the text (module constants, helper functions) travel along.
"""

from __future__ import annotations

import ast
import inspect
import math
import textwrap
from dataclasses import dataclass
from types import FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from polyviz.codegen.calling import result_names
from polyviz.runtime.execute import load_function

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from polyviz.model.scop import Scop

_CONVENTIONAL = {"np": "numpy", "numpy": "numpy", "math": "math", "numba": "numba"}


@dataclass(frozen=True, slots=True)
class Original:
    """Text of a function ``name`` plus what it needs from outside.

    ``modules`` maps names to importable modules, ``constants`` to numbers; ``helpers`` are texts of other functions.
    """

    name: str
    text: str
    modules: Mapping[str, str]
    constants: Mapping[str, Any]
    helpers: tuple[str, ...] = ()

    def python(self) -> Callable[..., Any]:
        """The function as plain Python."""
        return load_function(self._program(""), self.name, f"<original {self.name}>")

    def numba(self, *, parallel: bool = False) -> Callable[..., Any]:
        """The function under ``numba.njit`` as written; ``parallel`` lets numba use its ``prange`` loops."""
        options = "parallel=True, error_model='numpy'" if parallel else "error_model='numpy'"
        return load_function(self._program(f"@numba.njit({options})"), self.name, f"<original {self.name} numba>")

    def _program(self, decorator: str) -> str:
        imports = [f"import {module} as {name}" for name, module in {**self.modules, "numba": "numba"}.items()]
        # numba and prange are needed only where the text or the decorator names them: numba loads slowly.
        if not decorator and "numba" not in self.text and "prange" not in self.text:
            imports = [line for line in imports if "numba" not in line]
        elif "prange" in self.text:
            imports.append("from numba import prange")
        constants = [f"{name} = {_literal(value)}" for name, value in self.constants.items()]
        helpers = [f"@numba.njit\n{helper}" if decorator else helper for helper in self.helpers]
        return "\n".join([*imports, *constants, *helpers, decorator, self.text])


def original_of(scop: Scop, source: object, namespace: Mapping[str, Any] | None = None) -> Original:
    """The reference for ``scop``, made from ``source`` (function, text or kernel) and the names of ``namespace``."""
    known = getattr(source, "original", None)
    if isinstance(known, Original):  # a kernel brings the loops it was made from
        return known
    function = _plain_function(source)
    outside = dict(namespace or {})
    if function is not None:
        closure = inspect.getclosurevars(function)
        outside = {**closure.globals, **closure.nonlocals}
    text = _cell_function(scop) if scop.is_cell else _undecorated(scop)
    names = {node.id for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Name)}
    arguments = {argument.name for argument in scop.arguments}
    used = {name: outside[name] for name in names & outside.keys() - arguments}
    modules = {name: module for name, module in _CONVENTIONAL.items() if name in names}
    modules.update({name: value.__name__ for name, value in used.items() if isinstance(value, ModuleType)})
    constants = {name: value for name, value in used.items() if isinstance(value, int | float | complex | np.generic)}
    helpers = tuple(
        text for value in used.values() for text in [_helper_text(value)] if text is not None
    )
    return Original(scop.name, text, modules, constants, helpers)


def _plain_function(source: object) -> FunctionType | None:
    inner = getattr(source, "py_func", source)
    inner = inspect.unwrap(inner) if callable(inner) else inner
    return inner if isinstance(inner, FunctionType) else None


def _undecorated(scop: Scop) -> str:
    tree = ast.parse(scop.text)
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            node.decorator_list = []
            node.returns = None
            for argument in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs):
                argument.annotation = None
            return ast.unparse(node)
    raise ValueError("the text of the part holds no function")


def _cell_function(scop: Scop) -> str:
    arguments = ", ".join(argument.name for argument in scop.arguments)
    results = result_names(scop)
    lines = [f"def {scop.name}({arguments}):", textwrap.indent(ast.unparse(ast.parse(scop.text)), "    ")]
    if results:
        lines.append(f"    return {', '.join(results)},")
    return "\n".join(lines)


def _helper_text(value: object) -> str | None:
    function = _plain_function(value)
    if function is None or function.__module__ in ("numba", "numpy", "math"):
        return None
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    except (OSError, TypeError, SyntaxError):
        return None
    node = tree.body[0]
    if not isinstance(node, ast.FunctionDef):
        return None
    node.decorator_list = []
    return ast.unparse(node)


def _literal(value: Any) -> str:
    plain = value.item() if isinstance(value, np.generic) else value
    if isinstance(plain, float) and (not math.isfinite(plain)):
        return f"float({str(plain)!r})"
    return repr(plain)
