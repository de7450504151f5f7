"""The templates of C's helper functions on real numbers.

Each is kept by its name and the kind of type it is for; the empty kind is any other. Floor division and modulo follow
Python's language reference, section 6.7: the remainder has the sign of the divisor.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Helper:
    """A template: ``{T}`` is the type, ``{name}`` the full name, ``{F}`` the real type beneath, ``{f}`` libm's suffix,
    ``{S}`` the signed type of the same width, ``{MIN}`` its smallest value, ``{narrow}`` a cast from double.
    ``uses`` names further helpers.
    """

    text: str
    uses: tuple[str, ...] = ()


REAL_HELPERS: dict[tuple[str, str], Helper] = {
    ("floor_div", "i"): Helper(
        """\
static inline {T} {name}({T} a, {T} b)
{
    if (b == 0 || (b == -1 && a == {MIN}))
        return 0;
    if (b > 0 && (b & (b - 1)) == 0)  // a power of two: compilers shift
        return (a & -b) / b;
    return a / b - (a % b != 0 && (a < 0) != (b < 0));
}
"""
    ),
    ("plain_div", "i"): Helper(
        """\
static inline {T} {name}({T} a, {T} b)
{
    return (uint64_t)a / (uint64_t)b;  // neither is negative
}
"""
    ),
    ("plain_mod", "i"): Helper(
        """\
static inline {T} {name}({T} a, {T} b)
{
    return (uint64_t)a % (uint64_t)b;  // neither is negative
}
"""
    ),
    ("floor_div_by", "i"): Helper(
        """\
static inline {T} {name}({T} a, {T} b)
{
    if ((uint64_t)(a | b) >> 32 == 0)  // processors divide short numbers in less than half the time
        return b == 0 ? 0 : (uint32_t)a / (uint32_t)b;
    return floor_div_{suffix}(a, b);
}
""",
        ("floor_div_{suffix}",),
    ),
    ("floor_div", "u"): Helper(
        """\
static inline {T} {name}({T} a, {T} b)
{
    return b == 0 ? 0 : a / b;
}
"""
    ),
    # Where the quotient is small, and so exact to the right of its point, one multiply-add leaves what `fmod` leaves.
    ("floor_rest", "f"): Helper(
        """\
static inline int {name}({T} a, {T} b, {T} *quotient, {T} *rest)  // whether it was told without a call of fmod
{
#ifdef FP_FAST_FMA
    *quotient = floor{f}(a / b);
    *rest = fma{f}(-*quotient, b, a);
    if (*rest != 0 && (*rest < 0) != (b < 0)) {  // the quotient was rounded up to a whole number
        *quotient -= 1;
        *rest += b;
    }
    return fabs{f}(*quotient) < 0x1p20 && fabs{f}(b) < INFINITY;
#else
    return 0;
#endif
}
"""
    ),
    ("floor_div", "f"): Helper(
        """\
static inline {T} {name}({T} a, {T} b)
{
    {T} near, rest;
    if (floor_rest_{suffix}(a, b, &near, &rest))
        return near != 0 ? near : near * near * a / b;
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
""",
        ("floor_rest_{suffix}",),
    ),
    ("floor_mod", "i"): Helper(
        """\
static inline {T} {name}({T} a, {T} b)
{
    if (b == 0 || b == -1)
        return 0;
    if (b > 0 && (b & (b - 1)) == 0)
        return a & (b - 1);
    {T} remainder = a % b;
    return remainder != 0 && (remainder < 0) != (b < 0) ? remainder + b : remainder;
}
"""
    ),
    ("floor_mod_by", "i"): Helper(
        """\
static inline {T} {name}({T} a, {T} b)
{
    if ((uint64_t)(a | b) >> 32 == 0)  // processors divide short numbers in less than half the time
        return b == 0 ? 0 : (uint32_t)a % (uint32_t)b;
    return floor_mod_{suffix}(a, b);
}
""",
        ("floor_mod_{suffix}",),
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
    {T} near, remainder;
    if (!floor_rest_{suffix}(a, b, &near, &remainder))
        remainder = fmod{f}(a, b);
    if (remainder == 0)
        return b < 0 ? -({T})0 : 0;
    return (b < 0) != (remainder < 0) ? remainder + b : remainder;
}
""",
        ("floor_rest_{suffix}",),
    ),
    # As "floor_mod", of a divisor that is a power of two and no less than 1: no operation rounds.
    ("floor_mod_exact", "f"): Helper(
        """\
static inline {T} {name}({T} a, {T} b)
{
    {T} remainder = a - trunc{f}(a / b) * b;
    if (remainder == 0)
        return 0;
    return remainder < 0 ? remainder + b : remainder;
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
    ("settled", "f"): Helper(
        """\
static inline {T} {name}({T} sum)  // added up first, whatever a compiler that may reorder sums would do
{
#if __GNUC__ >= 12
    sum = __builtin_assoc_barrier(sum);
#endif
    return sum;
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
    ("round_digits", "f"): Helper(
        """\
static inline {T} {name}({T} a, int64_t digits)
{
    if (!isfinite(a))
        return a;
    if (digits < 0) {
        double scale = power_f64(10.0, -digits);
        return rint{f}({narrow}(a / scale)) * scale;
    }
    double scale = power_f64(10.0, digits > 22 ? digits - 22 : digits);
    double excess = digits > 22 ? 1e22 : 1.0;
    double scaled = a * scale * excess;
    return isinf(scaled) ? a : {narrow}(rint{f}({narrow}scaled) / excess / scale);
}
""",
        ("power_f64",),
    ),
    ("clamped", "i"): Helper(
        """\
static inline int32_t {name}({T} value, int32_t least, int32_t greatest)
{
    return value < least ? least : value > greatest ? greatest : value;
}
"""
    ),
    ("checked_index", ""): Helper(
        """\
static inline int64_t {name}(int64_t index, int64_t extent, int64_t *failure, int64_t code)
{
    int64_t place = index < 0 ? index + extent : index;
    if (__builtin_expect((uint64_t)place < (uint64_t)extent, 1))
        return place;
    if (!*failure)
        *failure = code;
    return 0;
}
"""
    ),
    ("noted_index", ""): Helper(
        """\
static inline int64_t {name}(int64_t index, int64_t extent, int64_t *outside, int64_t code)
{
    const int64_t place = index < 0 ? index + extent : index;
    const int64_t found = (uint64_t)place < (uint64_t)extent ? 0 : code;
    *outside = found > *outside ? found : *outside;
    return found ? 0 : place;
}
"""
    ),
    ("checked_step", ""): Helper(
        """\
static inline int64_t {name}(int64_t step, int64_t *failure, int64_t code)
{
    if (step == 0 && !*failure)
        *failure = code;
    return step;
}
"""
    ),
}
