"""What may be assumed of the parameters: shapes are not negative, and the sizes that the user fixed."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from typing import TYPE_CHECKING

import islpy as isl

from polyviz.errors import OptionError
from polyviz.model.expression import Binary, Call, Constant, Expression, Name, Unary

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from polyviz.model.scop import Parameter

_OPERATIONS: dict[str, Callable[[int, int], int]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "//": operator.floordiv, "%": operator.mod,
    "**": operator.pow,
}  # fmt: skip


def parameter_space(parameters: Iterable[Parameter]) -> isl.Space:
    """The space of all parameters, in order."""
    names = [parameter.name for parameter in parameters]
    return isl.Space.create_from_names(isl.DEFAULT_CONTEXT, set=[], params=names).params()


def assumed(parameters: Iterable[Parameter], sizes: Mapping[str, int] | None = None) -> isl.Set:
    """The values that the parameters may have.

    >>> from polyviz.model.scop import Parameter, ParameterSource
    >>> print(assumed([Parameter("n", ParameterSource("shape", "A"))]))
    [n] -> {  : n >= 0 }
    """
    known = list(parameters)
    result = isl.Set.universe(parameter_space(known))
    for position, parameter in enumerate(known):
        if parameter.source.kind == "shape":
            result = result.lower_bound_val(isl.dim_type.param, position, isl.Val(0))
        value = _value(parameter, sizes or {})
        if value is not None:
            result = result.fix_val(isl.dim_type.param, position, isl.Val(value))
    return result


def given_sizes(sizes: Mapping[str, int] | None) -> dict[str, int]:
    """``sizes`` as a dictionary of its own; raises ``OptionError`` for what is none.

    >>> given_sizes({"n": 100}), given_sizes(None)
    ({'n': 100}, {})
    """
    if sizes is not None and not isinstance(sizes, Mapping):
        raise OptionError(f"Sizes are names and values such as {{'n': 100}}, not {sizes!r}.")
    return dict(sizes or {})


def check_sizes(parameters: Iterable[Parameter], sizes: Mapping[str, int]) -> None:
    """Raise ``OptionError`` for a size that is no parameter of the program, no integer, or no extent of an array."""
    kinds = {parameter.name: parameter.source.kind for parameter in parameters}
    for name, value in sizes.items():
        if name not in kinds:
            listed = ", ".join(sorted(kinds)) or "none"
            raise OptionError(
                f"`{name}` in sizes is no parameter of the program; its parameters are: {listed}."
            )
        if not isinstance(value, int) or isinstance(value, bool):
            raise OptionError(f"The size of `{name}` has to be an integer, not {value!r}.")
        if value < 0 and kinds[name] == "shape":
            raise OptionError(f"`{name}` is the extent of an array, which is not negative, and not {value}.")


def _value(parameter: Parameter, sizes: Mapping[str, int]) -> int | None:
    if parameter.name in sizes:
        return sizes[parameter.name]
    expression = parameter.source.expression
    return None if expression is None else evaluated(expression, sizes)


def evaluated(expression: Expression, sizes: Mapping[str, int]) -> int | None:
    """The value of a derived parameter when the sizes tell it.

    >>> evaluated(Binary("*", Name("n"), Constant(3)), {"n": 4})
    12
    """
    match expression:
        case Constant(int() as value):
            return value
        case Name(name):
            return sizes.get(name)
        case Unary("-", operand):
            inner = evaluated(operand, sizes)
            return None if inner is None else -inner
        case Binary(symbol, left, right) if symbol in _OPERATIONS:
            first, second = evaluated(left, sizes), evaluated(right, sizes)
            return None if first is None or second is None else _OPERATIONS[symbol](first, second)
        case Call("int", (Binary("/", left, right),)):
            first, second = evaluated(left, sizes), evaluated(right, sizes)
            return None if first is None or not second else int(first / second)
        case _:
            return None
