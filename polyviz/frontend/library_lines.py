"""Functions of ``math`` and NumPy that are a line of others: what they return takes the place of the call.

They are computed in doubles and by the formulas of the libraries, which say what becomes of NaN and of infinities.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from polyviz.frontend.library import own_helper

if TYPE_CHECKING:
    import ast

_LINES = {
    "math.fmod": "def fmod(x, y):\n return np.fmod(float(x), float(y))",
    "math.cbrt": "def cbrt(x):\n return np.cbrt(float(x))",
    "math.isclose": """
def isclose(a, b, *, rel_tol=1e-09, abs_tol=0.0):
    x, y = np.float64(a), np.float64(b)
    apart = np.abs(y - x)
    is_near = apart <= np.abs(rel_tol * y) or apart <= np.abs(rel_tol * x) or apart <= abs_tol
    return x == y or (not np.isinf(x) and not np.isinf(y) and is_near)
""",
    "numpy.isclose": """
def isclose(a, b, rtol=1e-05, atol=1e-08):
    x, y = np.float64(a), np.float64(b)
    return x == y or (np.isfinite(y) and np.abs(x - y) <= atol + rtol * np.abs(y))
""",
    "numpy.heaviside": """
def heaviside(x1, x2):
    return x1 if x1 != x1 else x2 if x1 == 0 else 0.0 if x1 < 0 else 1.0
""",
    "numpy.fix": "def fix(x):\n return np.trunc(x)",
    "numpy.float_power": "def float_power(x1, x2):\n return np.power(np.float64(x1), np.float64(x2))",
    "numpy.logaddexp": """
def logaddexp(x1, x2):
    apart = x1 - x2
    above = x1 + np.log1p(np.exp(-apart))
    below = x2 + np.log1p(np.exp(apart))
    other = above if apart > 0 else below if apart <= 0 else apart
    return x1 + 0.693147180559945309417 if x1 == x2 else other
""",
    "numpy.sinc": """
def sinc(x):
    y = 3.141592653589793 * (1e-20 if x == 0 else x)
    return np.sin(y) / y
""",
}


@cache
def library_line(name: str | None) -> ast.FunctionDef | None:
    """The function with the canonical ``name`` as one that can be read; None for all others.

    >>> import ast
    >>> print(ast.unparse(library_line("math.fmod")))
    def fmod(x, y):
        return np.fmod(float(x), float(y))
    """
    text = _LINES.get(name or "")
    return None if text is None else own_helper(text)
