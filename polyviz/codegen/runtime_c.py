"""The helper functions that printed C calls: Python's arithmetic where C has none that means the same.

A helper is named by what it does and the type it works on (``floor_div_i64``). Only those that a text uses are written
into it, with those they use themselves. Sources: Python's language reference, section 6.7 (floor division and modulo);
numba 0.68's documentation of deviations from Python and NumPy; R. L. Smith, Algorithm 116: Complex division, CACM 5(8),
1962.
"""

from __future__ import annotations

from dataclasses import dataclass
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

if TYPE_CHECKING:
    from collections.abc import Iterable

_BY_SUFFIX = {scalar.suffix: scalar for scalar in TYPES.values()}


@dataclass(frozen=True, slots=True)
class Helper:
    """A template: ``{T}`` is the type, ``{name}`` the full name, ``{F}`` the real type beneath, ``{f}`` libm's suffix.

    ``{S}`` is the signed type of the same width, ``{MIN}`` its smallest value. ``uses`` names further helpers.
    """

    text: str
    uses: tuple[str, ...] = ()


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
    }
    for field, value in fields.items():
        text = text.replace("{" + field + "}", value)
    return text


# By name and kind of type; the empty kind is any other.
HELPERS: dict[tuple[str, str], Helper] = {
    ("floor_div", "i"): Helper(
        """\
static inline {T} {name}({T} a, {T} b)
{
    if (b == 0 || (b == -1 && a == {MIN}))
        return 0;
    return a / b - (a % b != 0 && (a < 0) != (b < 0));
}
"""
    ),
    ("floor_div", "u"): Helper(
        """\
static inline {T} {name}({T} a, {T} b)
{
    return b == 0 ? 0 : a / b;
}
"""
    ),
    ("floor_div", "f"): Helper(
        """\
static inline {T} {name}({T} a, {T} b)
{
    {T} remainder = fmod{f}(a, b);
    {T} quotient = (a - remainder) / b;
    if (b == 0)
        return a / b;
    if (remainder != 0 && (b < 0) != (remainder < 0))
        quotient -= 1;
    if (!(quotient < 0 || quotient > 0))
        return quotient * quotient * a / b;
    {T} whole = floor{f}(quotient);
    return quotient - whole > 0.5 ? whole + 1 : whole;
}
"""
    ),
    ("floor_mod", "i"): Helper(
        """\
static inline {T} {name}({T} a, {T} b)
{
    if (b == 0 || b == -1)
        return 0;
    {T} remainder = a % b;
    return remainder != 0 && (remainder < 0) != (b < 0) ? remainder + b : remainder;
}
"""
    ),
    ("floor_mod", "u"): Helper(
        """\
static inline {T} {name}({T} a, {T} b)
{
    return b == 0 ? 0 : a % b;
}
"""
    ),
    ("floor_mod", "f"): Helper(
        """\
static inline {T} {name}({T} a, {T} b)
{
    {T} remainder = fmod{f}(a, b);
    if (remainder == 0)
        return b < 0 ? -({T})0 : 0;
    return (b < 0) != (remainder < 0) ? remainder + b : remainder;
}
"""
    ),
    ("floor_quotient", "f"): Helper(
        """\
static inline {T} {name}({T} a, {T} b)
{
    return floor{f}(a / b);
}
"""
    ),
    ("modulo", "f"): Helper(
        """\
static inline {T} {name}({T} a, {T} b)
{
    {T} remainder = fmod{f}(a, b);
    return remainder + (remainder != 0 && (b < 0) != (remainder < 0) ? b : 0);
}
"""
    ),
    ("min", ""): Helper(
        """\
static inline {T} {name}({T} a, {T} b)
{
    return b < a ? b : a;
}
"""
    ),
    ("max", ""): Helper(
        """\
static inline {T} {name}({T} a, {T} b)
{
    return b > a ? b : a;
}
"""
    ),
    ("minimum", "f"): Helper(
        """\
static inline {T} {name}({T} a, {T} b)
{
    return a <= b || isnan(a) ? a : b;
}
"""
    ),
    ("maximum", "f"): Helper(
        """\
static inline {T} {name}({T} a, {T} b)
{
    return a >= b || isnan(a) ? a : b;
}
"""
    ),
    ("fmin", "f"): Helper(
        """\
static inline {T} {name}({T} a, {T} b)
{
    return a <= b || isnan(b) ? a : b;
}
"""
    ),
    ("fmax", "f"): Helper(
        """\
static inline {T} {name}({T} a, {T} b)
{
    return a >= b || isnan(b) ? a : b;
}
"""
    ),
    ("abs", "i"): Helper(
        """\
static inline {T} {name}({T} a)
{
    return a < 0 ? -a : a;
}
"""
    ),
    ("sign", "i"): Helper(
        """\
static inline {T} {name}({T} a)
{
    return a == 0 ? 0 : ({S})a > 0 ? 1 : -1;
}
"""
    ),
    ("sign", "f"): Helper(
        """\
static inline {T} {name}({T} a)
{
    return a > 0 ? 1 : a < 0 ? -1 : a;
}
"""
    ),
    ("square", ""): Helper(
        """\
static inline {T} {name}({T} a)
{
    return a * a;
}
"""
    ),
    ("square", "c"): Helper(
        """\
static inline {T} {name}({T} a)
{
    return multiply_{suffix}(a, a);
}
""",
        ("multiply_{suffix}",),
    ),
    ("reciprocal", "i"): Helper(
        """\
static inline {T} {name}({T} a)
{
    return ({T})(1.0 / a);
}
"""
    ),
    ("reciprocal", "f"): Helper(
        """\
static inline {T} {name}({T} a)
{
    return 1 / a;
}
"""
    ),
    ("radians", "f"): Helper(
        """\
static inline {T} {name}({T} a)
{
    return a * ({T})0.017453292519943295;
}
"""
    ),
    ("degrees", "f"): Helper(
        """\
static inline {T} {name}({T} a)
{
    return a * ({T})57.29577951308232;
}
"""
    ),
    ("power", "i"): Helper(
        """\
static inline {T} {name}({T} base, int64_t exponent)
{
    {T} result = 1;
    if (exponent < 0) {
        if (base == 0)
            return {MIN};
        return base == 1 ? 1 : base == -1 ? (exponent & 1 ? -1 : 1) : 0;
    }
    for (; exponent != 0; exponent >>= 1, base *= base)
        if (exponent & 1)
            result *= base;
    return result;
}
"""
    ),
    ("power", "u"): Helper(
        """\
static inline {T} {name}({T} base, int64_t exponent)
{
    {T} result = 1;
    if (exponent < 0)
        return base == 0 ? ({T}){MIN} : base == 1;
    for (; exponent != 0; exponent >>= 1, base *= base)
        if (exponent & 1)
            result *= base;
    return result;
}
"""
    ),
    ("power", "f"): Helper(
        """\
static inline {T} {name}({T} base, int64_t exponent)
{
    {T} result = 1;
    int64_t left = exponent < 0 ? -exponent : exponent;
    if (left > 65536)
        return pow(base, exponent);
    for (; left != 0; left >>= 1, base *= base)
        if (left & 1)
            result *= base;
    return exponent < 0 ? 1 / result : result;
}
"""
    ),
    ("power", "c"): Helper(
        """\
static inline {T} {name}({T} base, {T} exponent)
{
    if (exponent == 2)
        return multiply_{suffix}(base, base);
    if (exponent == 0)
        return 1;
    return base == 0 ? 0 : cpow{f}(base, exponent);
}
""",
        ("multiply_{suffix}",),
    ),
    # numba passes the integer powers of numpy through a double.
    ("rounded_power", "i"): Helper(
        """\
static inline {T} {name}({T} base, int64_t exponent)
{
    return (double)power_{wide}(base, exponent);
}
""",
        ("power_{wide}",),
    ),
    ("power_half", "f"): Helper(
        """\
static inline {T} {name}({T} a)
{
    return isinf(a) ? INFINITY : fabs{f}(sqrt{f}(a));
}
"""
    ),
    ("round_digits", "f"): Helper(
        """\
static inline {T} {name}({T} a, int64_t digits)
{
    if (!isfinite(a))
        return a;
    if (digits < 0) {
        double scale = power_f64(10.0, -digits);
        return rint{f}(({T})(a / scale)) * scale;
    }
    double scale = power_f64(10.0, digits > 22 ? digits - 22 : digits);
    double excess = digits > 22 ? 1e22 : 1.0;
    double scaled = a * scale * excess;
    return isinf(scaled) ? a : ({T})(rint{f}(({T})scaled) / excess / scale);
}
""",
        ("power_f64",),
    ),
    ("complex", "c"): Helper(
        """\
static inline {T} {name}({F} real, {F} imag)
{
    union {
        {F} parts[2];
        {T} whole;
    } value = {{real, imag}};
    return value.whole;
}
"""
    ),
    ("multiply", "c"): Helper(
        """\
static inline {T} {name}({T} a, {T} b)
{
    {F} p = creal{f}(a), q = cimag{f}(a), r = creal{f}(b), s = cimag{f}(b);
    return complex_{suffix}(p * r - q * s, p * s + q * r);
}
""",
        ("complex_{suffix}",),
    ),
    ("divide", "c"): Helper(
        """\
static inline {T} {name}({T} a, {T} b)
{
    {F} p = creal{f}(a), q = cimag{f}(a), r = creal{f}(b), s = cimag{f}(b);
    if (fabs{f}(r) >= fabs{f}(s) && r != 0) {
        {F} ratio = s / r, whole = r + s * ratio;
        return complex_{suffix}((p + q * ratio) / whole, (q - p * ratio) / whole);
    }
    if (fabs{f}(s) > fabs{f}(r)) {
        {F} ratio = r / s, whole = r * ratio + s;
        return complex_{suffix}((p * ratio + q) / whole, (q * ratio - p) / whole);
    }
    return complex_{suffix}(NAN, NAN);
}
""",
        ("complex_{suffix}",),
    ),
    ("isnan", "c"): Helper(
        """\
static inline int {name}({T} a)
{
    return isnan(creal{f}(a)) || isnan(cimag{f}(a));
}
"""
    ),
    ("isinf", "c"): Helper(
        """\
static inline int {name}({T} a)
{
    return isinf(creal{f}(a)) || isinf(cimag{f}(a));
}
"""
    ),
    ("isfinite", "c"): Helper(
        """\
static inline int {name}({T} a)
{
    return isfinite(creal{f}(a)) && isfinite(cimag{f}(a));
}
"""
    ),
    ("checked_index", ""): Helper(
        """\
static inline int64_t {name}(int64_t index, int64_t extent, int64_t *failure, int64_t code)
{
    if (index < 0)
        index += extent;
    if (index >= 0 && index < extent)
        return index;
    *failure = code;
    return 0;
}
"""
    ),
}
