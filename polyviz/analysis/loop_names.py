"""How loops and their iterations are called in sentences."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import islpy as isl

from polyviz.analysis.witness import image
from polyviz.model.isl_text import plain_floor

if TYPE_CHECKING:
    from collections.abc import Mapping

    from polyviz.model.scop import Scop, Statement


def loop_name(scop: Scop, rows: Mapping[str, isl.Map], depth: int) -> str:
    """The iterator or affine form that a loop runs over; forms that differ between statements are all named.

    A loop without a readable form is called ``c`` and its depth.
    """
    names = [iterator_of(scop.statement(name), row) or row_text(row) for name, row in sorted(rows.items())]
    distinct = list(dict.fromkeys(names))
    if None in distinct or len(distinct) > 3:
        return f"c{depth}"
    return " | ".join(name for name in distinct if name is not None)


def row_text(row: isl.Map) -> str | None:
    """The affine form of a row as text; None when it has several pieces.

    >>> row_text(isl.Map("{ S[i, j] -> [i + 2j] }"))
    'i + 2j'
    """
    text = str(isl.PwMultiAff.from_map(row))
    found = re.fullmatch(r".*\{ \w*\[[^;]*\] -> \[\((.*?)\)\](?: : [^;]*)? \}", text)
    return plain_floor(found.group(1)) if found else None


def iterator_of(statement: Statement, row: isl.Map) -> str | None:
    """The iterator of the statement that a loop runs over, upwards or downwards; None for any other row."""
    text = row_text(row)
    name = text.removeprefix("-") if text else ""
    return name if name in statement.iterators else None


def iteration_text(
    statement: Statement, row: isl.Map, name: str, instance: tuple[int, ...], parameters: Mapping[str, int]
) -> str:
    """One iteration of a loop: ``i=3``; the value is the iterator's own where the loop runs over one."""
    iterator = iterator_of(statement, row)
    if iterator is not None:
        return f"{iterator}={instance[statement.iterators.index(iterator)]}"
    form = row_text(row) or name
    spelled = form if form.isidentifier() else f"({form})"
    return f"{spelled}={image(row, instance, parameters)[0]}"
