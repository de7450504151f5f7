"""Functions of the C library that glibc has for vectors too, made known to gcc as such.

glibc's own header says so under ``-ffast-math`` alone, which would also take NaN and infinity away. Here they keep
their meaning, and a result may differ by up to four units in its last place from that of the function for one number.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from polyviz.model.program import FloatingPoint

DECLARED = {"exp": 1, "log": 1, "sin": 1, "cos": 1, "pow": 2}
"""The functions that every glibc with a vector library has (2.22), with how many arguments they take."""

_CALL = re.compile(rf"(?<![\w.])({'|'.join(DECLARED)})(f?)\(")
_CONDITION = (
    "#if defined(__x86_64__) && __GLIBC__ == 2 && __GLIBC_MINOR__ >= 22 && defined(__GNUC__) && !defined(__clang__)"
)
"""Where the library has them; what is not defined counts as 0 there."""


def vector_declarations(text: str, contract: FloatingPoint) -> str:
    """What stands before a C ``text`` so that its loops may call library functions for several iterations at once;
    nothing where the ``contract`` does not let last bits differ.

    >>> print(vector_declarations("y[i] = expf(x[i]);  // line 3: y[i] = np.exp(x[i])", "reassociate"))
    #if defined(__x86_64__) && __GLIBC__ == 2 && __GLIBC_MINOR__ >= 22 && defined(__GNUC__) && !defined(__clang__)
    __attribute__((simd("notinbranch"))) float expf(float);  // for several iterations at once
    #endif
    >>> vector_declarations("y[i] = sqrt(x[i]);", "reassociate")
    ''
    """
    if contract == "strict":
        return ""
    code = "\n".join(line.partition("//")[0] for line in text.splitlines())
    found = sorted({(name, suffix) for name, suffix in _CALL.findall(code)})
    lines = [_declaration(name, "float" if suffix else "double", suffix) for name, suffix in found]
    return "\n".join([_CONDITION, *lines, "#endif"]) if lines else ""


def _declaration(name: str, real: str, suffix: str) -> str:
    operands = ", ".join([real] * DECLARED[name])
    kind = '__attribute__((simd("notinbranch")))'
    return f"{kind} {real} {name}{suffix}({operands});  // for several iterations at once"
