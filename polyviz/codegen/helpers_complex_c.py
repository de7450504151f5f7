"""The templates of C's helper functions on complex numbers: CPython's arithmetic, which leaves NaN where C repairs it.

Division scales as R. L. Smith, Algorithm 116: Complex division, CACM 5(8), 1962.
"""

from __future__ import annotations

from polyviz.codegen.helpers_c import Helper

COMPLEX_HELPERS: dict[tuple[str, str], Helper] = {
    ("square", "c"): Helper(
        """\
static inline {T} {name}({T} a)
{
    return multiply_{suffix}(a, a);
}
""",
        ("multiply_{suffix}",),
    ),
    # The polar form in numba's order and precision. Zero to a negative power is NaN there, where Python raises.
    ("power", "c"): Helper(
        """\
static inline {T} {name}({T} base, {T} exponent)
{
    if (exponent == 2)
        return multiply_{suffix}(base, base);
    if (exponent == 0)
        return 1;
    double real = creal{f}(exponent), imag = cimag{f}(exponent);
    if (base == 0)
        return imag != 0 || real < 0 ? complex_{suffix}(NAN, NAN) : 0;
    double x = creal{f}(base), y = cimag{f}(base);
    double size = hypot(x, y), angle = atan2(y, x);
    double length = pow(size, real), turn = angle * real;
    if (imag != 0) {
        length /= exp(angle * imag);
        turn += imag * log(size);
    }
    return complex_{suffix}(length * cos(turn), length * sin(turn));
}
""",
        ("complex_{suffix}", "multiply_{suffix}"),
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
    ("scale", "c"): Helper(
        """\
static inline {T} {name}({F} a, {T} b)
{
    return complex_{suffix}(a * creal{f}(b), a * cimag{f}(b));
}
""",
        ("complex_{suffix}",),
    ),
    ("turn", "c"): Helper(
        """\
static inline {T} {name}({F} a, {T} b)
{
    return complex_{suffix}(-(a * cimag{f}(b)), a * creal{f}(b));
}
""",
        ("complex_{suffix}",),
    ),
    ("shrink", "c"): Helper(
        """\
static inline {T} {name}({T} a, {F} b)
{
    return b == 0 ? complex_{suffix}(NAN, NAN) : complex_{suffix}(creal{f}(a) / b, cimag{f}(a) / b);
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
}
