"""What printers of register tiles have in common."""

from __future__ import annotations

from polyviz.codegen.register_tiles import added_products
from polyviz.model.expression import Binary, Constant, Expression, Name
from polyviz.model.plan import SUM

PRODUCTS = [Binary("*", Name(f"row{number}"), Name(f"column{number}")) for number in range(3)]


def test_each_product_is_added_with_its_own_sign() -> None:
    first, second, third = PRODUCTS
    value = Binary("-", Binary("+", first, second), third)
    assert added_products(Binary("-", Name(SUM), value)) == [
        Binary("-", Name(SUM), first),
        Binary("-", Name(SUM), second),
        Binary("+", Name(SUM), third),
    ]


def test_what_does_more_than_add_stays_whole() -> None:
    whole: list[Expression] = [
        PRODUCTS[0],
        Binary("*", Name(SUM), PRODUCTS[0]),
        Binary("+", Name(SUM), PRODUCTS[0]),
        Binary("+", Name(SUM), Binary("+", PRODUCTS[0], Binary("*", Name(SUM), Constant(2.0)))),
    ]
    assert [added_products(update) for update in whole] == [[update] for update in whole]
