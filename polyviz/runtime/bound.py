"""The values of one call, as the binder hands them on."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from polyviz.runtime.data_bounds import TESTED, Standing
from polyviz.runtime.overlap import is_array

if TYPE_CHECKING:
    from collections.abc import Mapping

    from polyviz.model.program import ArrayType, Program


@dataclass(frozen=True, slots=True)
class Bound:
    """One call's values: ``given`` by argument name, ``parameters`` as integers, ``types`` of what was given.

    ``standing``: whether the tests of subscripts while the loops run can fail. ``rows``: the shapes of the arrays that
    the loops know in rows, None where one does not hold a whole number of them.
    """

    given: Mapping[str, Any]
    parameters: Mapping[str, int]
    types: Mapping[str, ArrayType]
    standing: Standing = TESTED
    rows: Mapping[str, tuple[int, ...] | None] = field(default_factory=dict)

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """The shapes of the arrays that were passed."""
        return {name: value.shape for name, value in self.given.items() if is_array(value)}

    @property
    def has_whole_rows(self) -> bool:
        """Whether the arrays can be looked at as the loops know them."""
        return None not in self.rows.values()

    @property
    def shapes_in_loops(self) -> dict[str, tuple[int, ...]]:
        """The shapes of the arrays as the loops know them."""
        return {**self.shapes, **{name: shape for name, shape in self.rows.items() if shape is not None}}

    @property
    def untested(self) -> bool:
        """Whether the loops need no tests of subscripts in this call."""
        return not self.standing.needed

    @property
    def key(self) -> tuple[tuple[str, ArrayType], ...]:
        """What the generated code is specialised on."""
        return tuple(self.types.items())

    @property
    def kind(self) -> object:
        """What the generated program depends on."""
        return self.key, self.standing.cannot_fail, self.standing.needed

    def run_by(self, program: Program) -> Program:
        """``program`` for calls like this: where no test can fail, no array has to be kept to be restored."""
        return replace(program, checked=False) if self.standing.cannot_fail else program
