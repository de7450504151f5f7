"""Coalescing: two nested loops become one over all their iterations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import islpy as isl

from polyviz.errors import OptionError
from polyviz.model.schedule import Decision
from polyviz.transform.move import Move
from polyviz.transform.nest import nested_bands, one_band
from polyviz.transform.rows import loop_text
from polyviz.transform.tree import Path, band_at, members, replace_rows, statements_under

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass(frozen=True, slots=True)
class Coalesce(Move):
    """Make one loop of two nested ones, over all their iterations.

    It takes the place of ``member`` of the band at ``path`` and the loop directly inside it. The new loop counts
    ``outer * extent + inner``, which is affine only when the inner loop has a known number of iterations: for a
    symbolic one fix its size first (``sizes=`` of ``extract``). It never changes the order.
    """

    name: ClassVar[str] = "coalesce"
    member: int = 0

    @classmethod
    def available(cls, tree: isl.Schedule) -> tuple[Path, ...]:
        """Every band from which on two loops are directly inside one another."""
        return nested_bands(tree)

    def apply(self, tree: isl.Schedule) -> tuple[isl.Schedule, Decision]:
        """A band of one loop in place of two.

        >>> rows = '[{ S[i, j] -> [i] }, { S[i, j] -> [j] }]'
        >>> tree = isl.Schedule(f'{{ domain: "{{ S[i, j] : 0 <= j < 4 }}", child: {{ schedule: "{rows}" }} }}')
        >>> print(Coalesce((0,)).apply(tree)[0].get_map())
        { S[i, j] -> [4i + j] }
        """
        tree, path = one_band(tree, self.path, self.member, 2)
        band = band_at(tree, path)
        outer, inner = members(band)
        least, extent = _range_of(inner, band.get_domain())
        row = outer.scale_val(isl.Val(extent)).add(inner)
        if least:
            shift = isl.UnionPwAff.val_on_domain(inner.domain(), isl.Val(-least))
            row = row.add(shift)
        names = loop_text(outer), loop_text(inner)
        text = f"Loops {names[0]} and {names[1]} are one loop, with {extent} iterations per {names[0]}."
        details = {"path": self.path, "member": self.member, "extent": extent}
        changed = replace_rows(tree, path, [row])
        return changed, Decision("coalesce", text, statements_under(band), details)


def _range_of(row: isl.UnionPwAff, domain: isl.UnionSet) -> tuple[int, int]:
    """The least value of ``row`` and how many there are at most; raises ``OptionError`` when that depends on sizes."""
    lows, highs = [], []
    for values in _values(row, domain):
        low, high = values.dim_min_val(0), values.dim_max_val(0)
        if not (low.is_int() and high.is_int()):
            text = loop_text(row)
            raise OptionError(
                f"Loop {text} has no fixed number of iterations, so no affine loop counts those of both loops.",
                reason=f"Its values are {values}.",
                hint="Give the size that bounds it a value (`sizes=`), or coalesce two other loops.",
            )
        lows.append(low.to_python())
        highs.append(high.to_python())
    return min(lows), max(highs) - min(lows) + 1


def _values(row: isl.UnionPwAff, domain: isl.UnionSet) -> Iterator[isl.Set]:
    values = domain.apply(isl.UnionMap.from_union_pw_aff(row)).get_set_list()
    return (values.get_at(place) for place in range(values.n_set()))
