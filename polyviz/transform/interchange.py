"""Interchange: another order for the loops of a band."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from polyviz.errors import OptionError
from polyviz.model.schedule import Decision
from polyviz.transform.move import Move
from polyviz.transform.rows import loop_text
from polyviz.transform.tree import (
    Path,
    band_at,
    bands,
    coincident_members,
    members,
    replace_rows,
    statements_under,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    import islpy as isl


@dataclass(frozen=True, slots=True)
class Interchange(Move):
    """Run the loops of a nest in another order.

    Position ``k`` of the band at ``path`` gets the member that was at ``order[k]``; legal wherever it is permutable.
    """

    name: ClassVar[str] = "interchange"
    loops: ClassVar[tuple[str, ...]] = ("order",)
    order: tuple[int, ...] = ()

    @classmethod
    def available(cls, tree: isl.Schedule) -> tuple[Path, ...]:
        """Every band of two and more loops."""
        return tuple(path for path, band in bands(tree) if band.band_n_member() > 1)

    def apply(self, tree: isl.Schedule) -> tuple[isl.Schedule, Decision]:
        """The band with its members in the new order."""
        band = band_at(tree, self.path)
        rows, coincident = members(band), coincident_members(band)
        if sorted(self.order) != list(range(len(rows))):
            raise OptionError(
                f"{self.order} is no order of the {len(rows)} loops {', '.join(map(loop_text, rows))}."
            )
        changed = replace_rows(
            tree,
            self.path,
            [rows[place] for place in self.order],
            coincident=[coincident[place] for place in self.order],
        )
        before, after = (
            ", ".join(map(loop_text, part)) for part in (rows, [rows[place] for place in self.order])
        )
        text = f"The loops {before} run in the order {after}."
        details = {"path": self.path, "order": self.order}
        return changed, Decision("interchange", text, statements_under(band), details)


def permute_members(tree: isl.Schedule, path: Path, order: Sequence[int]) -> tuple[isl.Schedule, Decision]:
    """``Interchange(path, order)`` applied to ``tree``.

    >>> import islpy as isl
    >>> rows = '[{ S[i, j] -> [i] }, { S[i, j] -> [j] }]'
    >>> tree = isl.Schedule(f'{{ domain: "{{ S[i, j] }}", child: {{ schedule: "{rows}" }} }}')
    >>> print(permute_members(tree, (0,), (1, 0))[0].get_map())
    { S[i, j] -> [j, i] }
    """
    return Interchange(path, tuple(order)).apply(tree)
