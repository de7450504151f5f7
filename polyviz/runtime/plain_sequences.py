"""Tuples and lists of numbers that are passed where the loops only look up single elements: as good as arrays."""

from __future__ import annotations

import ast
import textwrap
from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    from polyviz.model.scop import Scop


class PlainSequences:
    """Which arguments of ``scop`` may be such; ``written`` are those that it changes."""

    def __init__(self, scop: Scop, written: Iterable[str]) -> None:
        others = {*written, *scop.result.names}
        vectors = {array.name for array in scop.arrays if array.origin == "argument" and array.rank == 1}
        self._open = frozenset() if scop.is_cell else frozenset(vectors - others)
        self._text = scop.text
        self._parts: list[ast.AST] = []

    def array(self, name: str, value: Any) -> Any:
        """``value``, an array of the same numbers where it holds floats alone, or ints, and nothing else would do."""
        if type(value) not in (tuple, list) or name not in self._open or not self._is_looked_up(name):
            return value
        return np.array(value) if {type(one) for one in value} in ({float}, {int}) else value

    def _is_looked_up(self, name: str) -> bool:
        """Whether the text asks for single elements of ``name`` only: sums and products mean others for tuples."""
        self._parts = self._parts or list(ast.walk(ast.parse(textwrap.dedent(self._text))))
        uses = Counter[bool]()
        for part in self._parts:
            match part:
                case ast.Name(id=other) if other == name:
                    uses[False] += 1
                case ast.Subscript(value=ast.Name(id=other), slice=index) if other == name:
                    uses[True] += not isinstance(index, ast.Slice | ast.Tuple)
                case ast.For(iter=ast.Name(id=other)) if other == name:
                    uses[True] += 1
                case ast.Assign(targets=[ast.Tuple() | ast.List()], value=ast.Name(id=other)) if other == name:
                    uses[True] += 1
                case ast.Call(func=ast.Name(id="len" | "enumerate" | "zip"), args=given):
                    uses[True] += sum(isinstance(one, ast.Name) and one.id == name for one in given)
        return uses[False] == uses[True]
