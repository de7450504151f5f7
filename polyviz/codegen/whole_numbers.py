"""Subscripts and loop bounds have to be whole numbers: NumPy, numba and Python refuse others, C would cut them off."""

from __future__ import annotations

from typing import TYPE_CHECKING

from polyviz.codegen.dtypes import BOOL
from polyviz.codegen.typing import Environment, first_span, infer
from polyviz.errors import CodegenError
from polyviz.model.expression import Element, Loop, walk

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from polyviz.errors import Span
    from polyviz.model.expression import Expression
    from polyviz.model.program import ArrayType
    from polyviz.model.scop import Scop


def require_whole_numbers(scop: Scop, types: Mapping[str, ArrayType]) -> None:
    """Raise CodegenError where a subscript or a bound that is computed from data is no whole number for these types.

    A truth value is none as a subscript either: NumPy would select all or nothing with it.
    """
    environment = Environment({name: kind.dtype for name, kind in types.items()})
    for what, expression, span in _computed(scop):
        kind = infer(expression, environment)
        if kind.is_integral and not (kind == BOOL and what == "subscript"):
            continue
        names = dict.fromkeys(part.array for part in walk(expression) if isinstance(part, Element))
        meant = [name for name in names if kind == BOOL or not environment.array(name).is_integral]
        raise CodegenError(
            f"A {what} must be a whole number, not `{kind}`.",
            span=span,
            reason=" and ".join(f"`{name}` holds {types[name].dtype}" for name in meant) + "." if meant else "",
            hint=f"Pass whole numbers, `{meant[0]}.astype(np.int64)`, or write `int(...)` around the value."
            if meant and types[meant[0]].rank
            else "Write `int(...)` around the value, or `//` instead of `/`.",
            text=scop.text,
        )


def _computed(scop: Scop) -> Iterator[tuple[str, Expression, Span | None]]:
    """The subscripts and bounds that are computed from data, with what each of them is and where it stands."""
    for statement in scop.statements:
        for instruction in statement.body:
            for node in walk(instruction):
                if isinstance(node, Element) and not node.affine:
                    yield from (("subscript", one, node.span) for one in node.subscripts)
                elif isinstance(node, Loop):
                    place = first_span(node.start) or first_span(node.stop) or statement.span
                    yield from (("loop bound", one, place) for one in (node.start, node.stop, node.step))
