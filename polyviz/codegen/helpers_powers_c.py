"""The templates of C's helper functions for powers of real numbers: the multiplications of numba, in its order."""

from __future__ import annotations

from polyviz.codegen.helpers_c import Helper

POWERS: dict[tuple[str, str], Helper] = {
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
    # As "power", of an exponent that is no constant: its bits are not foreseen, so that no branch asks for them.
    ("varying_power", "f"): Helper(
        """\
static inline {T} {name}({T} base, int64_t exponent)
{
    {T} result = 1;
    int64_t left = exponent < 0 ? -exponent : exponent;
    if (left > 65536)
        return pow(base, exponent);
    for (; left != 0; left >>= 1, base *= base) {
        const {T} factors[2] = {1, base};
        result *= factors[left & 1];
    }
    return exponent < 0 ? 1 / result : result;
}
"""
    ),
    # As "power", of numbers that are the same throughout: compilers call it once, before the loops around it.
    ("steady_power", "i"): Helper(
        """\
__attribute__((const, noinline)) static {T} {name}({T} base, int64_t exponent)
{
    return power_{suffix}(base, exponent);
}
""",
        ("power_{suffix}",),
    ),
    ("steady_power", "u"): Helper(
        """\
__attribute__((const, noinline)) static {T} {name}({T} base, int64_t exponent)
{
    return power_{suffix}(base, exponent);
}
""",
        ("power_{suffix}",),
    ),
    ("steady_power", "f"): Helper(
        """\
__attribute__((const, noinline)) static {T} {name}({T} base, int64_t exponent)
{
    return power_{suffix}(base, exponent);
}
""",
        ("power_{suffix}",),
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
}
