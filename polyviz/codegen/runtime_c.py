"""The helper functions that printed C calls: Python's arithmetic where C has none that means the same.

A helper is named by what it does and the type it works on (``floor_div_i64``). Only those that a text uses are written
into it, with those they use themselves.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from polyviz.codegen.dtypes import (
    C_TYPE_NAMES,
    COMPLEX64,
    FLOAT32,
    FLOAT64,
    TYPES,
    UINT8,
    UINT16,
    UINT32,
    UINT64,
    Type,
)
from polyviz.codegen.helpers_c import REAL_HELPERS, Helper
from polyviz.codegen.helpers_choices_c import CHOICES
from polyviz.codegen.helpers_complex_c import COMPLEX_HELPERS
from polyviz.codegen.helpers_memory_c import MEMORY_HELPERS
from polyviz.codegen.helpers_powers_c import POWERS
from polyviz.codegen.helpers_whole_c import WHOLE

if TYPE_CHECKING:
    from collections.abc import Iterable

HELPERS = {**REAL_HELPERS, **CHOICES, **WHOLE, **POWERS, **COMPLEX_HELPERS, **MEMORY_HELPERS}
_BY_SUFFIX = {scalar.suffix: scalar for scalar in TYPES.values()}


def helper_source(names: Iterable[str]) -> str:
    """The definitions of the helpers ``names`` and of all they use, in an order that compiles.

    >>> print(helper_source(["min_f64"]))
    static inline double min_f64(double a, double b)
    {
        return b < a ? b : a;
    }
    <BLANKLINE>
    """
    ordered: dict[str, str] = {}
    for name in sorted(names):
        _define(name, ordered)
    return "\n".join(ordered.values())


def _define(name: str, ordered: dict[str, str]) -> None:
    if name in ordered:
        return
    base, scalar = _split(name)
    helper = _template(base, scalar)
    for used in helper.uses:
        _define(used.format(suffix=scalar.suffix, wide=_wide(scalar)), ordered)
    ordered[name] = _instantiate(helper.text, name, scalar)


def _split(name: str) -> tuple[str, Type]:
    base, _, suffix = name.rpartition("_")
    return (base, _BY_SUFFIX[suffix]) if suffix in _BY_SUFFIX else (name, FLOAT64)


def _template(base: str, scalar: Type) -> Helper:
    kind = "i" if scalar.is_integral else scalar.kind
    for key in ((base, scalar.kind), (base, kind), (base, "")):
        if key in HELPERS:
            return HELPERS[key]
    raise KeyError(f"{base}_{scalar.suffix}")


def _wide(scalar: Type) -> str:
    return "u64" if scalar.kind == "u" else "i64"


def _instantiate(text: str, name: str, scalar: Type) -> str:
    real = scalar if scalar.is_real else (FLOAT32 if scalar == COMPLEX64 else FLOAT64)
    unsigned = {8: UINT8, 16: UINT16, 32: UINT32, 64: UINT64}[min(scalar.bits, 64)]
    fields = {
        "name": name,
        "T": C_TYPE_NAMES[scalar.name],
        "F": C_TYPE_NAMES[real.name],
        "S": C_TYPE_NAMES[unsigned.name.removeprefix("u")],
        "suffix": scalar.suffix,
        "f": "f" if real == FLOAT32 else "",
        "MIN": f"INT{scalar.bits}_MIN",
        "wide": _wide(scalar),
        "narrow": "(float)" if scalar == FLOAT32 else "",
    }
    for field, value in fields.items():
        text = text.replace("{" + field + "}", value)
    return text
