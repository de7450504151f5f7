"""Names for variables that a printer adds in a scope of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from polyviz.model.expression import Name, walk
from polyviz.model.unused_names import unused_name

if TYPE_CHECKING:
    from collections.abc import Iterable

    from polyviz.codegen.arrays_c import ArrayPrinter
    from polyviz.model.expression import Node


class LocalNames:
    """What variables of a scope are called: nothing that the ``nodes`` printed in it mention."""

    def __init__(self, arrays: ArrayPrinter, nodes: Iterable[Node]) -> None:
        self.arrays = arrays
        self.mentioned = {part.name for node in nodes for part in walk(node) if isinstance(part, Name)}

    def of(self, name: str) -> str:
        """``name``, or something like it that is not taken."""
        return self.arrays.added(unused_name(name, self.mentioned.__contains__))
