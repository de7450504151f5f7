"""Subscripts as a person would write them after iterators were replaced by schedule expressions."""

from __future__ import annotations

from polyviz.model.expression import Binary, Constant, Element, Expression, Name, Node, Unary, rebuild

Terms = dict[str, int]
"""Coefficients by name; the empty name stands for the constant."""


def simplify_subscripts(node: Node) -> Node:
    """``node`` with every affine subscript collected: ``A[(i - 2*t) + 1 - 1]`` becomes ``A[i - 2*t]``.

    >>> i_plus_one_minus_one = Binary("-", Binary("+", Name("i"), Constant(1)), Constant(1))
    >>> simplify_subscripts(Element("A", (i_plus_one_minus_one,))).subscripts
    (Name(name='i'),)
    """
    node = rebuild(node, simplify_subscripts)
    if not isinstance(node, Element):
        return node
    return rebuild(node, _simplified)


def _simplified(subscript: Node) -> Node:
    assert isinstance(subscript, Expression)
    terms = _terms(subscript)
    return subscript if terms is None else _written(terms)


def _terms(node: Expression) -> Terms | None:
    """``node`` as a linear combination of names; None when it is not one."""
    match node:
        case Constant(int(value)) if not isinstance(value, bool):
            return {"": value}
        case Name(name):
            return {name: 1}
        case Unary("-", operand):
            return _scaled(_terms(operand), -1)
        case Binary("+", left, right):
            return _added(_terms(left), _terms(right))
        case Binary("-", left, right):
            return _added(_terms(left), _scaled(_terms(right), -1))
        case Binary("*", Constant(int(factor)), operand) | Binary("*", operand, Constant(int(factor))):
            return _scaled(_terms(operand), factor)
    return None


def _scaled(terms: Terms | None, factor: int) -> Terms | None:
    return None if terms is None else {name: factor * value for name, value in terms.items()}


def _added(left: Terms | None, right: Terms | None) -> Terms | None:
    if left is None or right is None:
        return None
    result = dict(left)
    for name, value in right.items():
        result[name] = result.get(name, 0) + value
    return result


def _written(terms: Terms) -> Expression:
    """Positive terms first, the constant last."""
    named = [(name, value) for name, value in terms.items() if name and value]
    ordered = sorted(named, key=lambda term: term[1] < 0)
    constant = terms.get("", 0)
    result: Expression | None = None
    for name, value in ordered:
        result = _appended(result, _term(name, abs(value)), value < 0)
    if result is None:
        return Constant(constant)
    return result if not constant else _appended(result, Constant(abs(constant)), constant < 0)


def _term(name: str, factor: int) -> Expression:
    return Name(name) if factor == 1 else Binary("*", Constant(factor), Name(name))


def _appended(result: Expression | None, term: Expression, negative: bool) -> Expression:
    if result is not None:
        return Binary("-" if negative else "+", result, term)
    return Unary("-", term) if negative else term
