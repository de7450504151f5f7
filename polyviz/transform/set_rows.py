"""Free-form rows: the loops of a band, or of a whole subtree, as the user writes them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import islpy as isl

from polyviz.errors import OptionError
from polyviz.model.schedule import Decision
from polyviz.transform.move import Move
from polyviz.transform.shape import LEAF, Loops, loops_around, part_at, shape_of, tree_of, with_part
from polyviz.transform.tree import Path, bands, node_at, statements_under

if TYPE_CHECKING:
    from polyviz.transform.shape import Shape


@dataclass(frozen=True, slots=True)
class SetRows(Move):
    """Let loops run over rows as the user writes them, isl text of one function per statement.

    They are those of the band at ``path``: ``"{ S0[i, j] -> [(j)]; S1[i, j] -> [(j + 1)] }"`` is one row. With
    ``whole`` the subtree at ``path`` becomes one band of these rows and nothing inside it.
    """

    name: ClassVar[str] = "rows"
    rows: tuple[str, ...] = ()
    whole: bool = False

    @classmethod
    def available(cls, tree: isl.Schedule) -> tuple[Path, ...]:
        """Every band."""
        return tuple(path for path, _ in bands(tree))

    def apply(self, tree: isl.Schedule) -> tuple[isl.Schedule, Decision]:
        """The band with other rows."""
        rows = [_parsed(text, tree.get_domain()) for text in self.rows]
        if not rows:
            raise OptionError("A band has at least one row.")
        shape = shape_of(tree)
        statements = statements_under(node_at(tree, self.path))
        for text, row in zip(self.rows, rows, strict=True):
            _refuse_partial(text, row, node_at(tree, self.path).get_domain())
        changed = with_part(shape, self.path, loops_around(rows, self._inside(part_at(shape, self.path))))
        text = f"The loops of {', '.join(statements)} run over rows as given."
        details = {"path": self.path, "rows": self.rows}
        return tree_of(tree.get_domain(), changed), Decision("rows", text, statements, details)

    def _inside(self, found: Shape) -> Shape:
        if self.whole:
            return LEAF
        if not isinstance(found, Loops):
            raise OptionError(f"The node at {self.path} is no band of loops.")
        return found.child


def _parsed(text: str, domain: isl.UnionSet) -> isl.UnionPwAff:
    space = domain.get_space()
    names = [
        space.get_dim_name(isl.dim_type.param, place) or "" for place in range(space.dim(isl.dim_type.param))
    ]
    head = f"[{', '.join(names)}] -> " if text.lstrip().startswith("{") else ""
    try:
        return isl.UnionPwAff(head + text)
    except isl.Error as error:
        raise OptionError(
            f"`{text}` is no row: write one function per statement, such as {{ S0[i] -> [(i)] }}."
        ) from error


def _refuse_partial(text: str, row: isl.UnionPwAff, domain: isl.UnionSet) -> None:
    missing = domain.subtract(row.domain())
    if not missing.is_empty():
        name = missing.get_set_list().get_at(0).get_tuple_name()
        raise OptionError(f"The row `{text}` does not say when every instance of {name} runs.")
