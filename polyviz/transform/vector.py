"""Marks: which loop runs in vector lanes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from polyviz.transform.parallel import MarkName, Parallel


@dataclass(frozen=True, slots=True)
class Vector(Parallel):
    """Let the iterations of a loop run in vector lanes; legal when the loop carries no dependence."""

    name: ClassVar[str] = "vector"
    mark: MarkName = "vector"
