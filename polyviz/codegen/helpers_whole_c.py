"""The templates of C's helper functions that make whole numbers of fractions, where a cast leaves open what comes out.

gcc 12 leaves such a cast out whose result becomes a floating point number again: -0.2 stayed -0.0, and 300.5 as a byte
became 300.0.
"""

from __future__ import annotations

from polyviz.codegen.helpers_c import Helper

WHOLE: dict[tuple[str, str], Helper] = {
    # What has no whole number (NaN, infinities, values out of range) becomes the smallest one, as processors have it.
    # No sum with 0.0 is -0.0.
    ("whole", "i"): Helper(
        """\
static inline {T} {name}(double a)
{
    return fabs(a) < -(double){MIN} ? ({T})(trunc(a) + 0.0) : {MIN};
}
"""
    ),
    ("whole", "u"): Helper(
        """\
static inline {T} {name}(double a)
{
    if (a >= 0x1p63)
        return a < 0x1p64 ? ({T})(uint64_t)a : 0;
    return ({T})(a > -0x1p63 ? (int64_t)a : INT64_MIN);
}
"""
    ),
    # The low bits of a number of 32 bits, as processors and numba have it.
    ("whole_short", "i"): Helper(
        """\
static inline {T} {name}(double a)
{
    int32_t low_bits = (int32_t)a;
    return ({T})low_bits;
}
"""
    ),
    ("whole_single", "i"): Helper(
        """\
static inline {T} {name}(float a)
{
    int32_t low_bits = (int32_t)a;
    return ({T})low_bits;
}
"""
    ),
}
