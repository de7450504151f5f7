"""Source to a part, with unrelated values that share a scalar's name told apart."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from polyviz.analysis.live_ranges import separate_live_ranges
from polyviz.frontend import extract as read_source
from polyviz.model.exclusion import exclusive
from polyviz.model.scop import Scop
from polyviz.runtime.kernel import Kernel

if TYPE_CHECKING:
    from collections.abc import Mapping


@exclusive
def extract(
    source: object, *, sizes: Mapping[str, int] | None = None, namespace: Mapping[str, Any] | None = None
) -> Scop:
    """The static control part of ``source``: a function, text with one function, or bare loops.

    ``sizes`` fixes parameters to values; ``namespace`` is what surrounds the text (a notebook's names). Raises
    ExtractionError, which points at the construct that does not belong into a static control part.

    >>> part = extract("def fill(A):\\n    for i in range(len(A)):\\n        A[i] = i")
    >>> [statement.name for statement in part.statements]
    ['S0']
    """
    return separate_live_ranges(read_source(source, sizes=sizes, namespace=namespace))


def part_of(
    source: object,
    *,
    sizes: Mapping[str, int] | None = None,
    namespace: Mapping[str, Any] | None = None,
    ranks: Mapping[str, int] | None = None,
) -> Scop:
    """The part that ``source`` is, was compiled from, or holds as text or function.

    ``ranks`` are the dimensions of arguments, as a call gives them.

    >>> from polyviz.api import compile
    >>> kernel = compile("def fill(A):\\n    for i in range(len(A)):\\n        A[i] = i", target="python")
    >>> part_of(kernel) is kernel.scop
    True
    """
    if isinstance(source, Scop):
        return source
    if isinstance(source, Kernel):
        return source.scop
    if not ranks:
        return extract(source, sizes=sizes, namespace=namespace)
    return _extracted(source, sizes, namespace, ranks)


@exclusive
def _extracted(
    source: object,
    sizes: Mapping[str, int] | None,
    namespace: Mapping[str, Any] | None,
    ranks: Mapping[str, int],
) -> Scop:
    return separate_live_ranges(read_source(source, sizes=sizes, namespace=namespace, ranks=ranks))
