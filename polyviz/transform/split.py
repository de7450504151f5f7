"""Index-set splitting: the iterations of a loop below a point, then those from it on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import islpy as isl

from polyviz.errors import OptionError
from polyviz.model.schedule import Decision
from polyviz.transform.move import Move
from polyviz.transform.nest import unwrapped
from polyviz.transform.rows import Amount, checked_member, expression_row, loop_text
from polyviz.transform.shape import (
    Branches,
    Marked,
    Part,
    loops_around,
    loops_at,
    part_at,
    pruned,
    shape_of,
    tidy,
    tree_of,
    with_part,
)
from polyviz.transform.tree import Path, band_at, bands, members, statements_under

if TYPE_CHECKING:
    from polyviz.transform.nest import Rows
    from polyviz.transform.shape import Shape


@dataclass(frozen=True, slots=True)
class Split(Move):
    """Two loops in place of one: first the iterations below ``point``, then the others.

    ``member`` is the loop in the band at ``path``; ``point`` a number or an affine expression over the sizes
    (``"n - 1"``, ``"floor(n/2)"``). It never changes the order, and lets the halves be treated differently.
    """

    name: ClassVar[str] = "split"
    member: int = 0
    point: Amount = 0

    @classmethod
    def available(cls, tree: isl.Schedule) -> tuple[Path, ...]:
        """Every band."""
        return tuple(path for path, _ in bands(tree))

    def apply(self, tree: isl.Schedule) -> tuple[isl.Schedule, Decision]:
        """A sequence of two loops in place of the loop.

        >>> tree = isl.Schedule('{ domain: "{ S[i] : 0 <= i < 9 }", child: { schedule: "[{ S[i] -> [i] }]" } }')
        >>> print(Split((0,), point=4).apply(tree)[0].get_root().child(0).child(0).filter_get_filter())
        { S[i] : i <= 3 }
        """
        band = band_at(tree, self.path)
        row = members(band)[checked_member(tree, self.path, self.member)]
        difference = row.sub(expression_row(self.point, band.get_domain()))
        below = where_negative(difference)
        text = f"Loop {loop_text(row)} is split at {self.point}."
        details = {"path": self.path, "member": self.member, "point": self.point}
        changed = split_iterations(tree, self.path, self.member, below)
        return changed, Decision("split", text, statements_under(band), details)


def where_negative(values: isl.UnionPwAff) -> isl.UnionSet:
    """The instances for which ``values`` is below zero."""
    below = isl.UnionSet.empty(values.get_space())
    functions = values.get_pw_aff_list()
    for place in range(functions.n_pw_aff()):
        function = functions.get_at(place)
        below = below.union(isl.UnionSet.from_set(function.nonneg_set().complement()))
    return below


def split_iterations(tree: isl.Schedule, path: Path, member: int, first: isl.UnionSet) -> isl.Schedule:
    """The tree with ``member`` of the band at ``path`` as two loops: the instances in ``first``, then the others.

    A mark directly above the loop that is split stands above both of them. Raises ``OptionError`` when one of them
    would be empty.
    """
    domain = band_at(tree, path).get_domain()
    early, late = domain.intersect(first), domain.subtract(first)
    shape = shape_of(tree)
    rows, inside = unwrapped(loops_at(shape, path))
    if early.is_empty() or late.is_empty():
        side = "before" if early.is_empty() else "after"
        raise OptionError(f"Loop {loop_text(rows[member])} has no iteration {side} that point.")
    above = part_at(shape, path[:-1]) if member == 0 and len(path) > 1 else None
    mark = above.name if isinstance(above, Marked) else None
    halves = (_half(rows[member:], inside, instances, domain, mark) for instances in (early, late))
    place = path if mark is None else path[:-1]
    nested = loops_around(rows[:member], Branches(tuple(halves)))
    return tree_of(tree.get_domain(), tidy(with_part(shape, place, nested)))


def _half(
    rows: Rows, inside: Shape, instances: isl.UnionSet, domain: isl.UnionSet, mark: str | None
) -> Part:
    nest = pruned(loops_around(rows, inside), instances)
    nest = nest if mark is None else Marked(nest, mark)
    return Part(nest, instances.gist(domain.intersect(instances.universe())).coalesce())
