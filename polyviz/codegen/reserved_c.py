"""Words that no variable of generated C may be called: those of the language, its headers, and our helpers."""

from __future__ import annotations

from polyviz.codegen.dtypes import TYPES
from polyviz.codegen.runtime_c import HELPERS

KEYWORDS = """
    alignas alignof asm auto bool break case char const constexpr continue default do double else enum extern false
    float for goto if inline int long nullptr register restrict return short signed sizeof static static_assert struct
    switch thread_local true typedef typeof typeof_unqual union unsigned void volatile while
    _Alignas _Alignof _Atomic _Bool _Complex _Generic _Imaginary _Noreturn _Static_assert _Thread_local
"""
TYPE_NAMES = """
    int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t intptr_t uintptr_t intmax_t uintmax_t size_t
    wchar_t ptrdiff_t float_t double_t div_t ldiv_t lldiv_t
"""
MACROS = """
    I complex imaginary NAN INFINITY HUGE_VAL HUGE_VALF HUGE_VALL NULL EXIT_SUCCESS EXIT_FAILURE RAND_MAX MB_CUR_MAX
    FP_NAN FP_INFINITE FP_ZERO FP_SUBNORMAL FP_NORMAL FP_ILOGB0 FP_ILOGBNAN MATH_ERRNO MATH_ERREXCEPT math_errhandling
    INT8_MIN INT16_MIN INT32_MIN INT64_MIN INT8_MAX INT16_MAX INT32_MAX INT64_MAX UINT8_MAX UINT16_MAX UINT32_MAX
    UINT64_MAX INTPTR_MIN INTPTR_MAX UINTPTR_MAX INTMAX_MIN INTMAX_MAX UINTMAX_MAX PTRDIFF_MIN PTRDIFF_MAX SIZE_MAX
    WCHAR_MIN WCHAR_MAX WINT_MIN WINT_MAX SIG_ATOMIC_MIN SIG_ATOMIC_MAX DOMAIN SING OVERFLOW UNDERFLOW PLOSS TLOSS
    M_E M_LOG2E M_LOG10E M_LN2 M_LN10 M_PI M_PI_2 M_PI_4 M_1_PI M_2_PI M_2_SQRTPI M_SQRT2 M_SQRT1_2 MAXFLOAT
    errno stdin stdout stderr unix linux signgam
"""
FUNCTIONS = """
    acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh erf erfc exp exp2 expm1 fabs fdim floor fma fmax
    fmin fmod frexp hypot ilogb ldexp lgamma llrint llround log log10 log1p log2 logb lrint lround modf nan nearbyint
    nextafter nexttoward pow remainder remquo rint round scalbln scalbn sin sinh sqrt tan tanh tgamma trunc
    cabs cacos cacosh carg casin casinh catan catanh ccos ccosh cexp cimag clog conj cpow cproj creal csin csinh csqrt
    ctan ctanh
"""
PLAIN_FUNCTIONS = """
    abs labs llabs calloc free malloc realloc isfinite isinf isnan isnormal signbit fpclassify isgreater isless main
    failure begin_row pass_place wait_for_row_before sched_yield
    omp_get_max_threads omp_get_num_threads omp_get_thread_num
"""
"""``failure`` is the status that a function with tested subscripts returns."""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _helpers() -> frozenset[str]:
    bases = {base for base, _ in HELPERS}
    return frozenset(f"{base}_{scalar.suffix}" for base in bases for scalar in TYPES.values()) | bases


C_RESERVED = (
    _words(KEYWORDS)
    | _words(TYPE_NAMES)
    | _words(MACROS)
    | _words(PLAIN_FUNCTIONS)
    | frozenset(name + ending for name in _words(FUNCTIONS) for ending in ("", "f", "l"))
    | _helpers()
)
