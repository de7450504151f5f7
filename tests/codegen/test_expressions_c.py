from __future__ import annotations

import itertools
from contextlib import suppress
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from polyviz.codegen.expressions_c import CExpressionPrinter
from polyviz.codegen.functions import FUNCTIONS
from polyviz.codegen.typing import Environment, infer
from polyviz.errors import CodegenError, Span
from polyviz.model.expression import Assign, Element, rebuild
from tests.codegen.differential import TYPES, Batch
from tests.codegen.expression_text import body, expression
from tests.codegen.random_expressions import expressions

REAL = ["p", "b1", "b2", "k", "i8", "v1", "v2", "u4", "u", "x4", "x"]
OTHER = {"p": "q", "b1": "c1", "k": "m", "i8": "j8", "u": "w", "x4": "y4", "x": "y", "z": "zz"}
ALL = [*REAL, "z8", "z"]
# Enough to meet every conversion that C and numba do differently.
MEETING = ["p", "b1", "k", "i8", "u4", "u", "x4", "x"]


def printer():
    return CExpressionPrinter(TYPES, {}, lambda element, _: element.array)


def typed(texts):
    """The expressions that C can print, with their types; what is refused is tested by itself."""
    result = []
    for text in texts:
        node = expression(text, TYPES)
        with suppress(CodegenError):
            printer().expression(node)
            result.append((node, infer(node, Environment(TYPES)).name))
    return result


def check(texts, folder, *, units=0, extreme=False, whole=False):
    outputs, bodies = {}, []
    pairs = typed(texts)
    assert not whole or len(pairs) == len(texts)
    for index, (node, dtype) in enumerate(pairs):
        outputs[f"out{index}"] = dtype
        bodies.append([Assign(Element(f"out{index}"), node)])
    assert bodies
    Batch(bodies, outputs, extreme=extreme).compare(folder, units)


def pairs_of(names):
    return [
        (left, OTHER.get(right, right) if left == right else right)
        for left, right in itertools.product(names, names)
    ]


@pytest.mark.slow
@pytest.mark.parametrize("symbol", ["+", "-", "*", "/", "//", "%", "&", "|", "^"])
def test_binary_operators_mean_what_they_mean_in_numba(symbol, tmp_path):
    # numba raises when it divides by a complex zero; test_complex_division covers complex divisors.
    names = MEETING if symbol == "/" else [*MEETING, "z8", "z"]
    check([f"{left} {symbol} {right}" for left, right in pairs_of(names)], tmp_path)


@pytest.mark.slow
def test_complex_division_scales_as_numba_does(tmp_path):
    check(
        [
            f"{left} / ({right} + 10)"
            for left, right in itertools.product(["x", "x4", "k", "z", "z8"], ["z", "z8"])
        ],
        tmp_path,
    )


@pytest.mark.thinned(5)
@pytest.mark.parametrize("symbol", ["+", "-", "*", "//", "%", "&", "|", "^"])
def test_integers_wrap_and_divide_at_the_ends_of_their_range(symbol, tmp_path):
    names = ["b1", "k", "i8", "u"]
    check([f"{left} {symbol} {right}" for left, right in pairs_of(names)], tmp_path, extreme=True)


@pytest.mark.slow
@pytest.mark.parametrize("symbol", ["<", "<=", "==", "!="])
def test_comparisons_bring_both_sides_to_numbas_common_type(symbol, tmp_path):
    check([f"{left} {symbol} {right}" for left, right in pairs_of([*MEETING, "z"])], tmp_path, extreme=True)


@pytest.mark.slow
def test_unary_operators_work_in_the_width_of_their_operand(tmp_path):
    texts = [f"{symbol}{name}" for symbol in ("-", "+", "~", "not ") for name in ALL]
    check(
        [*texts, *(f"-(-{name})" for name in REAL), "- -1", "-(k + 1)", "~(~u4)", "not not x"],
        tmp_path,
        extreme=True,
    )


@pytest.mark.slow
def test_constants_beside_every_type(tmp_path):
    forms = [
        "{} + 1",
        "2 - {}",
        "{} * 0.5",
        "{} / 2",
        "1 / {}",
        "{} // 3",
        "{} // -3",
        "{} % 4",
        "{} % -4",
        "7 % {}",
        "{} % 0.75",
    ]
    check([form.format(name) for form in forms for name in REAL], tmp_path, whole=True)


def test_literals_keep_their_value(tmp_path):
    texts = [
        "-1",
        "3000000000 + k",
        "-9223372036854775808",
        "9223372036854775807",
        "1e-320 + x",
        "0.1 * y",
        "-2.5 * x4",
    ]
    texts += [
        "np.inf * x4",
        "-np.inf + x4",
        "np.nan if p else x4",
        "1j * z",
        "(1.5-2j) * z8",
        "x4 < np.inf",
        "True + k",
    ]
    check(
        [text.replace("np.inf", "1e400").replace("np.nan", "(1e400 - 1e400)") for text in texts],
        tmp_path,
        whole=True,
    )


@pytest.mark.slow
@pytest.mark.thinned(2)
@pytest.mark.parametrize("symbol", ["<<", ">>"])
def test_shifts_keep_the_signedness_of_the_left_operand(symbol, tmp_path):
    check(
        [f"{left} {symbol} ({right} & 31)" for left in REAL for right in ("k", "i8", "u")]
        + [f"1 {symbol} (k & 63)"],
        tmp_path,
    )


@pytest.mark.slow
def test_powers(tmp_path):
    # numba raises for a negative power of a floating point zero.
    bases = [*(name for name in REAL if not name.startswith("x")), "(abs(x) + 1)", "(abs(x4) + 1)"]
    constants = ["0", "1", "2", "3", "4", "5", "-1", "-2", "-3", "2.0"]
    texts = [f"{base} ** {exponent}" for base in bases for exponent in constants]
    texts += [f"{base} ** {exponent}" for base in bases for exponent in ("abs(k)", "i8", "u", "p")]
    texts += [
        "2 ** k",
        "(-2) ** i8",
        "pow(i8, 3)",
        "(x + 1) ** 2",
        "(x4 * 2) ** 3",
        "-x ** 2",
        "i8 ** v1",
        "x ** 3",
    ]
    texts += ["math.pow(x, abs(k))", "x ** u", "x4 ** v2", "x4 ** p", "1.0000001 ** (70000 * abs(k))"]
    check(texts, tmp_path)


@pytest.mark.slow
def test_powers_of_floats_agree_to_the_last_places(tmp_path):
    texts = [
        "x ** 0.5",
        "x4 ** 0.5",
        "np.sqrt(x) ** 0.5",
        "x ** y",
        "x4 ** y4",
        "x ** 1.5",
        "x ** -0.5",
        "math.pow(x, y)",
    ]
    check(
        [*texts, "np.power(x, y)", "np.power(x4, k)", "z ** 2", "z ** 2.0", "z8 ** 2"],
        tmp_path,
        units=2,
        whole=True,
    )


@pytest.mark.slow
def test_powers_of_complex_numbers_have_numbas_bits(tmp_path):
    texts = ["(z + 10) ** 3", "(z8 + 10) ** 3", "(z + 10) ** 0.5", "(z + 10) ** zz", "(z8 + 10) ** z8"]
    check([*texts, "(abs(x) + 1) ** z"], tmp_path)


@pytest.mark.slow
def test_integer_powers_by_numpy_pass_through_a_double(tmp_path):
    # Only results in range: what lies outside is as open in numba as in C.
    texts = ["np.power(np.int8(k & 3), np.int8(m & 3))", "np.power(k, np.int32(4))", "np.power(i8, j8 & 7)"]
    texts += [
        "np.power(v1, np.uint8(k & 1))",
        "np.power(u, w & 7)",
        "np.power(3, k & 31)",
        "np.power(i8, -1)",
    ]
    check([*texts, "np.power(7, 20 + (k & 1))"], tmp_path, whole=True)


@pytest.mark.slow
def test_minimum_and_maximum_treat_nan_as_python_and_numpy_do(tmp_path):
    texts = [f"{name}({left}, {right})" for name in ("min", "max") for left, right in pairs_of(MEETING)]
    texts += [
        f"{name}({left}, {right}, {third})"
        for name in ("min", "max")
        for left, right, third in (
            ("x", "y", "x4"),
            ("x4", "k", "y"),
            ("i8", "j8", "u"),
            ("b1", "v1", "k"),
            ("i8", "0", "1.5"),
        )
    ]
    check(texts, tmp_path)
    check(
        [
            f"np.{name}({left}, {right})"
            for name in ("minimum", "maximum", "fmin", "fmax")
            for left, right in pairs_of(["p", "b1", "k", "u", "x4", "x"])
        ],
        tmp_path,
    )


def test_short_circuit_operators_give_the_deciding_operand(tmp_path):
    texts = [
        "p and q",
        "p or q",
        "p and not q or x > 0",
        "x and y",
        "x or y",
        "k and x",
        "x4 or i8",
        "x and y and k",
    ]
    texts += [
        "p and x",
        "p or k",
        "z or x",
        "not (x and y)",
        "not x or y > 0",
        "(p or q) and (x or y)",
        "(p or x) + 1",
    ]
    texts += [
        "x < y < k",
        "0 <= k < i8 < 10",
        "x < y or x == y != 0",
        "p < q",
        "(x < y) == p",
        "(not p) == q",
        "not p == q",
    ]
    check(texts, tmp_path, whole=True)


@pytest.mark.slow
def test_conditional_expressions_take_the_common_type(tmp_path):
    texts = [
        f"{left} if p else {right}" for left, right in pairs_of(["p", "b1", "k", "i8", "u4", "u", "x4", "x"])
    ]
    texts += [
        "x if x > y else y if y > 0 else 0",
        "(x if p else y) if q else 1",
        "x if p and q else y",
        "1 if x else 2.5",
    ]
    check([*texts, "(k if p else m) * k", "(u4 if p else k) - 1", "z if p else x"], tmp_path, whole=True)


@pytest.mark.slow
def test_casts(tmp_path):
    whole = ["p", "b1", "b2", "k", "i8", "v1", "u4", "u"]
    names = [
        "bool_",
        "int8",
        "int32",
        "int64",
        "uint8",
        "uint16",
        "uint64",
        "float32",
        "float64",
        "complex64",
        "complex128",
    ]
    texts = [f"np.{name}({value})" for name in names for value in whole]
    texts += [f"{name}({value})" for name in ("int", "float", "bool", "complex") for value in whole]
    check(texts, tmp_path, extreme=True)
    floats = [
        "np.float32(x)",
        "np.float64(x4)",
        "float(x4) * 0.1",
        "bool(x)",
        "bool(z)",
        "np.complex64(z)",
        "np.float32(0.1)",
    ]
    floats += [
        "np.bool_(x4)",
        "complex(x, y)",
        "complex(x4, y4)",
        "complex(k, x4)",
        "complex(z8)",
        "np.float32(0.1) * x4",
    ]
    check([*floats, "int(x if abs(x) < 1e6 else 1.5)", "np.int32(x4 if abs(x4) < 100 else -2.5)"], tmp_path)


@pytest.mark.slow
def test_rounding(tmp_path):
    finite = ["(x if abs(x) < 1e9 else 0.5)", "(x4 if abs(x4) < 1e9 else 2.5)", "k", "u4", "p"]
    functions = ["round({})", "math.floor({})", "math.ceil({})", "math.trunc({})", "int({})"]
    check([function.format(value) for function in functions for value in finite], tmp_path)
    digits = [f"round({value}, {count})" for value in ("x", "x4", "k") for count in ("0", "2", "-2", "k")]
    check(
        [
            *digits,
            "round(x * 1e-3, 25)",
            "np.round(x)",
            "np.round(x4)",
            "np.round(x, 1)",
            "np.round(x4, 1)",
            "np.round(k)",
        ],
        tmp_path,
    )
    numpy = [
        f"np.{name}({value})"
        for name in ("floor", "ceil", "trunc", "rint")
        for value in ("x", "x4", "k", "v1", "p")
    ]
    check(numpy, tmp_path)


@pytest.mark.slow
def test_parts_of_complex_numbers(tmp_path):
    texts = [f"{name}.real - {name}.imag" for name in ("z", "z8", "x", "k")] + [
        f"{name}.conjugate()" for name in ("z", "z8", "x", "k")
    ]
    check(
        [
            *texts,
            "np.conj(z8)",
            "np.real(z)",
            "np.imag(z)",
            "abs(z)",
            "abs(z8)",
            "np.isnan(z)",
            "np.isfinite(z8)",
        ],
        tmp_path,
        units=1,
        whole=True,
    )


# What both sides compute without calling the C library's approximations.
EXACT = [
    "math.fabs",
    "math.sqrt",
    "math.copysign",
    "math.isnan",
    "math.isinf",
    "math.isfinite",
    "math.radians",
    "math.degrees",
    "abs",
    "numpy.abs",
    "numpy.absolute",
    "numpy.fabs",
    "numpy.sqrt",
    "numpy.copysign",
    "numpy.sign",
    "numpy.square",
    "numpy.isnan",
    "numpy.isinf",
    "numpy.isfinite",
    "numpy.signbit",
    "numpy.floor_divide",
    "numpy.mod",
    "numpy.remainder",
    "numpy.fmod",
    "numpy.nextafter",
    "math.nextafter",
    "numpy.radians",
    "numpy.deg2rad",
    "numpy.degrees",
    "numpy.rad2deg",
]
EXACT += [name for name, entry in FUNCTIONS.items() if entry.kind == "operator"]


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, len(EXACT), 12))
def test_functions_that_are_exact_agree_bit_by_bit(first, tmp_path):
    names = ["p", "b1", "i8", "u", "x4", "x"]
    check([text for function in EXACT[first : first + 12] for text in calls(function, names)], tmp_path)


APPROXIMATE = [
    name
    for name, entry in FUNCTIONS.items()
    if entry.kind == "library"
    and name not in EXACT
    and "fmod" not in name
    and name.rpartition(".")[2] not in ("floor", "ceil", "trunc", "rint")
]


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, len(APPROXIMATE), 20))
def test_functions_of_the_c_library_agree_to_the_last_places(first, tmp_path):
    functions = APPROXIMATE[first : first + 20]
    # numba 0.68 cannot compile np.exp2 or np.log2 of both precisions in one function.
    for names in (["k", "x"], ["x4", "y4"]):
        check([text for function in functions for text in calls(function, names)], tmp_path, units=4)


@pytest.mark.slow
def test_functions_of_complex_numbers_agree_to_the_last_places(tmp_path):
    names = ["sqrt", "exp", "log", *(f"{arc}{name}" for arc in ("", "arc") for name in ("sin", "cos", "tan"))]
    names += [f"{arc}{name}" for arc in ("", "arc") for name in ("sinh", "cosh", "tanh")]
    check(
        [f"np.{name}({value} + 0.25)" for name in names for value in ("z", "z8")],
        tmp_path,
        units=64,
        whole=True,
    )


def calls(function, names):
    """Calls of ``function`` on all the names it may take."""
    name = function.replace("numpy.", "np.")
    arity = FUNCTIONS[function].arguments.start
    if arity == 1:
        return [f"{name}({value})" for value in names]
    return [f"{name}({left}, {right})" for left, right in pairs_of(names)]


TARGETS = ["bool", "int8", "int32", "int64", "uint32", "uint64", "float32", "float64"]
WHOLE = ["p", "b1", "k", "i8", "u4", "u", "2"]
FRACTIONS = ["x4 if abs(x4) < 100 else 1.5", "x if abs(x) < 100 else -1.5", "0.5"]


def check_bodies(texts, outputs, folder, **options):
    Batch([body(text, {**TYPES, **outputs, "s": 0, "r": 0}) for text in texts], outputs, **options).compare(
        folder
    )


def stored_values(symbol, dtype):
    """Values of which numba says what it stores: a fraction beyond the target's range is open."""
    if symbol in ("<<", ">>"):
        return [] if "float" in dtype else ["(k & 7)", "2"]
    if symbol in ("&", "|", "^"):
        return [] if "float" in dtype else WHOLE
    if symbol == "/" and "float" not in dtype:
        return ["2", "4.0", "-2" if dtype[0] == "i" else "3"]
    return WHOLE if dtype.startswith("uint") else WHOLE + FRACTIONS


@pytest.mark.slow
@pytest.mark.parametrize("symbol", ["", "+", "-", "*", "/", "//", "%", "&", "|", "^", "<<", ">>"])
def test_assignments_store_what_numba_stores(symbol, tmp_path):
    texts, outputs = [], {}
    for dtype in TARGETS:
        for value in stored_values(symbol, dtype):
            name = f"t{len(outputs)}"
            outputs[name] = dtype
            texts.append(f"{name} {symbol}= {value}")
    check_bodies(texts, outputs, tmp_path)


@pytest.mark.slow
def test_powers_and_complex_numbers_are_assigned(tmp_path):
    texts = [
        "t0 **= 2",
        "t1 **= 3",
        "t2 **= 2",
        "t3 += z",
        "t4 *= z8",
        "t5 /= zz + 10",
        "t6 -= k",
        "t7 = z8",
        "t8 = x",
        "t9 *= 2",
    ]
    dtypes = [
        "float64",
        "int64",
        "float32",
        "complex128",
        "complex64",
        "complex128",
        "complex64",
        "complex128",
        "complex64",
        "complex64",
    ]
    check_bodies(texts, {f"t{index}": dtype for index, dtype in enumerate(dtypes)}, tmp_path)


def test_branches_and_loops_run_as_in_numba(tmp_path):
    texts = [
        "if x > 0 and y:\n    t0 = 1\nelif x < y or not k:\n    t0 = 2\nelse:\n    t0 = 3",
        "if x:\n    if y > 0:\n        t1 = x\n    else:\n        t1 = y",
        "t2 = 0\nfor c in range(k):\n    t2 += c * x4",
        "t3 = 0\nfor c in range(m, k):\n    t3 += c\n    for d in range(c, -3, -2):\n        t3 -= d",
        "t4 = 0\nfor c in range(k, b1, v1 + 1):\n    t4 = t4 * 3 + c",
        "t5 = 0\nfor c in range(b1, k, (b1 if b1 else 1)):\n    t5 = t5 * 3 + c",
        "t6 = 5\nfor c in range(t6):\n    t6 += 1",
        "s = 0\nfor c in range(3):\n    s += x4\nt7 = s",
        "s = 1.0\nr = k\nt8 = s * r",
    ]
    dtypes = ["int64", "float64", "float64", "int64", "int64", "int64", "int64", "float64", "float64"]
    check_bodies(texts, {f"t{index}": dtype for index, dtype in enumerate(dtypes)}, tmp_path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x = z", "A `complex128` value cannot be stored where `float64` is expected."),
        ("x *= z", "A `complex128` value cannot be stored where `float64` is expected."),
        ("x += np.exp2(z)", "`numpy.exp2` of `complex128` has no counterpart in C."),
        ("x = np.fmod(k, m)", "`numpy.fmod` of `int32` has no counterpart in C."),
        ("x = z < zz", "The operator `<` has no meaning for `complex128` and `complex128`."),
    ],
)
def test_what_c_cannot_express_is_refused_where_it_stands(text, message):
    place = Span(7, 1, 7, 2)

    def placed(node):
        node = rebuild(node, placed)
        return replace(node, span=place) if isinstance(node, Element) else node

    with pytest.raises(CodegenError) as caught:
        printer().instructions([placed(part) for part in body(text, TYPES)], 0)
    assert caught.value.message == message
    assert caught.value.span == place


@pytest.mark.slow
@settings(max_examples=3, phases=[Phase.generate], suppress_health_check=list(HealthCheck))
@given(nodes=st.lists(expressions(), min_size=30, max_size=30))
def test_random_expressions_mean_what_they_mean_in_numba(nodes, tmp_path_factory):
    outputs = {f"out{index}": typed_name(node) for index, node in enumerate(nodes)}
    bodies = [[Assign(Element(name), node)] for name, node in zip(outputs, nodes, strict=True)]
    Batch(bodies, outputs).compare(tmp_path_factory.mktemp("random"))


def typed_name(node):
    return infer(node, Environment(TYPES)).name


READABLE = {
    "A": "float64",
    "B": "float32",
    "K": "int32",
    "L": "int64",
    "U": "uint64",
    "F": "bool",
    "Z": "complex128",
    "s": "float64",
}

TYPICAL = """
A[i, j] + A[i, j - 1] * 0.5
(A[i - 1] + A[i] + A[i + 1]) / 3
A[i] - (A[j] - A[k])
alpha * A[i] * (B[j] + 1)
A[i] ** 2 + A[j] ** 3
(A[i] - A[j]) ** 2
A[i] ** 0.5
L[i] // 2 + i % 3
K[i] * K[j] + 1
K[i] / K[j]
1 / n
B[i] * 2
B[i] * np.float32(0.1)
min(A[i], A[j] + 1, 0)
max(L[i], 0)
A[i] if i < j else -A[j]
0 < A[i] <= B[j]
not (F[i] and A[i] > 0) or F[j]
(L[i] & 7) << 2 | K[i]
1 << i
-A[i] - -2.5
U[i] < L[i]
math.exp(-A[i]) + math.sqrt(B[i]) + abs(A[i])
math.floor(A[i]) + int(A[j]) + round(A[k])
np.maximum(B[i], 0)
Z[i] * Z[j] + 1j
abs(Z[i]) + Z[i].real
"""


def subscripted(element, printer):
    return element.array + "".join(f"[{printer.expression(subscript)}]" for subscript in element.subscripts)


def test_typical_expressions_read_well(golden):
    lines = []
    for text in TYPICAL.strip().splitlines():
        shown = CExpressionPrinter(READABLE, {"alpha": "alpha"}, subscripted)
        lines += [text, f"    {shown.expression(expression(text, READABLE))}"]
    golden("\n".join(lines))


def test_typical_bodies_read_well(golden):
    text = """
A[i, j] += A[i, k] * A[k, j]
B[i] += 0.5
B[i] *= 2
K[i] += 1
F[i] |= A[i] > 0
F[i] = A[i]
A[i] /= n
L[i] //= 2
if A[i] > s:
    s = A[i]
elif not F[i]:
    s = max(s, 0.0)
else:
    K[i] = i
for c in range(L[i], L[i + 1]):
    s += A[c]
for c in range(n, 0, -1):
    s -= A[c]
for c in range(0, n, L[i]):
    s -= A[c]
"""
    shown = CExpressionPrinter(READABLE, {}, subscripted)
    golden("\n".join(shown.instructions(body(text, READABLE), 1)))


def test_the_printer_tells_when_the_text_needs_complex_numbers():
    shown = printer()
    shown.expression(expression("x * 2 + abs(k)", TYPES))
    assert not shown.uses_complex
    shown.expression(expression("abs(complex(x)) + 1", TYPES))
    assert shown.uses_complex
