"""What types of numbers can hold: ``np.finfo(np.float64).max`` and ``np.iinfo(np.int32).min``."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

import numpy as np

from polyviz.model.expression import Call, Constant

if TYPE_CHECKING:
    from collections.abc import Callable

    from polyviz.model.expression import Expression

_WHOLE = ("max", "min", "bits")
_FLOATING = ("max", "min", "eps", "tiny", "smallest_normal", "resolution")
_BUILTIN = {"float": "float64", "int": "int64"}


def limit(node: ast.Attribute, canonical: Callable[[ast.expr], str | None]) -> Expression | None:
    """The number that ``node`` asks a type for; None where it is something else.

    >>> names = {"np.iinfo": "numpy.iinfo", "np.int8": "numpy.int8"}
    >>> limit(ast.parse("np.iinfo(np.int8).max", mode="eval").body, lambda one: names.get(ast.unparse(one)))
    Constant(value=127)
    """
    match node:
        case ast.Attribute(value=ast.Call(func=function, args=[kind], keywords=[]), attr=wanted):
            asked, name = canonical(function), canonical(kind) or ""
        case _:
            return None
    known = _BUILTIN.get(name, name.removeprefix("numpy."))
    dtype = np.dtype(known) if known in np.sctypeDict and name in (*_BUILTIN, f"numpy.{known}") else None
    if asked == "numpy.iinfo" and dtype is not None and dtype.kind in "iu" and wanted in _WHOLE:
        return Constant(int(getattr(np.iinfo(dtype), wanted)))
    if asked != "numpy.finfo" or dtype not in (np.float32, np.float64) or wanted not in _FLOATING:
        return None
    value = Constant(float(getattr(np.finfo(dtype), wanted)))
    return Call("numpy.float32", (value,)) if dtype == np.float32 else value
