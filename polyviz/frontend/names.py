"""What a global name means: modules under any alias, functions by canonical name, constants frozen to their value."""

from __future__ import annotations

import ast
import inspect
import numbers
import random
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from polyviz.frontend.functions import BUILTINS, CONSTANTS
from polyviz.frontend.helper_lines import with_lines
from polyviz.frontend.own_names import OwnName
from polyviz.model.expression import Constant

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from polyviz.frontend.source import Source

_CONVENTIONAL = {"np": "numpy", "numpy": "numpy", "math": "math", "numba": "numba", "nb": "numba"}
_RANDOM = ("random.", "numpy.random.")
GENERATORS = (random.Random, np.random.Generator, np.random.RandomState)
"""What random numbers are drawn from; the functions of the modules are methods of such objects, too."""
_CONVENTIONAL_NAMES = {"prange": "numba.prange"}


class GlobalNames:
    """Resolves names that the loops do not assign, from the imports of the text and the names around it.

    >>> from polyviz.frontend.source import read_source
    >>> names = GlobalNames(read_source("import numpy as xyz\\nfor i in range(3): pass", None, None))
    >>> names.canonical(ast.parse("xyz.sqrt").body[0].value)
    'numpy.sqrt'
    """

    def __init__(self, source: Source, names: Mapping[str, Any] | None = None) -> None:
        self._source = source
        self._names = source.names if names is None else names

    def canonical(self, node: ast.expr) -> str | None:
        """``numpy.sqrt``, ``math.exp``, ``numba.prange``, ``abs`` …; None when nothing is known by this name."""
        if isinstance(node, ast.Attribute):
            base = self.canonical(node.value)
            return f"{base}.{node.attr}" if base is not None and base not in BUILTINS else None
        if not isinstance(node, ast.Name):
            return None
        if isinstance(node.id, OwnName):
            return _CONVENTIONAL.get(str(node.id), str(node.id))
        if node.id in self._source.imports:
            return _public(self._source.imports[node.id])
        if node.id in self._names:
            return _canonical_object(self._names[node.id])
        conventional = {**_CONVENTIONAL, **_CONVENTIONAL_NAMES}
        if node.id in conventional:
            return conventional[node.id]
        is_helper = node.id in self._source.helpers and node.id != self._source.name
        return node.id if node.id in BUILTINS and not is_helper else None

    def value(self, name: str) -> Any:
        """The object behind a name around the loops; ``None`` when there is none."""
        return self._names.get(name)

    def around(self) -> Iterable[tuple[str, Any]]:
        """The names around the loops, and the objects behind them."""
        return self._names.items()

    def knows(self, name: str) -> bool:
        """Whether the names around the loops hold ``name``."""
        return name in self._names

    def constant(self, node: ast.expr) -> Constant | None:
        """A number known when the loops are compiled: ``np.pi``, ``math.inf``, a global of the function."""
        canonical = self.canonical(node)
        module, _, attribute = (canonical or "").rpartition(".")
        if module in ("numpy", "math") and attribute in CONSTANTS:
            return Constant(CONSTANTS[attribute])
        if isinstance(node, ast.Name) and node.id in self._names:
            return number(self._names[node.id])
        return None

    def draws_numbers(self, node: ast.expr) -> bool:
        """Whether the function ``node`` draws random numbers: one of the modules, or a method of a generator.

        >>> from polyviz.frontend.source import read_source
        >>> names = GlobalNames(read_source("for i in range(3): pass", {"rng": np.random.default_rng(1)}, None))
        >>> [names.draws_numbers(ast.parse(text).body[0].value) for text in ("random.random", "rng.normal", "np.sqrt")]
        [True, True, False]
        """
        if (self.canonical(node) or ast.unparse(node)).startswith(_RANDOM):
            return True
        owner = node.value if isinstance(node, ast.Attribute) else None
        return isinstance(owner, ast.Name) and isinstance(self._names.get(owner.id), GENERATORS)

    def helper(self, node: ast.expr) -> ast.FunctionDef | None:
        """The definition of a plain or njit function that can be looked at; None otherwise."""
        if not isinstance(node, ast.Name):
            return None
        if node.id in self._source.helpers:
            found = self._source.helpers[node.id]
            is_helper = node.id != self._source.name
            return with_lines(found, self._source.text, self._source.indent) if is_helper else found
        return _definition(self._names.get(node.id))

    def of_helper(self, node: ast.expr) -> GlobalNames:
        """The names that the body of a helper sees."""
        function = _python_function(self._names.get(node.id)) if isinstance(node, ast.Name) else None
        if function is None or (isinstance(node, ast.Name) and node.id in self._source.helpers):
            return self
        closure = inspect.getclosurevars(function)
        return GlobalNames(self._source, {**function.__globals__, **closure.nonlocals})


def number(value: object) -> Constant | None:
    """``value`` as a constant when it is one number; NumPy scalars become Python numbers."""
    if isinstance(value, bool | np.bool_):
        return Constant(bool(value))
    if isinstance(value, numbers.Integral):
        return Constant(int(value))
    if isinstance(value, float | np.floating):
        return Constant(float(value))
    if isinstance(value, complex | np.complexfloating):
        return Constant(complex(value))
    return None


def _public(dotted: str) -> str:
    """The name a user knows: ``numba.prange`` also when it comes from a module inside numba."""
    root, _, _ = dotted.partition(".")
    leaf = dotted.rpartition(".")[2]
    if root == "numba" and leaf in ("prange", "njit", "jit"):
        return f"numba.{leaf}"
    if root == "builtins":
        return leaf
    return dotted


def _canonical_object(value: object) -> str | None:
    if isinstance(value, ModuleType):
        return value.__name__
    name = getattr(value, "__name__", None)
    if not isinstance(name, str):
        return None
    if isinstance(value, np.ufunc):
        return f"numpy.{name}"
    owner = getattr(value, "__self__", None)
    if isinstance(owner, GENERATORS):
        return f"{'random' if isinstance(owner, random.Random) else 'numpy.random'}.{name}"
    module = getattr(value, "__module__", None)
    return _public(f"{module}.{name}") if isinstance(module, str) else None


def _python_function(value: object) -> Any:
    function = getattr(value, "py_func", value)
    # One that a decorator wrote around another may do more than that one.
    return function if inspect.isfunction(function) and not hasattr(function, "__wrapped__") else None


def _definition(value: object) -> ast.FunctionDef | None:
    function = _python_function(value)
    if function is None:
        return None
    try:
        text = inspect.cleandoc("\n" + inspect.getsource(function))
        tree = ast.parse(text)
    except (OSError, TypeError, SyntaxError):
        return None
    found = tree.body[0] if tree.body else None
    return with_lines(found, text) if isinstance(found, ast.FunctionDef) else None
