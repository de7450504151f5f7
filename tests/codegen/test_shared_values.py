"""What an assignment asks for several times is found: if it decides something, and is evaluated in any case."""

from __future__ import annotations

from polyviz.codegen.shared_values import share_values
from polyviz.model.expression import (
    Assign,
    Binary,
    Call,
    Compare,
    Conditional,
    Constant,
    Element,
    Expression,
    Logical,
    Name,
)

ROW, COLUMN = Name("i"), Name("j")
WITHIN = Call("max", (ROW, COLUMN))
TARGET = Element("B", (ROW,))


def shared(value: Expression, target: Element = TARGET) -> tuple[dict[str, Expression], Assign]:
    return share_values(Assign(target, value), "shared{}".format, lambda _: False)


def both(one: Expression) -> Expression:
    return Binary("*", one, Element("A", (one,)))


def test_a_choice_has_a_name_where_two_operations_ask_for_it() -> None:
    values, changed = shared(both(WITHIN))
    assert values == {"shared0": WITHIN}
    assert changed == Assign(TARGET, both(Element("shared0")))


def test_subscripts_of_the_target_count() -> None:
    values, changed = shared(WITHIN, Element("B", (WITHIN,)))
    assert values == {"shared0": WITHIN}
    assert changed == Assign(Element("B", (Element("shared0"),)), Element("shared0"))


def test_sums_are_left_to_the_compiler() -> None:
    one = both(Binary("+", ROW, COLUMN))
    assert shared(one) == ({}, Assign(TARGET, one))


def test_values_are_told_in_terms_of_those_before() -> None:
    outer = Call("min", (Binary("+", WITHIN, Constant(1)), WITHIN))
    values, changed = shared(Binary("+", outer, both(outer)))
    inner = Element("shared0")
    assert values == {"shared0": WITHIN, "shared1": Call("min", (Binary("+", inner, Constant(1)), inner))}
    assert changed.value == Binary("+", Element("shared1"), both(Element("shared1")))


def test_what_is_part_of_one_shared_value_only_has_no_name() -> None:
    outer = Call("min", (WITHIN, COLUMN))
    assert list(shared(both(outer))[0].values()) == [outer]


def test_what_only_one_side_of_a_choice_asks_for_is_not_computed_before() -> None:
    unsafe = both(Element("A", (ROW,), affine=False))
    condition = Compare(("<",), (ROW, COLUMN))
    for value in (Conditional(condition, unsafe, Constant(0)), Logical("and", (condition, unsafe))):
        assert shared(value) == ({}, Assign(TARGET, value))
    assert shared(Compare(("<", "<"), (ROW, COLUMN, unsafe)))[0] == {}


def test_what_a_condition_asks_for_as_well_is_computed_before() -> None:
    inside = Element("A", (ROW,), affine=False)
    value = Conditional(Compare(("<",), (inside, COLUMN)), inside, Constant(0))
    assert list(shared(value)[0].values()) == [inside]


def test_equal_numbers_of_other_types_stay_apart() -> None:
    pairs = [(Constant(1), Constant(1.0)), (Constant(1), Constant(True)), (Constant(0.0), Constant(-0.0))]
    for one, other in pairs:
        value = Binary("+", Call("max", (ROW, one)), Call("max", (ROW, other)))
        assert shared(value)[0] == {}
