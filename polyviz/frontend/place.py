"""Where an expression is evaluated: the loops around it, the iterations that come there, and whether they surely do."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from polyviz.frontend.affine import AffineReader, NotAffine
from polyviz.frontend.reasons import why

if TYPE_CHECKING:
    import islpy as isl

    from polyviz.model.expression import Expression


@dataclass(frozen=True, slots=True)
class Place:
    """Where an expression is evaluated: below ``affine.iterators``, at the points of ``domain``.

    ``reason`` is empty when every point certainly comes here; ``bounded`` is False when ``domain`` holds points that
    may not exist, because a loop around depends on data.
    """

    affine: AffineReader
    domain: isl.Set
    reason: str = ""
    bounded: bool = True

    def at(self, domain: isl.Set) -> Place:
        """The same place at fewer points."""
        return replace(self, domain=domain, affine=self.affine.at(domain))

    def within(self, condition: Expression) -> Place:
        """Where ``condition`` holds, as far as that can be told."""
        try:
            return self.at(self.domain.intersect(self.affine.condition(condition)))
        except NotAffine as problem:
            return replace(self, reason=self.reason or why("the condition", condition, problem))

    def without(self, condition: Expression) -> Place:
        """Where ``condition`` does not hold, as far as that can be told."""
        try:
            return self.at(self.domain.subtract(self.affine.condition(condition)))
        except NotAffine as problem:
            return replace(self, reason=self.reason or why("the condition", condition, problem))
