"""Unrolling: several iterations of a loop in a row in its body."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from polyviz.model.plan import UNROLL
from polyviz.model.schedule import Decision
from polyviz.transform.move import Move
from polyviz.transform.rows import checked_member, loop_text, unroll_factor
from polyviz.transform.tree import (
    Path,
    band_at,
    bands,
    insert_mark,
    isolate_member,
    members,
    statements_under,
)

if TYPE_CHECKING:
    import islpy as isl


@dataclass(frozen=True, slots=True)
class Unroll(Move):
    """Write ``factor`` iterations of a loop one after the other in its body; a loop behind it runs what remains.

    ``member`` is the loop in the band at ``path``. It becomes a band of its own under the mark ``unroll:FACTOR``,
    which the code generator obeys; the order stays the same.
    """

    name: ClassVar[str] = "unroll"
    member: int = 0
    factor: int = 4

    @classmethod
    def available(cls, tree: isl.Schedule) -> tuple[Path, ...]:
        """Every band."""
        return tuple(path for path, _ in bands(tree))

    def apply(self, tree: isl.Schedule) -> tuple[isl.Schedule, Decision]:
        """The tree with the loop isolated and marked.

        >>> import islpy as isl
        >>> tree = isl.Schedule('{ domain: "{ S[i] }", child: { schedule: "[{ S[i] -> [i] }]" } }')
        >>> print(Unroll((0,), factor=4).apply(tree)[0].get_root().child(0).mark_get_id().get_name())
        unroll:4
        """
        factor = unroll_factor(self.factor)
        band = band_at(tree, self.path)
        row = members(band)[checked_member(tree, self.path, self.member)]
        isolated, path = isolate_member(tree, self.path, self.member)
        text = f"Loop {loop_text(row)} is unrolled by {factor}."
        details = {"path": self.path, "member": self.member, "factor": factor}
        marked = insert_mark(isolated, path, f"{UNROLL}:{factor}")
        return marked, Decision("unroll", text, statements_under(band), details)
