"""The pure scalar functions that a statement may call, and what to write instead of those it may not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from polyviz.frontend.whole_calls import WHOLE_HINTS, WHOLE_REASONS

if TYPE_CHECKING:
    import ast
    from collections.abc import Sequence

_ONE = frozenset({1})
_TWO = frozenset({2})
_MANY = frozenset(range(2, 65))

_SHARED = "fabs sqrt exp exp2 expm1 log log2 log10 log1p sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh"
_MATH_ONE = f"{_SHARED} erf erfc gamma lgamma radians degrees floor ceil trunc isnan isinf isfinite"
_MATH_TWO = "atan2 hypot nextafter copysign pow"
_NUMPY_ONE = (
    f"{_SHARED} arcsin arccos arctan arcsinh arccosh arctanh cbrt rint floor ceil trunc sign square reciprocal "
    "radians deg2rad degrees rad2deg abs absolute negative positive invert bitwise_not logical_not isnan isinf "
    "isfinite signbit real imag conj conjugate"
)
_NUMPY_TWO = (
    "hypot copysign nextafter arctan2 atan2 fmod minimum maximum fmin fmax power pow floor_divide mod remainder add "
    "subtract multiply divide true_divide less less_equal greater greater_equal equal not_equal bitwise_and bitwise_or "
    "bitwise_xor left_shift right_shift logical_and logical_or"
)
_NUMPY_INTEGERS = (
    "int8 int16 int32 int64 uint8 uint16 uint32 uint64 intp uintp int_ uint intc uintc short ushort byte ubyte "
    "longlong ulonglong"
)
_NUMPY_CASTS = f"bool_ {_NUMPY_INTEGERS} float32 float64 complex64 complex128 single double"
INTEGER_TYPES = frozenset({"int", *(f"numpy.{name}" for name in _NUMPY_INTEGERS.split())})

_TABLES: tuple[tuple[str, str, frozenset[int]], ...] = (
    ("math.", _MATH_ONE, _ONE),
    ("math.", _MATH_TWO, _TWO),
    ("numpy.", _NUMPY_ONE, _ONE),
    ("numpy.", _NUMPY_TWO, _TWO),
    ("numpy.", _NUMPY_CASTS, _ONE),
    ("numpy.", "round around", _ONE | _TWO),
    ("", "abs int float bool", _ONE),
    ("", "min max", _MANY),
    ("", "round complex", _ONE | _TWO),
    ("", "pow", _TWO),
)

# Canonical name of each function, with the numbers of arguments that it takes.
PURE: dict[str, frozenset[int]] = {
    prefix + name: counts for prefix, names, counts in _TABLES for name in names.split()
}

UNIVERSAL = {
    f"numpy.{name}": count
    for names, count in ((_NUMPY_ONE, 1), (_NUMPY_TWO, 2))
    for name in names.split()
    if name not in ("real", "imag")
}
"""Functions that NumPy can let write into an array that is there, ``out``; how many arguments come before it."""

CREATORS = {f"numpy.{name}": name for name in ("empty", "zeros", "ones", "full")}
CREATORS_LIKE = {f"{name}_like": function for name, function in CREATORS.items()}
CREATORS |= {"numpy.ndarray": "empty"}
MAKERS = frozenset({*CREATORS, *CREATORS_LIKE})

GENERATORS = {
    "numpy.arange": ("start", "stop", "step", "dtype"),
    "numpy.linspace": ("start", "stop", "num", "endpoint", "retstep", "dtype"),
    "numpy.eye": ("N", "M", "k", "dtype"),
    "numpy.identity": ("n", "dtype"),
}
"""What makes arrays of elements that follow from their positions, with the names of its arguments."""

CONSTANTS: dict[str, float] = {
    "pi": 3.141592653589793,
    "e": 2.718281828459045,
    "inf": float("inf"),
    "nan": float("nan"),
    "tau": 6.283185307179586,
    "euler_gamma": 0.5772156649015329,
}

IMPURE_REASON = (
    "It gives another value at every call, so the result would depend on the order of the iterations."
)
RANDOM_HINT = "Draw the numbers into an array before the loops, `R = np.random.random(n)`, and use `R[i]`."

CALL_REASONS = {
    **WHOLE_REASONS,
    "sorted": WHOLE_REASONS["numpy.sort"],
    "print": "Iterations may run in another order, and so would its output.",
    **dict.fromkeys(GENERATORS, "How many elements this makes, or of which kind, is not known at the start."),
    "numpy.array": "Which numbers it is made of is not known at the start.",
}
HINTS = {
    **WHOLE_HINTS,
    **dict.fromkeys(
        ("numpy.dot", "numpy.matmul", "numpy.outer"),
        "Say how many dimensions both have: `np.dot(A[:, :], x[:])`, or `def f(A: 'float64[:, :]', x: 'float64[:]')`.",
    ),
    "numpy.sum": "Say how many dimensions the array has, `np.sum(A[:, :])`, give a product or sum inside of it a name "
    "before, or write the loop: `s += A[i]`.",
    "numpy.mean": "Say how many dimensions the array has, `np.mean(A[:, :])`, give a product or sum inside of it a "
    "name before, or write the loop.",
    **{
        f"numpy.{name}": f"Say how many dimensions it has, `np.{name}(A[:, :])` without `ddof`, or write the loop."
        for name in ("std", "var")
    },
    "numpy.max": "Say how many dimensions the array has, `np.max(A[:, :])`, give a product or sum inside of it a name "
    "before, or write the loop: `m = max(m, A[i])`.",
    "numpy.min": "Say how many dimensions the array has, `np.min(A[:, :])`, give a product or sum inside of it a name "
    "before, or write the loop: `m = min(m, A[i])`.",
    "numpy.linalg.norm": "Say that it is a vector, `np.linalg.norm(x[:])`, and give what is computed a name before.",
    "any": "Write `np.any(x[:] > 3)`, or count in a loop: `if x[i] > 3: count += 1`.",
    "all": "Write `np.all(x[:] > 3)`, or count in a loop: `if not x[i] > 3: count += 1`.",
    **dict.fromkeys(
        ("numpy.argmax", "numpy.argmin"),
        "Say how many dimensions there are, `np.argmax(x[:])` or `np.argmax(A[:, :], axis=1)`, or keep the best place "
        "in a loop: `if x[i] > x[k]: k = i`.",
    ),
    **dict.fromkeys(
        [f"numpy.{name}.at" for name in ("add", "subtract", "multiply", "maximum", "minimum")],
        "Give places and values a name, say how many dimensions there are, `def f(y: 'float64[:]', i: 'int64[:]')`, "
        "one place per dimension, or write the loop: `for k in range(len(i)): y[i[k]] += v[k]`.",
    ),
    "numpy.arange": "Give whole numbers, the step as a literal, or make it with `np.empty` and fill it in a loop.",
    "numpy.linspace": "Write `np.linspace(start, stop, n)`, or make the array with `np.empty` and fill it in a loop.",
    "numpy.eye": "Write `np.eye(n)` or `np.eye(n, m)`, or make it with `np.zeros` and set its diagonal in a loop.",
    "numpy.array": "Write numbers in it, with as many in every row, or make it with `np.empty` and set its elements.",
    "numpy.copy": "Write `B = A.copy()` on a line of its own, once for each name, and use `B` only below it.",
    "numpy.astype": "Write `B = A.astype(...)` on a line of its own, once for each name, and use `B` only below it.",
    "numpy.where": "Say how many dimensions there are, `np.where(A[:, :] > 0, A, 0.0)`; on elements, write "
    "`x if condition else y`.",
    "numpy.roll": "Write `np.roll(A, 1, axis=0)` with one number of places and one axis, where an array is assigned, "
    "as in `B[:, :] = np.roll(A, 1, axis=0)`, or write the subscript: `x[(i - 1) % n]`.",
    "numpy.transpose": "Write `A.T`.",
    **dict.fromkeys(
        ("numpy.ravel", "numpy.flatten", "numpy.reshape"),
        "In loops over all elements, write `for v in A.flat`, or `A.flat[k]` for `k in range(A.size)`, where the "
        "dimensions are known; elsewhere write the subscripts of the array as it is.",
    ),
    **dict.fromkeys(
        ("numpy.diag", "numpy.diagonal", "numpy.trace", "numpy.fill_diagonal"),
        "Give what is computed a name before, `B = A @ C`, say how many dimensions there are, "
        "`def f(A: 'float64[:, :]')`, and which diagonal as a number; or write the loop with `A[i, i]`.",
    ),
    **dict.fromkeys(
        ("numpy.cumsum", "numpy.cumprod"),
        "In a function, write `np.cumsum(A, axis=0)` with the number of the axis, or none for a vector, and no type; "
        "elsewhere write the loop: `for i in range(1, n): y[i] = y[i - 1] + x[i]`.",
    ),
    "numpy.searchsorted": "Search for one number at a time, in a vector: `k = np.searchsorted(x, v[i])`, which may not "
    "stand where it is computed only sometimes; `side` is written as text, and there is no `sorter`.",
    **dict.fromkeys(
        ("math.factorial", "math.comb", "math.perm"),
        "Look it up in an array made outside, `f = np.array([math.factorial(k) for k in range(21)])` and `f[n]`: what "
        "does not fit into 64 bits, as 21!, cannot be computed here. Or write the loop in floating-point numbers.",
    ),
    "math.modf": "Write `x - math.trunc(x)` for the fraction and `math.trunc(x)` for the whole part.",
    "sum": "Write the loop: `s += A[i]`.",
    "print": "Print before or after the loops.",
    **dict.fromkeys(
        ("numpy.ndindex", "numpy.ndenumerate"),
        "Give each dimension a variable, `for i, j in np.ndindex(A.shape)`, and leave out `break`; one name for the "
        "whole place is read where the dimensions are known. Or write the loops: `for i in range(A.shape[0])`.",
    ),
    "enumerate": "Write `for i in range(len(A))` and use `A[i]`.",
    "zip": "Write `for i in range(len(A))` and use `A[i]` and `B[i]`.",
    "divmod": "Write `q, r = divmod(a, b)`, or `q = a // b` and `r = a % b`.",
    "sorted": WHOLE_HINTS["numpy.sort"],
    "numpy.clip": "Write `min(max(x, low), high)`.",
}

BUILTINS = frozenset({
    "abs", "min", "max", "int", "float", "bool", "round", "complex", "pow", "len", "range", "reversed",
    "enumerate", "zip",
})  # fmt: skip


def named_arguments(names: Sequence[str], call: ast.Call) -> dict[str, ast.expr]:
    """The arguments of ``call`` by name, those without one by their place among ``names``."""
    return dict(zip(names, call.args, strict=False)) | {one.arg or "": one.value for one in call.keywords}


def arguments_of(function: str | None, call: ast.Call) -> dict[str, ast.expr]:
    """The arguments of one of ``GENERATORS`` by name; of one alone, ``arange`` makes the end."""
    given = named_arguments(GENERATORS.get(function or "", ()), call)
    if function == "numpy.arange" and "stop" not in given and "start" in given:
        given["stop"] = given.pop("start")
    return given


def counts_of(function: str | None, call: ast.Call) -> list[ast.expr]:
    """The arguments of one of ``GENERATORS`` that say how many elements there are."""
    if function not in GENERATORS:
        return []
    own = ("num",) if function == "numpy.linspace" else ("start", "stop", "step", "N", "M", "n")
    return [value for name, value in arguments_of(function, call).items() if name in own]
