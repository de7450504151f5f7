"""From a call's arguments to the values of parameters, arrays and scalars; mistakes are said before anything runs."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from polyviz.analysis.known_sizes import short_row
from polyviz.analysis.short_rows import TOGETHER, short_rows
from polyviz.errors import ArgumentError, OverlapError
from polyviz.model.exclusion import exclusive
from polyviz.model.expression import Element, walk
from polyviz.model.program import ArrayType
from polyviz.model.scop import fixed_parameters
from polyviz.runtime.bound import Bound
from polyviz.runtime.evaluate import evaluate_integer
from polyviz.runtime.integers import integer
from polyviz.runtime.layouts import layout_of
from polyviz.runtime.named_arguments import NamedArguments
from polyviz.runtime.overlap import is_array, lives_on_device, overlaps_itself, share_memory
from polyviz.runtime.plain_sequences import PlainSequences
from polyviz.runtime.quick_calls import QuickCalls
from polyviz.runtime.residency import device
from polyviz.runtime.rows import rows_of_call

if TYPE_CHECKING:
    import inspect
    from collections.abc import Mapping

    import islpy as isl

    from polyviz.model.scop import Array, Parameter, Scop

SIZES_REMEMBERED = 64
"""How many combinations of sizes a kernel remembers as fitting."""
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

_DTYPE_NAMES = {np.dtype(name): name for name in SUPPORTED_TYPES}


class Binder:
    """Binds calls of one part; built once per kernel. ``signature`` is that of the original function, where known.

    ``on_device`` accepts arrays that live on a CUDA device beside those of NumPy. ``knows_rows``: programs are made for
    the lengths of short rows (:mod:`polyviz.analysis.short_rows`).
    """

    def __init__(
        self,
        scop: Scop,
        signature: inspect.Signature | None = None,
        *,
        on_device: bool = False,
        knows_rows: bool = False,
    ) -> None:
        self.scop = scop
        self.on_device = on_device
        self._short = short_rows(scop) if knows_rows else {}
        self._knows_sizes = knows_rows and bool(fixed_parameters(scop))
        self._named = NamedArguments(scop, signature)
        self.arrays = {array.name: array for array in scop.arrays if array.origin == "argument"}
        self.written = {
            access.array
            for statement in scop.statements
            for access in statement.accesses
            if access.kind == "write"
        }
        ranked = [name for name, array in self.arrays.items() if array.rank]
        self._written_arrays = [name for name in ranked if name in self.written]
        self._conflicts = [pair for pair in combinations(ranked, 2) if not self.written.isdisjoint(pair)]
        self._sequences = PlainSequences(scop, self.written)
        self._points = frozenset(name for name, array in self.arrays.items() if array.is_point)
        self._accepted: dict[tuple[int, ...], None] = {}

    @property
    def signature(self) -> inspect.Signature:
        """That of the original function, or what the part itself has."""
        return self._named.signature

    def quick_calls(self) -> QuickCalls:
        """What recognises calls like those that were bound before; none of them where names take part."""
        ranked = [name for name, array in self.arrays.items() if array.rank]
        parameters = self.signature.parameters.values()
        defaults = [parameter.default for parameter in parameters if parameter.default is not parameter.empty]
        sizes = [one.source.expression for one in self.scop.parameters if one.source.expression is not None]
        telling = [part.array for size in sizes for part in walk(size) if isinstance(part, Element)]
        return QuickCalls(self._named.positional or (), ranked, tuple(self.written), defaults, telling)

    def bind(
        self, arguments: tuple[Any, ...], keywords: Mapping[str, Any], *, overlapping: bool = False
    ) -> Bound:
        """The values of this call.

        Raises ArgumentError for a wrong number, type or rank, OverlapError for arrays that share memory, unless they
        may be ``overlapping``.
        """
        named = self._named.of(arguments, keywords)
        read = {name: self._sequences.array(name, value) for name, value in named.items()}
        given = {name: value if name in self._points else self._value(value) for name, value in read.items()}
        types = self._types(given)
        if not overlapping:
            self._check_overlap(given)
        parameters = self._parameters(given)
        self._check_context(parameters)
        return self._bound(given, parameters, types)

    def retyped(self, bound: Bound) -> Bound:
        """``bound``, a call of the same function, with the types that this part makes of it."""
        own = self._bound(bound.given, self._parameters(bound.given), self._types(bound.given))
        return replace(own, standing=bound.standing)

    def _bound(
        self, given: Mapping[str, Any], parameters: Mapping[str, int], types: Mapping[str, ArrayType]
    ) -> Bound:
        """The call, with the shapes of arrays in rows, which its sizes tell."""
        rows = rows_of_call(self.scop, given, parameters)
        seen = {name: shape or () for name, shape in rows.items() if name in self.arrays}
        known = {name: self._known_row(self.arrays[name], seen[name]) for name in seen if types[name].layout == "C"}
        in_rows = {name: replace(types[name], short=row) for name, row in known.items()}
        return Bound(given, parameters, {**types, **in_rows}, rows=rows)

    def _types(self, given: Mapping[str, Any]) -> dict[str, ArrayType]:
        return {name: self._type(array, given[name]) for name, array in self.arrays.items() if name in given}

    def _value(self, value: Any) -> Any:
        return _of_cupy(value) if self.on_device and lives_on_device(value) else _plain(value)

    @property
    def _where(self) -> str:
        """What messages about a call begin with; a cell is not called."""
        return "" if self.scop.is_cell else f"{self.scop.name}(): "

    def _told(self, sentence: str) -> str:
        """``sentence`` behind the name of the function, or alone."""
        return f"{self._where}{sentence}" if self._where else f"{sentence[0].upper()}{sentence[1:]}"

    def _named_argument(self, name: str) -> str:
        return f"{self._where}{name}"

    def _type(self, array: Array, value: Any) -> ArrayType:
        if array.rank == 0:
            _check_number(self._named_argument(array.name), array.name, value)
            return ArrayType(_scalar_type(self._named_argument(array.name), value), 0)
        self._check_array(array, value)
        layout = layout_of(value)
        known = self._known_row(array, value.shape) if layout == "C" and not array.rows else ()
        return ArrayType(_dtype_name(value.dtype), array.rank, layout, known)

    def _known_row(self, array: Array, shape: tuple[int, ...]) -> tuple[int, ...]:
        """The last extents of ``array`` that its programs are made for."""
        if self._knows_sizes:
            return short_row(shape)
        row = shape[self._short.get(array.name, array.rank) :]
        return row if prod(row) in TOGETHER else ()

    def _check_array(self, array: Array, value: Any) -> None:
        name = self._named_argument(array.name)
        if lives_on_device(value) and not self.on_device:
            raise ArgumentError(
                f"{name} lives on a CUDA device, and this kernel runs on the processor.",
                hint=f"Use the target 'cuda', or pass cupy.asnumpy({array.name}).",
            )
        if not is_array(value):
            raise ArgumentError(
                f"{name} must be a NumPy array with {_dimensions(_rank_outside(array))}, "
                f"not {_kind(value)}.",
                hint=f"Pass np.asarray({array.name})." if isinstance(value, list | tuple) else "",
            )
        if isinstance(value, np.ma.MaskedArray):
            raise ArgumentError(
                f"{name} is a masked array, whose mask the loops would not see.",
                hint=f"Pass {array.name}.filled(value) or {array.name}.data.",
            )
        rank = _rank_outside(array)
        if value.ndim != rank:
            raise ArgumentError(
                f"{name} has {_dimensions(value.ndim)}, but the loops use it with {rank or 'none'}.",
                hint=_as_wide(array.name, value.ndim) if value.ndim > rank > 0 else "",
            )
        if _dtype_name(value.dtype) not in SUPPORTED_TYPES:
            raise ArgumentError(
                f"{name} holds {value.dtype}, which generated code cannot compute with.",
                hint=f"Convert it if it holds numbers, for example with {array.name}.astype(np.float64). Supported: "
                f"{', '.join(SUPPORTED_TYPES)}.",
            )
        if array.dtype == "bool" != _dtype_name(value.dtype):
            raise ArgumentError(
                f"{name} chooses elements here, as an array of truth values does, and it holds {value.dtype}.",
                hint=f"Pass an array of truth values, {array.name} != 0, or compile the function itself, which is read "
                "anew for other arrays.",
            )
        if device.keeps(value):
            self._check_kept(name, value, written=array.name in self.written)
        elif array.name in self.written and not getattr(value.flags, "writeable", True):
            raise ArgumentError(
                f"{name} is written, but the array is read-only.", hint=f"Pass a copy: {array.name}.copy()."
            )

    def _check_kept(self, name: str, value: Any, *, written: bool) -> None:
        """An array that stays on the device is locked on the host, and may be older there."""
        if self.on_device or not (written or device.is_ahead(value)):
            return
        what = "its newest values are there"
        if written:
            what = "this kernel, which runs on the processor, would write it on the host"
        raise ArgumentError(
            f"{name} is kept on the device, and {what}.",
            hint="Release it first: polyviz.device.release(…)."
            if written
            else "Bring them back first: polyviz.device.fetch(…).",
        )

    def _check_overlap(self, given: Mapping[str, Any]) -> None:
        for name in self._written_arrays:
            if overlaps_itself(given[name]):
                raise OverlapError(
                    self._told(f"several elements of {name} share one place in memory, and {name} is written."),
                    span=self.arrays[name].span,
                    text=self.scop.text,
                    reason="An element that is written would change others, which the analysis does not know.",
                    hint=f"Pass a copy: np.ascontiguousarray({name}).",
                )
        for first, second in self._conflicts:
            if share_memory(given[first], given[second]):
                written = " and ".join(name for name in (first, second) if name in self.written)
                raise OverlapError(
                    f"{self._where}{first} and {second} overlap in memory, and "
                    f"{written} {'is' if written in (first, second) else 'are'} written.",
                    span=self.arrays[second].span,
                    text=self.scop.text,
                    reason="The order was proved right for arrays that do not overlap.",
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
        if source.expression is not None:
            return evaluate_integer(source.expression, {**given, **known} if source.reads_numbers else known)
        return integer(self._named_argument(source.name), given[source.name])

    def _check_context(self, parameters: Mapping[str, int]) -> None:
        values = tuple(parameters.values())
        if values in self._accepted:
            return
        if not _contains(self.scop.context, parameters):
            sizes = ", ".join(f"{name} = {value}" for name, value in parameters.items())
            assumed = str(self.scop.context).partition(":")[2].rstrip(" }").strip()
            raise ArgumentError(
                self._told("these sizes are not what the loops assume."),
                reason=f"They assume {assumed}; the call has {sizes}.",
                hint="Pass arrays whose sizes fit together; sizes that were fixed for the analysis have to be these.",
            )
        if len(self._accepted) >= SIZES_REMEMBERED:
            self._accepted.clear()
        self._accepted[values] = None


@exclusive
def _contains(context: isl.Set, parameters: Mapping[str, int]) -> bool:
    import islpy as isl

    point = context
    for position in range(point.dim(isl.dim_type.param)):
        name = str(point.get_dim_name(isl.dim_type.param, position))
        if name in parameters:
            point = point.fix_val(isl.dim_type.param, position, isl.Val(parameters[name]))
    return not point.is_empty()


def _rank_outside(array: Array) -> int:
    """The dimensions of the caller's array."""
    return 0 if array.is_point else 1 if array.rows else array.rank


def _plain(value: Any) -> Any:
    """``value``, a number where it is an array without dimensions."""
    return value[()] if isinstance(value, np.ndarray) and value.ndim == 0 else value


def _dtype_name(dtype: np.dtype[Any]) -> str:
    """The name without byte order; NumPy spells it out anew at every question."""
    return _DTYPE_NAMES.get(dtype) or str(dtype.name)


def _as_wide(name: str, rank: int) -> str:
    """How a program says that an array has ``rank`` dimensions."""
    rest = ", :" * (rank - 1)
    return f"Say so where parts are meant, `{name}[i{rest}]` or `{name}[:{rest}]`; else pass one with fewer."


def _dimensions(rank: int) -> str:
    return f"{rank} dimension" if rank == 1 else f"{rank or 'no'} dimensions"


def _kind(value: object) -> str:
    """What ``value`` is, as a noun."""
    if value is None:
        return "None"
    noun = type(value).__name__
    return f"{'an' if noun[0] in 'aeiouAEIOU' else 'a'} {noun}"


def _check_number(where: str, name: str, value: Any) -> None:
    if isinstance(value, np.ndarray) and value.ndim:
        raise ArgumentError(
            f"{where} must be a number, not an array.",
            reason=f"Nothing subscripts `{name}`, so it is read as a number.",
            hint=f"Write `{name}[:]` or `{name}[i]` where its elements are meant.",
        )


def _scalar_type(name: str, value: Any) -> str:
    """The type of a scalar argument, as numba sees it."""
    if isinstance(value, np.generic) and _dtype_name(value.dtype) in SUPPORTED_TYPES:
        return _dtype_name(value.dtype)
    if isinstance(value, int) and not isinstance(value, bool):
        return _integer_type(name, value)
    for kind, dtype in ((bool, "bool"), (float, "float64"), (complex, "complex128")):
        if isinstance(value, kind):
            return dtype
    raise ArgumentError(f"{name} must be a number, not {_kind(value)}.")


def _integer_type(name: str, value: int) -> str:
    if -(2**63) <= value < 2**63:
        return "int64"
    if 0 <= value < 2**64:
        return "uint64"
    raise ArgumentError(f"{name} is {value}, which does not fit into 64 bits.")


def _of_cupy(value: Any) -> Any:
    """An array on a device with the attributes that CuPy's have, in the same memory."""
    if hasattr(getattr(value, "flags", None), "c_contiguous"):
        return value
    import cupy

    return cupy.asarray(value)
