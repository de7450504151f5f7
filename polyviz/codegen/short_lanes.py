"""Sums of short integers: lanes of half the width take in so many of them that none can leave its range.

A sum of bytes has 64 bits, of which a vector register holds few; 32 bits hold four thousand products of two bytes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from polyviz.codegen.dtypes import INT32, INT64, type_named
from polyviz.codegen.ranges import joined, range_of
from polyviz.model.expression import Element, walk

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from polyviz.codegen.expressions_c import CExpressionPrinter
    from polyviz.codegen.folds import Update
    from polyviz.model.expression import Expression

SHORT = INT32
MOST = 4096
"""Additions to one lane before it is added to the whole: more gain nothing."""
FEWEST = 256
MOST_BITS = 16
"""Of what is read: where cells are as wide as lanes, what is compared with them is wider, and makes them wide first."""


def short_steps(updates: Sequence[Update], dtypes: Mapping[str, str], printer: CExpressionPrinter) -> int:
    """How many values a lane of 32 bits takes in before it is added to the whole; 0 where it would not be many."""
    targets = {update.assign.target for update in updates}
    whole = all(type_named(dtypes[target.array]) == INT64 for target in targets)
    if not whole or any(update.accumulation.operator != "+" for update in updates):
        return 0
    added = joined(printer.value(update.assign.value).values for update in updates)
    if added is None or not all(_reads_short(update.assign.value, dtypes) for update in updates):
        return 0
    limits = range_of(SHORT)
    assert limits is not None
    largest = max(1, *map(abs, added)) * (len(updates) - len(targets) + 1)
    steps = min(MOST, limits[1] // largest)
    return steps if steps >= FEWEST else 0


def _reads_short(value: Expression, dtypes: Mapping[str, str]) -> bool:
    cells = (part for part in walk(value) if isinstance(part, Element) and part.subscripts)
    return all(type_named(dtypes[cell.array]).bits <= MOST_BITS for cell in cells)
