"""Truth values in expressions: what is left of conditions of which a part is decided."""

from __future__ import annotations

from polyviz.model.expression import Compare, Constant, Expression, Logical


def joined(operator: str, operands: tuple[Expression, ...]) -> Expression:
    """``operands`` joined by ``and`` or ``or``: where all are truth values, without those that decide nothing.

    >>> less = Compare(("<",), (Constant(1), Constant(2)))
    >>> joined("and", (Constant(True), less)) == less, joined("or", (less, Constant(True)))
    (True, Constant(value=True))
    """
    deciding = operator == "or"
    if not all(map(is_truth, operands)):
        return Logical(operator, operands)
    if Constant(deciding) in operands:
        return Constant(deciding)
    left = tuple(one for one in operands if not is_decided(one))
    if not left:
        return Constant(not deciding)
    return left[0] if len(left) == 1 else Logical(operator, left)


def is_decided(node: Expression) -> bool:
    """Whether ``node`` is ``True`` or ``False``."""
    return isinstance(node, Constant) and isinstance(node.value, bool)


def is_truth(node: Expression) -> bool:
    """Whether ``node`` is true or false, and no number."""
    if isinstance(node, Logical):
        return all(map(is_truth, node.operands))
    return isinstance(node, Compare) or is_decided(node)
