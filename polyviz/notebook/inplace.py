"""Running the kernel of bare loops on the notebook's own variables, and leaving what Python would leave."""

from __future__ import annotations

import math
import signal
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import islpy as isl
import numpy as np

from polyviz.codegen.calling import handed_back, written_arrays

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, MutableMapping

    from polyviz.model.scop import Scop
    from polyviz.runtime.kernel import Kernel

_AS_NUMBA = ("bool", "int64", "float64", "complex128")
"""Types for which numba, and so this package, hands back Python's own numbers."""


def arguments_of(scop: Scop, namespace: Mapping[str, Any]) -> tuple[Any, ...]:
    """The values that the loops take from the notebook, in the order of ``scop.arguments``."""
    return tuple(
        argument.default
        if argument.has_default and not _is_number(namespace.get(argument.name))
        else namespace[argument.name]
        for argument in scop.arguments
    )


def _is_number(value: object) -> bool:
    return isinstance(value, int | float | complex | np.generic)


def run_in_place(kernel: Kernel, namespace: MutableMapping[str, Any]) -> None:
    """Run on the arrays of ``namespace``; scalars and final loop variables get their new values there.

    Nothing is left half-written: native loops finish before an interrupt counts, interpreted ones are rolled back.
    """
    arguments = arguments_of(kernel.scop, namespace)
    parameters = kernel.bind(arguments, {}, overlapping=True).parameters
    guard = _rolled_back(kernel.scop, namespace) if kernel.target == "python" else _interrupts_later()
    with guard:
        results = kernel(*arguments)
        for name, value in zip(handed_back(kernel.scop), results or (), strict=True):
            if _may_be_written(kernel.scop, name, parameters):
                namespace[name] = _plain(value)
        namespace.update(final_iterators(kernel.scop, parameters))
        namespace.update(exchanged_names(kernel.scop, parameters, namespace))


def exchanged_names(scop: Scop, parameters: Mapping[str, int], namespace: Mapping[str, Any]) -> dict[str, Any]:
    """The arrays by the names that they have after the loops, where some were exchanged step by step."""
    arrays = {name: namespace[name] for one in scop.exchanges for name in one.names}
    for one in scop.exchanges:
        for _ in range((_at(one.steps, parameters) or 0) % math.factorial(len(one.names))):
            arrays |= dict(zip(one.names, [arrays[name] for name in one.values], strict=True))
    return arrays


def _may_be_written(scop: Scop, name: str, parameters: Mapping[str, int]) -> bool:
    """Whether the name is that of a new array, or some instance assigns it for these sizes: an empty loop leaves it."""
    writes = (
        access.relation
        for statement in scop.statements
        for access in statement.accesses
        if access.kind == "write" and access.array == name
    )
    is_made = any(array.creation is not None for array in scop.arrays if array.name == name)
    return is_made or any(not _for_sizes(relation.domain(), parameters).is_empty() for relation in writes)


def _for_sizes(domain: isl.Set, parameters: Mapping[str, int]) -> isl.Set:
    for position in range(domain.dim(isl.dim_type.param)):
        name = domain.get_dim_name(isl.dim_type.param, position)
        domain = domain.fix_val(isl.dim_type.param, position, isl.Val(parameters[str(name)]))
    return domain


def final_iterators(scop: Scop, parameters: Mapping[str, int]) -> dict[str, int]:
    """The loop variables after the loops; one whose loop does not run keeps the value it had, and is left out."""
    values = {}
    for name, expression in scop.final_iterators:
        value = _at(expression, parameters)
        if value is not None:
            values[name] = value
    return values


def _at(expression: isl.PwAff, parameters: Mapping[str, int]) -> int | None:
    """The value of an expression over parameters; None outside of its domain."""
    point = isl.Point.zero(expression.get_domain_space())
    for position in range(expression.dim(isl.dim_type.param)):
        name = expression.get_dim_name(isl.dim_type.param, position)
        point = point.set_coordinate_val(isl.dim_type.param, position, isl.Val(parameters[str(name)]))
    value = expression.eval(point)
    return None if value.is_nan() else int(value.to_python())


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) and value.dtype.name in _AS_NUMBA else value


@contextmanager
def _rolled_back(scop: Scop, namespace: Mapping[str, Any]) -> Iterator[None]:
    backups = {name: namespace[name].copy() for name in written_arrays(scop)}
    try:
        yield
    except BaseException:
        for name, backup in backups.items():
            namespace[name][...] = backup
        raise


@contextmanager
def _interrupts_later() -> Iterator[None]:
    """Hold an interrupt back until the block is done: native code cannot be stopped half-way anyway."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    held: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, _frame: held.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if held:
        raise FinishedError


class FinishedError(KeyboardInterrupt):
    """An interrupt that came while the loops ran in place: they have finished, and everything is as they leave it."""
