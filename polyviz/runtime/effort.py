"""How hard gcc is asked to try, for texts in which many conditions choose between values.

Each choice in a loop is one that gcc may take out of it, by a copy of the loop for either case, and each copy is made
into vectors of its own. Stencils that choose at four borders, in tiles cut at more ends than one, kept gcc 12 busy for
minutes, and ran no faster for it: where a loop is worth splitting, the text says so already.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from polyviz.model.program import Program

SOME, MANY = 16, 60
"""Choices in a function from which on gcc makes no copies of loops for them, and from which on it tries less hard."""

WITHOUT_COPIES = ("-fno-unswitch-loops", "-fno-split-loops")
LESS_EFFORT = ("-O2",)
LESS_EFFORT_NOTE = (
    "Compiled with -O2: so many conditions choose between values, in copies of the loops for full and partial tiles, "
    "that gcc would take minutes for more."
)


def effort_flags(program: Program) -> tuple[str, ...]:
    """What gcc is told beside its usual flags."""
    _, _, function = program.text.partition(f" {program.name}(")
    choices = function.count(" ? ")
    if choices >= MANY:
        return LESS_EFFORT
    return WITHOUT_COPIES if choices >= SOME else ()
