from __future__ import annotations

import itertools
from contextlib import suppress
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from polyviz.codegen.expressions_python import PythonExpressionPrinter
from polyviz.codegen.typing import Environment, infer
from polyviz.codegen.widths import widened
from polyviz.errors import CodegenError
from polyviz.model.expression import Assign, Element, Expression, Name, rebuild
from tests.codegen.differential import TYPES, Batch
from tests.codegen.expression_text import body, expression
from tests.codegen.random_expressions import expressions

MEETING = ["p", "b1", "k", "i8", "u4", "u", "x4", "x", "z8"]


def cells(node: Expression) -> Expression:
    """References to arrays instead of scalars: what NumPy's scalars come from."""
    if isinstance(node, Element):
        return Element(node.array, (Name("n"),))
    return rebuild(node, cells)


def check(nodes, units=0):
    outputs, bodies = {}, []
    for index, node in enumerate(nodes):
        outputs[f"out{index}"] = infer(node, Environment(TYPES)).name
        bodies.append([Assign(Element(f"out{index}", (Name("n"),)), cells(node))])
    Batch(bodies, outputs).compare_python(units)


def typed(texts):
    for text in texts:
        node = expression(text, TYPES)
        with suppress(CodegenError):
            infer(node, Environment(TYPES))
            yield node


@pytest.mark.slow
@pytest.mark.parametrize("symbol", ["+", "-", "*", "/", "//", "%", "&", "|", "^", "<", "=="])
def test_operators_compute_in_numbas_type_under_cpython(symbol):
    names = [name for name in MEETING if symbol != "/" or not name.startswith("z")]
    texts = [f"{left} {symbol} {right}" for left, right in itertools.product(names, [*names, "2", "0.3"])]
    texts += [
        f"{literal} {symbol} {name}" for literal in ("3", "0.1") for name in names if symbol not in "//%"
    ]
    check(typed(texts))


FEW = ["p", "k", "u4", "x4", "x"]


@pytest.mark.slow
def test_functions_and_choices_compute_in_numbas_type_under_cpython():
    texts = [
        f"{name}({left}, {right})"
        for name in ("min", "max")
        for left, right in itertools.combinations(FEW, 2)
    ]
    texts += [f"{left} if p else {right}" for left, right in itertools.permutations(FEW, 2)]
    choices = ["(x4 if q else {})", "({} or x4)", "({} and 2)"]
    texts += [f"{form.format(name)} + {other}" for form in choices for name in FEW for other in ("x4", "0.3")]
    unary = [
        "-{}",
        "+{}",
        "~{}",
        "not {}",
        "abs({})",
        "np.square({})",
        "np.add({}, 0.1)",
        "np.maximum({}, k)",
    ]
    unary += ["np.float32({})", "({}).real", "bool({})", "np.sign({})", "np.isnan({})", "0 < {} <= 0.3"]
    texts += [f"{form.format(name)} * {other}" for form in unary for name in FEW for other in ("0.3", "m")]
    check(typed(texts))


def test_functions_of_math_give_numbas_precision():
    texts = [
        "math.sqrt(abs(x4)) * 0.1",
        "math.floor(k) + m",
        "math.copysign(x4, y4) * 0.1",
        "math.fabs(x4) + x",
        "float(x4) * 0.1",
    ]
    texts += [
        "float(x4) + y4",
        "int(k) * m",
        "complex(x4) * 0.1",
        "complex(x4, 1) * y4",
        "round(k, 1) + x4",
        "round(k) + x4",
    ]
    check(typed(texts))


@pytest.mark.slow
@settings(max_examples=3, phases=[Phase.generate], suppress_health_check=list(HealthCheck))
@given(nodes=st.lists(expressions(), min_size=30, max_size=30))
def test_random_expressions_mean_the_same_under_cpython(nodes):
    check(nodes)


@pytest.mark.slow
def test_assignments_store_what_numba_stores_under_cpython():
    forms = [
        "{} = {}",
        "{} += {}",
        "{} *= {}",
        "{} -= {}",
        "{} /= 2",
        "{} //= 3",
        "{} %= 5",
        "{} += 0.1 * {}",
    ]
    values = ["p", "k", "i8", "u4", "x4 if abs(x4) < 100 else 1.5", "0.1"]
    texts, outputs = [], {}
    for dtype in ("int8", "int32", "int64", "uint32", "float32", "float64", "bool"):
        for form, value in itertools.product(forms, values):
            if dtype not in ("float32", "float64") and (
                "x4" in value or "0.1" in value or "0.1" in form or "/" in form
            ):
                continue
            name = f"t{len(outputs)}"
            outputs[name] = dtype
            texts.append(form.format(name, value))
    bodies = [[cells(part) for part in body(text, {**TYPES, **outputs})] for text in texts]
    Batch(bodies, outputs).compare_python()


@pytest.mark.slow
def test_whole_numbers_wrap_at_the_width_of_their_array():
    forms = [
        "{} = {} * k",
        "{} = {} * 7 + 3",
        "{} += k",
        "{} *= i8",
        "{} -= u4",
        "{} = -{}",
        "{} = abs({}) * k",
        "{} ^= k",
    ]
    texts, outputs = [], {}
    for dtype, form in itertools.product(("int8", "int32", "uint32"), forms):
        name = f"t{len(outputs)}"
        outputs[name] = dtype
        texts.append(form.format(name, name))
    bodies = [[cells(part) for part in body(text, {**TYPES, **outputs})] for text in texts]
    Batch(bodies, outputs, extreme=True).compare_python()


def test_variables_carry_numbas_type_from_statement_to_statement():
    text = "s = x4\ns = s * 0.5\nt0 = s + y4\n"
    bodies = [
        [cells(part) if part.target.array == "t0" else part for part in body(text, {*TYPES, "t0", "s"})]
    ]
    bodies = [[replace(part, value=cells_of_arrays(part.value)) for part in bodies[0]]]
    batch = Batch(bodies, {"t0": "float64"})
    assert batch.scalars == {"s": "float64"}
    batch.compare_python()


def cells_of_arrays(node):
    if isinstance(node, Element):
        return Element(node.array, (Name("n"),)) if node.array in TYPES else Element(node.array)
    return rebuild(node, cells_of_arrays)


READABLE = {"A": "float64", "B": "float32", "K": "int32", "L": "int64", "F": "bool", "s": "float64"}


def test_only_what_numpy_would_narrow_is_converted(golden):
    text = """
A[i] += B[i] * 0.5 + A[i]
B[i] = B[i] * B[j]
B[i] = B[i] * 0.5 + 1
B[i] += 0.5
K[i] = K[i] * K[j] + 1
K[i] = K[i] // 2
K[i] += L[i]
L[i] = K[i] * K[j] + i
L[i] += 1
s += B[i] * A[i]
s = B[i]
s = max(A[i], 0)
s = max(B[i], 0)
if B[i] > 0.1 and F[i]:
    A[K[i] * 2] = math.sqrt(B[i])
for c in range(K[i]):
    A[i] = -F[i]
"""
    nodes = body(text, READABLE)
    printer = PythonExpressionPrinter({}, subscripted)
    golden("\n".join(printer.instructions(widened(nodes, READABLE), 0)))


def subscripted(element, printer):
    inner = ", ".join(map(printer.expression, element.subscripts))
    return f"{element.array}[{inner}]" if inner else element.array


def test_divisors_that_cannot_be_zero_stay_as_they_are():
    nodes = body("A[i] = i / n + 1.0 / (i + 1) + L[i] // n + i % n\nA[i] /= n\nL[i] %= i\n", READABLE)
    printer = PythonExpressionPrinter({}, subscripted)
    plain = printer.instructions(widened(nodes, READABLE, never_zero=lambda _: True), 0)
    assert plain == printer.instructions(nodes, 0)
    careful = printer.instructions(widened(nodes, READABLE, never_zero=lambda node: node != Name("n")), 0)
    assert careful[0] == "A[i] = i / np.float64(n) + 1.0 / (i + 1) + L[i] // n + i % np.int64(n)"
