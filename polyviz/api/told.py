"""What a call tells of the arguments of a function, where its text alone leaves that open."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

from polyviz.api.extracting import part_of
from polyviz.errors import ExtractionError
from polyviz.frontend import ABSENT, Truths, Value, may_be_none

if TYPE_CHECKING:
    import inspect
    from collections.abc import Collection, Mapping

    from polyviz.model.scop import Scop

_LARGEST_VALUE = 1024
"""Blocks and strides are small."""


def ranks_given(
    signature: inspect.Signature | None,
    arguments: tuple[Any, ...],
    keywords: Mapping[str, Any] | None = None,
    asked: Collection[str] = (),
    deciding: Collection[str] = (),
) -> dict[str, int]:
    """The dimensions of the arrays of a call, by argument; none where the call does not fit.

    Those of arguments that are ``asked`` whether they are None are told in any case: ``ABSENT`` where they are. Those
    of truth values are ``Truths``. Arguments that are ``deciding`` are told by their ``Value``, if all are small.

    >>> import inspect, numpy as np
    >>> ranks_given(inspect.signature(lambda A, n, w=None: None), (np.zeros((2, 3)), 4), asked={"w"})
    {'A': 2, 'w': -1}
    """
    if signature is None:
        return {}
    try:
        bound = signature.bind(*arguments, **(keywords or {}))
    except TypeError:
        return {}
    bound.apply_defaults()
    named = bound.arguments
    ranks = {name: _rank(value) for name, value in named.items() if hasattr(value, "dtype")}
    told = {name: ABSENT if named[name] is None else ranks.get(name, 0) for name in named if name in asked}
    return {name: rank for name, rank in ranks.items() if rank} | told | _values(named, deciding)


def _values(named: Mapping[str, Any], deciding: Collection[str]) -> dict[str, Value]:
    values = {name: _value(named.get(name)) for name in deciding}
    small = {name: Value(value) for name, value in values.items() if 0 < value <= _LARGEST_VALUE}
    return small if len(small) == len(values) else {}


def _value(given: Any) -> int:
    """The whole number that was ``given``; 0 for anything else."""
    try:
        return 0 if isinstance(given, bool) or hasattr(given, "__len__") else operator.index(given)
    except TypeError:
        return 0


def _rank(value: Any) -> int:
    rank: int = getattr(value, "ndim", 0)
    return Truths(rank) if value.dtype == bool else rank


def part_of_call(
    source: object,
    signature: inspect.Signature | None,
    arguments: tuple[Any, ...],
    *,
    sizes: Mapping[str, int] | None = None,
    namespace: Mapping[str, Any] | None = None,
    by_values: bool = True,
) -> Scop:
    """The part that a call of ``source`` with ``arguments`` runs; raises ExtractionError.

    ``by_values``: where more is affine for the values of this call, it is the part for those.

    >>> import inspect, numpy as np
    >>> def clear(A, block):
    ...     for i in range(0, len(A), block):
    ...         A[i] = 0.0
    >>> part = part_of_call(clear, inspect.signature(clear), (np.ones(9), 3))
    >>> print(part.statements[0].domain)
    [A_shape_0] -> { S0[i] : (i) mod 3 = 0 and 0 <= i < A_shape_0 }
    """
    asked = may_be_none(source)

    def read(deciding: Collection[str]) -> Scop:
        ranks = ranks_given(signature, arguments, asked=asked, deciding=deciding)
        return part_of(source, sizes=sizes, namespace=namespace, ranks=ranks)

    scop = read(())
    if not (by_values and scop.deciding):
        return scop
    try:
        return read(scop.deciding)
    except ExtractionError:
        return scop
