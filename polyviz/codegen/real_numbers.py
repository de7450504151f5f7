"""Real arrays hold real numbers: C and numba refuse to store complex ones there, each in words of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from polyviz.codegen.dtypes import BOOL
from polyviz.codegen.typing import Environment, first_span, infer
from polyviz.errors import CodegenError
from polyviz.model.expression import Assign, walk

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from polyviz.model.program import ArrayType
    from polyviz.model.scop import Scop


def require_real_numbers(scop: Scop, types: Mapping[str, ArrayType]) -> None:
    """Raise CodegenError where a complex number is assigned to what holds real ones of these types.

    What has no type at all is refused here, too, where it stands.
    """
    environment = Environment({name: kind.dtype for name, kind in types.items()})
    for node in _assignments(scop):
        try:
            _check(node, types[node.target.array], environment)
        except CodegenError as error:
            error.span = error.span or node.target.span or first_span(node.value)
            error.text = error.text or scop.text
            raise


def _check(node: Assign, target: ArrayType, environment: Environment) -> None:
    held = infer(node.target, environment)
    if not held.is_real or held == BOOL:
        return
    given = infer(node.assigned, environment)
    if given.is_real:
        return
    name = node.target.array
    raise CodegenError(
        f"A `{given}` value cannot be stored where `{held}` is expected.",
        reason=f"`{name}` holds {held}.",
        hint=f"Store its `.real` part, or make `{name}` an array of complex numbers: `dtype=complex`."
        if target.rank
        else "Store its `.real` part.",
    )


def _assignments(scop: Scop) -> Iterator[Assign]:
    for statement in scop.statements:
        for instruction in statement.body:
            yield from (node for node in walk(instruction) if isinstance(node, Assign))
