"""Whole-array values by the rule for arrays: ``P / 3`` of single precision stays single.

NumPy and numba find the type of an array by the universal function that computes it, not as they find that of a number:
to NumPy a Python number beside an array counts for nothing, numba takes it as one of 64 bits. Where both come to the
same type at every step of a value, it is computed in that type, as NumPy does. Where they do not, or where narrow whole
numbers wrap around in NumPy and numba goes on with more bits, the value has no clear type.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import reduce
from typing import TYPE_CHECKING

import numpy as np

from polyviz.codegen import dtypes
from polyviz.codegen.dtypes import BOOL, INT64, Signature, Type, numpy_name, unify
from polyviz.codegen.functions import FUNCTIONS, signature
from polyviz.codegen.typing import Environment, infer
from polyviz.codegen.wide import EITHER, STRONG, UFUNCS, WEAK_ONLY, Wide, combined, resolutions
from polyviz.errors import CodegenError
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
    Zero,
    children,
    walk,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

_SIGNS = {"-": "negative", "+": "positive", "~": "invert"}
_WRAPPING = frozenset({"add", "subtract", "multiply", "negative", "power", "left_shift", "square"})
"""What may need more bits than its operands have."""
_MODULAR = frozenset({"add", "subtract", "multiply", "negative", "invert", "bitwise_and", "bitwise_or", "bitwise_xor"})
"""Functions whose low bits do not depend on the width they are computed in."""
_PYTHON = ("bool", "int64", "float64", "complex128")
"""Types of numbers that Python has itself."""


class UnclearTypeError(CodegenError):
    """NumPy makes an array of the type ``numpy`` of a value, numba one of the type ``numba``; empty: none, or other
    numbers of the same type."""

    def __init__(self, numpy: str = "", numba: str = "") -> None:
        """Remember the two types."""
        super().__init__(f"NumPy: {numpy}, numba: {numba}.")
        self.numpy, self.numba = numpy, numba


@dataclass(frozen=True, slots=True)
class Leaves:
    """What the names in a value are: ``types`` of arrays and scalars, the ``iterators`` of the cells that are computed,
    the ``arrays``, and the ``plain`` scalars, which hold numbers of Python."""

    types: Mapping[str, str]
    iterators: frozenset[str]
    arrays: frozenset[str]
    plain: frozenset[str]


def by_array_rules(value: Expression, leaves: Leaves) -> Expression:
    """``value`` with conversions to the types in which NumPy and numba agree; raises ``UnclearTypeError`` otherwise.

    >>> leaves = Leaves({"P": "float32"}, frozenset("i"), frozenset("P"), frozenset())
    >>> by_array_rules(Binary("/", Element("P", (Name("i"),)), Constant(3)), leaves).right
    Call(function='numpy.float32', arguments=(Constant(value=3),))
    """
    return _Reader(leaves, Environment(leaves.types)).value(value).wide.node


@dataclass(frozen=True, slots=True)
class _Part:
    """A value that is read: ``is_array`` tells that it differs from cell to cell, ``wraps`` that NumPy may have cut it
    off to fewer bits than numba computes it in."""

    wide: Wide
    is_array: bool = False
    wraps: bool = False


@dataclass(frozen=True, slots=True)
class _Reader:
    leaves: Leaves
    environment: Environment

    def value(self, node: Expression) -> _Part:
        if isinstance(node, Compare | Logical) and infer(node, self.environment) == BOOL:
            return _Part(Wide(node, BOOL, BOOL, STRONG), is_array=self._has_cells(node))
        if isinstance(node, Element | Name | Constant):
            return self._leaf(node)
        if not self._has_cells(node):
            return self._number(node)
        match node:
            case Conditional():
                return self._chosen(node)
            case Call(function, (argument,)) if FUNCTIONS[function].kind == "cast":
                return self._cast(node, self.value(argument))
        return self._computed(node, _ufunc_of(node))

    def _has_cells(self, node: Expression) -> bool:
        return any(isinstance(part, Element) and self._is_cell(part) for part in walk(node))

    def _is_cell(self, element: Element) -> bool:
        inside = (part for subscript in element.subscripts for part in walk(subscript))
        return any(isinstance(part, Name) and part.name in self.leaves.iterators for part in inside)

    def _leaf(self, node: Element | Name | Constant) -> _Part:
        kind = infer(node, self.environment)
        if not isinstance(node, Element) or node.array in self.leaves.plain:
            return _Part(Wide(node, kind, kind, WEAK_ONLY))
        is_number = node.array not in self.leaves.arrays and kind.name in _PYTHON
        return _Part(Wide(node, kind, kind, EITHER if is_number else STRONG), self._is_cell(node))

    def _number(self, node: Expression) -> _Part:
        """A value without cells, of which numba finds the type as it does for numbers."""
        kind = infer(node, self.environment)
        parts = [self.value(part).wide for part in children(node) if isinstance(part, Expression)]
        is_cast = isinstance(node, Call) and FUNCTIONS[node.function].kind == "cast"
        is_numpy = isinstance(node, Call) and node.function.startswith("numpy.")
        if not is_cast and not all(part.type.name in _PYTHON for part in parts):
            _require_same(_of_numpy(_ufunc_of(node), parts), kind)
        return _Part(Wide(node, kind, kind, STRONG if is_numpy else combined(parts)))

    def _computed(self, node: Expression, ufunc: str) -> _Part:
        """What the universal function ``ufunc`` makes of the operands of ``node``."""
        parts = [self.value(part) for part in children(node) if isinstance(part, Expression)]
        wide = [part.wide for part in parts]
        kinds = tuple(part.type for part in wide)
        result = _of_numba(ufunc, kinds)
        found = _of_numpy(ufunc, wide)
        _require_same(found, result)
        is_cut = any(part.wraps for part in parts)
        if is_cut and not (ufunc in _MODULAR and all(kind == result for kind in kinds)):
            raise UnclearTypeError
        rule, nodes = _rule(node), [part.node for part in wide]
        if rule(kinds).result != result and not result.is_integral:
            kinds = tuple(dtypes.type_named(name) for types in found for name in types[:-1])
            nodes = [_converted(part, kind) for part, kind in zip(wide, kinds, strict=True)]
        made = _with_operands(node, nodes)
        if rule(kinds).result != result:
            made = _cast_to(result, made)
        is_narrow = result.is_integral and result.bits < INT64.bits
        wraps = is_cut or (is_narrow and ufunc in _WRAPPING)
        return _Part(Wide(made, result, result, STRONG), is_array=True, wraps=wraps)

    def _chosen(self, node: Conditional) -> _Part:
        """``np.where``; a ``Zero`` is of the type of the other arm."""
        arms = (node.body, node.otherwise)
        parts = {index: self.value(arm) for index, arm in enumerate(arms) if not isinstance(arm, Zero)}
        wide = [part.wide for part in parts.values()]
        result = reduce(unify, (part.type for part in wide))
        _require_same(_of_numpy("maximum", [wide[0], wide[-1]]), result)
        if any(part.wraps and part.wide.type != result for part in parts.values()):
            raise UnclearTypeError
        body, otherwise = (parts[index].wide.node if index in parts else arm for index, arm in enumerate(arms))
        wraps = any(part.wraps for part in parts.values())
        made = Conditional(node.condition, body, otherwise)
        return _Part(Wide(made, result, result, STRONG), is_array=True, wraps=wraps)

    def _cast(self, node: Call, part: _Part) -> _Part:
        result = infer(node, self.environment)
        is_kept = part.wide.type == result
        if part.wraps and not is_kept:
            raise UnclearTypeError
        made = part.wide.node if is_kept else Call(node.function, (part.wide.node,))
        return _Part(Wide(made, result, result, STRONG), part.is_array, part.wraps)


def _ufunc_of(node: Expression) -> str:
    """The universal function that computes ``node`` of arrays."""
    match node:
        case Unary(operator) if operator in _SIGNS:
            return _SIGNS[operator]
        case Binary(operator):
            return UFUNCS[operator]
        case Call(function) if function.startswith("numpy."):
            name = function.removeprefix("numpy.")
            if isinstance(getattr(np, name, None), np.ufunc):
                return name
    raise UnclearTypeError


def _of_numpy(ufunc: str, parts: Sequence[Wide]) -> set[tuple[str, ...]]:
    """The types in which NumPy may compute ``ufunc``; none where only numbers of Python meet."""
    return {found for found in resolutions(ufunc, parts) if found is not None}


def _of_numba(ufunc: str, kinds: tuple[Type, ...]) -> Type:
    try:
        return signature(f"numpy.{ufunc}", kinds).result
    except CodegenError:
        raise UnclearTypeError from None


def _require_same(found: set[tuple[str, ...]], numba: Type) -> None:
    """Raise unless NumPy computes all that it may meet, ``found``, in one way, with the type that ``numba`` gives."""
    others = {types[-1] for types in found} - {numba.name}
    if others or len(found) > 1:
        raise UnclearTypeError(min(others, default=""), numba.name)


def _rule(node: Expression) -> Callable[[tuple[Type, ...]], Signature]:
    """How the types of numbers follow for the operation of ``node``."""
    match node:
        case Call(function):
            return lambda kinds: signature(function, kinds)
        case Unary(operator):
            return lambda kinds: dtypes.unary(operator, kinds[0])
        case Binary(operator):
            return lambda kinds: dtypes.binary(operator, kinds[0], kinds[1])
    raise TypeError(f"not an operation: {node!r}")


def _converted(part: Wide, target: Type) -> Expression:
    return part.node if part.type == target else _cast_to(target, part.node)


def _cast_to(target: Type, node: Expression) -> Expression:
    return Call(f"numpy.{numpy_name(target.name)}", (node,))


def _with_operands(node: Expression, operands: Sequence[Expression]) -> Expression:
    match node:
        case Unary():
            return replace(node, operand=operands[0])
        case Binary():
            return replace(node, left=operands[0], right=operands[1])
        case Call():
            return replace(node, arguments=tuple(operands))
    raise TypeError(f"not an operation: {node!r}")
