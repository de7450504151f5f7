"""What was worked out for the last drawing of some loops, kept for the next one."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Mapping

    from polyviz.model.dependences import Dependence
    from polyviz.views.linked_points import Instances
    from polyviz.views.linked_schema import LinkedRelationModel
    from polyviz.views.pictures import DependenceRow

Made = TypeVar("Made")


@dataclass(slots=True)
class Sketch:
    """Instances, pairs and the table of dependences for the sizes drawn, and what was made of each schedule.

    Whoever draws the same loops again keeps it; it is forgotten when other sizes are drawn. ``shown`` are the instances
    that the last drawing was made of, ``budget`` how rich it could be.
    """

    values: Mapping[str, int] | None = None
    shown: Mapping[str, Instances] = field(default_factory=dict)
    rows: list[tuple[Dependence, DependenceRow]] = field(default_factory=list)
    drawn: dict[int, dict[str, Instances]] = field(default_factory=dict)
    relations: dict[int, list[LinkedRelationModel]] = field(default_factory=dict)
    made: dict[Hashable, tuple[object, object]] = field(default_factory=dict)
    budget: int = 0

    def begin(self, values: Mapping[str, int]) -> None:
        """Forget everything that was drawn for other sizes."""
        if self.values != values:
            self.values = values
            self.shown, self.rows, self.drawn, self.made = {}, [], {}, {}
            self.relations, self.budget = {}, 0

    def once(self, key: Hashable, of: object, make: Callable[[], Made]) -> Made:
        """What ``make`` gives, kept under ``key`` as long as it is asked for of the same object ``of``.

        >>> sketch, word = Sketch(), ["a"]
        >>> sketch.once("length", word, lambda: len(word)), sketch.once("length", word, lambda: 7)
        (1, 1)
        >>> sketch.once("length", ["b"], lambda: 7)
        7
        """
        known = self.made.get(key)
        if known is None or known[0] is not of:
            known = self.made[key] = (of, make())
        found: Made = known[1]  # type: ignore[assignment]
        return found
