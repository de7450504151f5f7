"""Affine readings agree with Python's integers, negative ones included; the rest is refused with a reason."""

from __future__ import annotations

import islpy as isl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from polyviz.frontend.affine import AffineReader, NotAffine
from polyviz.frontend.parameters import ParameterTable
from polyviz.frontend.spelling import spelled
from polyviz.model.expression import (
    Binary,
    Call,
    Compare,
    Conditional,
    Constant,
    Element,
    Expression,
    Logical,
    Name,
    Unary,
)
from tests.interpreter import Evaluator, fixed, points_of

SMALL = st.integers(-7, 7)
DIVISOR = st.sampled_from([-4, -3, -1, 1, 2, 3, 5])


def compound(inner: st.SearchStrategy[Expression]) -> st.SearchStrategy[Expression]:
    comparison = st.builds(
        lambda operator, left, right: Compare((operator,), (left, right)),
        st.sampled_from(["<", "<=", ">", ">=", "==", "!="]),
        inner,
        inner,
    )
    condition = st.one_of(
        comparison,
        comparison.map(lambda operand: Unary("not", operand)),
        st.builds(
            lambda word, a, b: Logical(word, (a, b)), st.sampled_from(["and", "or"]), comparison, comparison
        ),
    )
    return st.one_of(
        st.builds(Binary, st.sampled_from("+-"), inner, inner),
        st.builds(lambda part, factor: Binary("*", part, Constant(factor)), inner, SMALL),
        st.builds(
            lambda operator, part, divisor: Binary(operator, part, Constant(divisor)),
            st.sampled_from(["//", "%"]),
            inner,
            DIVISOR,
        ),
        st.builds(lambda name, a, b: Call(name, (a, b)), st.sampled_from(["min", "max"]), inner, inner),
        inner.map(lambda part: Call("abs", (part,))),
        inner.map(lambda part: Unary("-", part)),
        inner.map(lambda part: Unary("~", part)),
        inner.map(lambda part: Binary("&", part, Constant(3))),
        inner.map(lambda part: Binary(">>", part, Constant(1))),
        st.builds(
            lambda name, part, divisor: Call(name, (Binary("/", part, Constant(divisor)),)),
            st.sampled_from(["int", "math.floor", "math.ceil"]),
            inner,
            st.integers(1, 4),
        ),
        st.builds(Conditional, condition, inner, inner),
    )


INTEGERS = st.recursive(
    st.one_of(SMALL.map(Constant), st.sampled_from([Name("i"), Name("j"), Name("n")])), compound, max_leaves=5
)


def reader() -> AffineReader:
    table = ParameterTable(())
    table.argument("n")
    return AffineReader(("i", "j"), table)


@given(INTEGERS, SMALL, SMALL, SMALL)
@settings(max_examples=300)
def test_value_is_pythons(expression: Expression, i: int, j: int, n: int) -> None:
    value = isl.Map.from_pw_aff(reader().value(expression))
    for position, coordinate in enumerate((i, j)):
        value = value.fix_val(isl.dim_type.in_, position, isl.Val(coordinate))
    found = points_of(fixed(value, {"n": n}).range())
    assert found == [(Evaluator({"i": i, "j": j, "n": n}, {}).value(expression),)]


@pytest.mark.parametrize(
    ("expression", "reason"),
    [
        (Binary("*", Name("i"), Name("j")), "the product of `i` and `j` is not affine"),
        (Binary("*", Name("i"), Name("n")), "the product of `i` and `n` is not affine"),
        (Element("k", (Name("i"),)), "`k[i]` depends on data"),
        (Binary("/", Name("i"), Constant(2)), "`i / 2` is not affine"),
        (Constant(0.5), "`0.5` is no integer"),
        (Constant(2**63), f"`{2**63}` is too large"),
        (Name("k"), "`k` is the variable of a loop whose range depends on data"),
        (Binary("%", Name("i"), Name("n")), "`i % n` is affine only with a constant on the right"),
    ],
    ids=lambda part: spelled(part) if isinstance(part, Expression) else None,
)
def test_reason(expression: Expression, reason: str) -> None:
    with pytest.raises(NotAffine) as caught:
        reader().value(expression)
    assert caught.value.reason == reason


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        (Compare(("<",), (Name("i"), Binary("/", Name("n"), Constant(2)))), "{ [i, j] : 2i < n }"),
        (Compare((">=",), (Name("i"), Binary("*", Constant(0.5), Name("n")))), "{ [i, j] : 2i >= n }"),
        (Compare(("<",), (Name("i"), Constant(1.5))), "{ [i, j] : i <= 1 }"),
        (Compare(("<", "<="), (Constant(0), Name("i"), Name("j"))), "{ [i, j] : 0 < i <= j }"),
        (Name("i"), "{ [i, j] : i != 0 }"),
        (Constant(True), "{ [i, j] }"),
        (Constant(False), "{ [i, j] : false }"),
    ],
    ids=lambda part: spelled(part) if isinstance(part, Expression) else None,
)
def test_condition(condition: Expression, expected: str) -> None:
    assert reader().condition(condition).is_equal(isl.Set(f"[n] -> {expected}"))


def test_sums_of_thirds_are_rounded_by_python() -> None:
    third = Binary("/", Name("n"), Constant(3))
    with pytest.raises(NotAffine, match="sums of fractions are rounded"):
        reader().condition(Compare(("<",), (Name("i"), Binary("+", third, third))))


def test_product_of_parameters_becomes_one() -> None:
    table = ParameterTable(())
    product = Binary("*", table.argument("n"), table.argument("m"))
    value = AffineReader(("i",), table).value(Binary("+", product, Name("i")))
    assert str(value) == "[n_times_m] -> { [i] -> [(n_times_m + i)] }"
    assert [parameter.source.kind for parameter in table.parameters] == ["argument", "argument", "expression"]


@pytest.mark.parametrize("operator", ["//", "%"])
@pytest.mark.parametrize("shift", [-1, 0, 1])
def test_one_period_around_a_parameter(operator: str, shift: int) -> None:
    table = ParameterTable(())
    n = table.argument("n")
    domain = isl.Set("[n] -> { [i] : 0 <= i < n }")
    affine = AffineReader(("i",), table).at(domain)
    expression = Binary(operator, Binary("+", Name("i"), Constant(shift)), n)
    value = isl.Map.from_pw_aff(affine.value(expression)).intersect_domain(domain)
    for size in (1, 2, 5):
        for i in range(size):
            found = points_of(fixed(value.fix_val(isl.dim_type.in_, 0, isl.Val(i)), {"n": size}).range())
            assert found == [(Evaluator({"i": i, "n": size}, {}).value(expression),)]
