"""Complex numbers in CUDA text: a type of two parts with C's operators and functions, in the words of ``complex.h``."""

from __future__ import annotations

COMPLEX_TEXT = """\
// A complex number; products and quotients are functions, as in the rest of the text.
template <class F> struct Complex {
    F x, y;
    Complex() = default;
    __device__ Complex(F real, F imag = 0) : x(real), y(imag) {}
    template <class G> __device__ Complex(const Complex<G> &other) : x((F)other.x), y((F)other.y) {}
};
// Numbers of two precisions have no operator that is better than the other one.
template <class F, class G> __device__ inline bool operator==(Complex<F> a, Complex<G> b)
{
    return a.x == b.x && a.y == b.y;
}
template <class F, class G> __device__ inline bool operator!=(Complex<F> a, Complex<G> b) { return !(a == b); }
{operators}"""
_OPERATORS = """\
static __device__ inline Complex<F> operator+(Complex<F> a, Complex<F> b) { return {a.x + b.x, a.y + b.y}; }
static __device__ inline Complex<F> operator-(Complex<F> a, Complex<F> b) { return {a.x - b.x, a.y - b.y}; }
static __device__ inline Complex<F> operator-(Complex<F> a) { return {-a.x, -a.y}; }
static __device__ inline bool operator==(Complex<F> a, Complex<F> b) { return a.x == b.x && a.y == b.y; }
static __device__ inline bool operator!=(Complex<F> a, Complex<F> b) { return !(a == b); }
static __device__ inline F crealS(Complex<F> a) { return a.x; }
static __device__ inline F cimagS(Complex<F> a) { return a.y; }
static __device__ inline Complex<F> conjS(Complex<F> a) { return {a.x, -a.y}; }
static __device__ inline F cabsS(Complex<F> a) { return hypotS(a.x, a.y); }
static __device__ inline F cargS(Complex<F> a) { return atan2S(a.y, a.x); }
static __device__ inline Complex<F> cexpS(Complex<F> a)
{
    const F size = expS(a.x);
    return {size * cosS(a.y), size * sinS(a.y)};
}
static __device__ inline Complex<F> clogS(Complex<F> a) { return {logS(cabsS(a)), cargS(a)}; }
static __device__ inline Complex<F> csqrtS(Complex<F> a)
{
    const F size = cabsS(a);
    const F x = sqrtS((size + a.x) / 2), y = sqrtS((size - a.x) / 2);
    return {x, a.y < 0 ? -y : y};
}
static __device__ inline Complex<F> csinS(Complex<F> a) { return {sinS(a.x) * coshS(a.y), cosS(a.x) * sinhS(a.y)}; }
static __device__ inline Complex<F> ccosS(Complex<F> a) { return {cosS(a.x) * coshS(a.y), -sinS(a.x) * sinhS(a.y)}; }
"""
_PRECISIONS = (("double", ""), ("float", "f"))


def complex_text() -> str:
    """The type with its functions, for both precisions.

    >>> "crealf(Complex<float> a)" in complex_text()
    True
    """
    operators = "".join(_operators(real, suffix) for real, suffix in _PRECISIONS)
    return COMPLEX_TEXT.replace("{operators}", operators.rstrip("\n"))


def _operators(real: str, suffix: str) -> str:
    """The functions of one precision: capital S ends a name that has a variant for each."""
    text = _OPERATORS.replace("<F>", f"<{real}>").replace(" F ", f" {real} ")
    for name in ("creal", "cimag", "conj", "cabs", "carg", "cexp", "clog", "csqrt", "csin", "ccos"):
        text = text.replace(f"{name}S", name + suffix)
    for name in ("hypot", "atan2", "exp", "cosh", "sinh", "cos", "sin", "log", "sqrt"):
        text = text.replace(f"{name}S", name + suffix)
    return text


def with_complex(text: str) -> str:
    """``text`` with the type of this module in the place of C's.

    >>> with_complex("double _Complex z;")
    'Complex<double> z;'
    """
    return text.replace("double _Complex", "Complex<double>").replace("float _Complex", "Complex<float>")
