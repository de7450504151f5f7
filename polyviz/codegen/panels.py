"""A panel: several rows of a parallel loop, each of which adds up a sum of its own over the same columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from polyviz.codegen.dtypes import type_named
from polyviz.codegen.folds import one_each
from polyviz.codegen.row_blocks import VECTOR_DTYPES, elements_of, in_row, is_along, is_computed, written_out
from polyviz.model.expression import Name, walk

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from polyviz.codegen.folds import Fold, Update
    from polyviz.codegen.loops import For
    from polyviz.codegen.row_blocks import Types
    from polyviz.model.expression import Assign, Element

SPARE = 4
"""Vector registers for what the rows of a panel share, and for the products."""


@dataclass(frozen=True, slots=True)
class Row:
    """What the row ``number`` of a panel does in one column: ``assign`` is the ``update`` so many rows further."""

    update: Update
    assign: Assign
    number: int

    @property
    def in_full(self) -> Assign:
        """``assign`` with its operator written out, and with the numbers that vectors are made of."""
        return written_out(self.assign)


@dataclass(frozen=True, slots=True)
class Panel:
    """The loop ``rows`` around the loop of ``fold``, and what each of ``rows.jam`` rows does in one column.

    ``dtype`` is the type of everything where whole vectors of columns may be added up, and empty where they may not.
    """

    rows: For
    fold: Fold
    updates: tuple[Row, ...]
    dtype: str

    @property
    def columns(self) -> For:
        """The loop that adds up."""
        return self.fold.loop

    def along(self) -> Iterator[Element]:
        """The elements of all rows that move along memory with the columns, each once."""
        found: dict[Element, None] = {}
        for row in self.updates:
            for element in elements_of(row.in_full.value):
                if element != row.assign.target and is_along(element, self.columns.iterator):
                    found[element] = None
        return iter(found)


def panel(
    loop: For, fold: Fold | None, types: Types, dtypes: Mapping[str, str], registers: int, *, reorders: bool
) -> Panel | str:
    """``loop`` around the loop of ``fold`` as a panel; else, why it is none.

    ``dtypes`` are the types of all variables, ``registers`` is the number of vector registers; ``reorders`` tells that
    sums may be added up in another order.
    """
    if fold is None or fold.values:
        return "they do more than to add up a sum each"
    if loop.step != 1 or fold.loop.step != 1 or _is_skewed(loop, fold.loop):
        return "they do not all have the same columns"
    if not one_each(fold):
        return "several steps of a sum stand side by side"
    updates = tuple(
        Row(update, in_row(update.assign, loop.iterator, number), number)
        for update in fold.updates
        for number in range(loop.jam)
    )
    dtype = dtypes[fold.updates[0].assign.target.array]
    sums = all(update.accumulation.lanes and update.accumulation.operator == "+" for update in fold.updates)
    lanes = reorders and type_named(dtype).is_real and sums
    if not lanes:
        return Panel(loop, fold, updates, "")
    reason = _no_vectors(fold, updates, types, dtype, registers)
    return reason or Panel(loop, fold, updates, dtype)


def _is_skewed(loop: For, columns: For) -> bool:
    return any(part == Name(loop.iterator) for bound in (columns.start, columns.stop) for part in walk(bound))


def _no_vectors(
    fold: Fold, updates: Sequence[Row], types: Types, dtype: str, registers: int
) -> str:
    """Why sums cannot be added up in whole vectors; empty where they can."""
    column = fold.loop.iterator
    if dtype not in VECTOR_DTYPES:
        return f"{dtype} is added up in one row at a time"
    if len(updates) > registers - SPARE:
        return f"{len(updates)} sums do not fit into {registers} vector registers"
    if not all(is_computed(row.in_full.value, dtype, column, types, row.assign.target) for row in updates):
        return f"what they add up are not {dtype} values side by side in memory"
    return ""
