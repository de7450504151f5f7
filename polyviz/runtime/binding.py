"""From a call's arguments to the values of parameters, arrays and scalars; everything wrong is said before anything runs."""

from __future__ import annotations

import inspect
import operator
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from polyviz.errors import ArgumentError, OverlapError
from polyviz.model.program import ArrayType
from polyviz.runtime.evaluate import evaluate_integer

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from polyviz.model.scop import Array, Parameter, Scop

SUPPORTED_TYPES = (
    "bool",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "float32",
    "float64",
    "complex64",
    "complex128",
)


@dataclass(frozen=True, slots=True)
class Bound:
    """One call's values: ``given`` by argument name, ``parameters`` as integers, ``types`` of what was given."""

    given: Mapping[str, Any]
    parameters: Mapping[str, int]
    types: Mapping[str, ArrayType]

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """The shapes of the arrays that were passed."""
        return {name: value.shape for name, value in self.given.items() if isinstance(value, np.ndarray)}

    @property
    def key(self) -> tuple[tuple[str, ArrayType], ...]:
        """What the generated code is specialised on."""
        return tuple(self.types.items())


class Binder:
    """Binds calls of one part; built once per kernel."""

    def __init__(self, scop: Scop) -> None:
        self.scop = scop
        self.signature = _signature(scop)
        self.arrays = {array.name: array for array in scop.arrays if array.origin == "argument"}
        self.written = {
            access.array
            for statement in scop.statements
            for access in statement.accesses
            if access.kind == "write"
        }

    def bind(self, arguments: tuple[Any, ...], keywords: Mapping[str, Any]) -> Bound:
        """The values of this call.

        Raises ArgumentError for a wrong number, type or rank, OverlapError for arrays that share memory.
        """
        try:
            bound = self.signature.bind(*arguments, **keywords)
        except TypeError as error:
            raise ArgumentError(f"{self.scop.name}(): {error}.", hint=f"Its signature is {self.signature}.") from None
        bound.apply_defaults()
        given = dict(bound.arguments)
        types = {name: self._type(array, given[name]) for name, array in self.arrays.items() if name in given}
        self._check_overlap(given)
        parameters = self._parameters(given)
        self._check_context(parameters)
        return Bound(given, parameters, types)

    def _type(self, array: Array, value: Any) -> ArrayType:
        if array.rank == 0:
            return ArrayType(_scalar_type(array.name, value), 0)
        self._check_array(array, value)
        layout: Literal["C", "A"] = "C" if value.flags.c_contiguous else "A"
        return ArrayType(value.dtype.name, array.rank, layout)

    def _check_array(self, array: Array, value: Any) -> None:
        if not isinstance(value, np.ndarray):
            kind = type(value).__name__
            raise ArgumentError(
                f"{self.scop.name}(): {array.name} must be a NumPy array with {_dimensions(array.rank)}, not a {kind}.",
                hint=f"Pass np.asarray({array.name})." if isinstance(value, list | tuple) else "",
            )
        if value.ndim != array.rank:
            raise ArgumentError(
                f"{self.scop.name}(): {array.name} has {_dimensions(value.ndim)}, "
                f"but the loops use it with {array.rank}."
            )
        if value.dtype.name not in SUPPORTED_TYPES:
            raise ArgumentError(
                f"{self.scop.name}(): {array.name} holds {value.dtype}, which generated code cannot compute with.",
                hint=f"Supported: {', '.join(SUPPORTED_TYPES)}.",
            )
        if array.name in self.written and not value.flags.writeable:
            raise ArgumentError(f"{self.scop.name}(): {array.name} is written, but the array is read-only.")

    def _check_overlap(self, given: Mapping[str, Any]) -> None:
        arrays = [(name, given[name]) for name, array in self.arrays.items() if array.rank and name in given]
        for name, value in arrays:
            if name in self.written and _overlaps_itself(value):
                raise OverlapError(
                    f"{self.scop.name}(): several elements of {name} share one place in memory, and {name} is written.",
                    hint=f"Pass a copy: np.ascontiguousarray({name}).",
                )
        for (first, one), (second, other) in combinations(arrays, 2):
            if (first in self.written or second in self.written) and np.shares_memory(one, other):
                raise OverlapError(
                    f"{self.scop.name}(): {first} and {second} overlap in memory, and "
                    f"{' and '.join(name for name in (first, second) if name in self.written)} is written.",
                    reason="the order was proved right for arrays that do not overlap",
                    hint=f"Pass a copy of one of them, for example {second}.copy().",
                )

    def _parameters(self, given: Mapping[str, Any]) -> dict[str, int]:
        values: dict[str, int] = {}
        for parameter in self.scop.parameters:
            values[parameter.name] = self._parameter(parameter, given, values)
        return values

    def _parameter(self, parameter: Parameter, given: Mapping[str, Any], known: Mapping[str, int]) -> int:
        source = parameter.source
        if source.kind == "shape":
            return int(given[source.name].shape[source.axis])
        if source.kind == "argument":
            return _integer(self.scop.name, source.name, given[source.name])
        return evaluate_integer(source.expression, known)

    def _check_context(self, parameters: Mapping[str, int]) -> None:
        import islpy as isl

        point = self.scop.context
        for position in range(point.dim(isl.dim_type.param)):
            name = point.get_dim_name(isl.dim_type.param, position)
            if name in parameters:
                point = point.fix_val(isl.dim_type.param, position, isl.Val(parameters[name]))
        if point.is_empty():
            sizes = ", ".join(f"{name} = {value}" for name, value in parameters.items())
            raise ArgumentError(
                f"{self.scop.name}(): this kernel was made for other sizes.",
                reason=f"it assumes {self.scop.context}, the call has {sizes}",
                hint="Compile without fixed sizes, or for these.",
            )


def _signature(scop: Scop) -> inspect.Signature:
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    return inspect.Signature(
        [
            inspect.Parameter(
                argument.name, kind, default=argument.default if argument.has_default else inspect.Parameter.empty
            )
            for argument in scop.arguments
        ]
    )


def _dimensions(rank: int) -> str:
    return f"{rank} dimension" if rank == 1 else f"{rank} dimensions"


def _scalar_type(name: str, value: Any) -> str:
    """The type of a scalar argument, as numba sees it."""
    if isinstance(value, np.generic | np.ndarray) and value.ndim == 0 and value.dtype.name in SUPPORTED_TYPES:
        return str(value.dtype.name)
    for kind, dtype in ((bool, "bool"), (int, "int64"), (float, "float64"), (complex, "complex128")):
        if isinstance(value, kind):
            return dtype
    raise ArgumentError(f"{name} must be a number, not a {type(value).__name__}.")


def _integer(function: str, name: str, value: Any) -> int:
    try:
        return operator.index(value)
    except TypeError:
        raise ArgumentError(
            f"{function}(): {name} is used as a size or bound and must be an integer, not {value!r}.",
        ) from None


def _overlaps_itself(array: NDArray[Any]) -> bool:
    """Whether two different subscripts reach the same memory (broadcast views, overlapping windows)."""
    if not array.size:
        return False
    axes = sorted(
        (abs(stride), extent) for stride, extent in zip(array.strides, array.shape, strict=True) if extent > 1
    )
    reach = array.itemsize
    for stride, extent in axes:
        # Sufficient and, for the views NumPy makes by slicing, exact: each axis steps over all inner ones.
        if stride < reach:
            return True
        reach += stride * (extent - 1)
    return False
