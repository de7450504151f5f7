"""What the reader makes of the user's statements: loops, choices and leaves, still without sets.

Names are resolved and integer temporaries are substituted, so that every ``Name`` is an iterator or a parameter and
every ``Element`` a cell of an array. Whether a bound or condition is affine is decided later, in ``build``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from polyviz.errors import ExtractionError, Span
    from polyviz.model.expression import Expression, Instruction


@dataclass(frozen=True, slots=True)
class Requirement:
    """A condition that has to hold wherever the node runs, and the error where it does not.

    ``of_sizes``: it may be taken for granted of the sizes where it holds for some with which the node runs.
    """

    condition: Expression
    error: ExtractionError
    of_sizes: bool = False


@dataclass(frozen=True, slots=True)
class Leaf:
    """An assignment statement of the user; several targets make several instructions."""

    instructions: tuple[Instruction, ...]
    span: Span
    source: str
    requirements: tuple[Requirement, ...] = ()


@dataclass(frozen=True, slots=True)
class Nest:
    """``for variable in range(start, stop, step)``; ``iterator`` is the variable made unique among enclosing loops."""

    variable: str
    iterator: str
    start: Expression
    stop: Expression
    step: Expression
    body: tuple[Node, ...]
    header: Span
    span: Span
    source: str
    requirements: tuple[Requirement, ...] = ()


@dataclass(frozen=True, slots=True)
class Choice:
    """``if condition: then else: otherwise``."""

    condition: Expression
    then: tuple[Node, ...]
    otherwise: tuple[Node, ...]
    span: Span
    source: str
    requirements: tuple[Requirement, ...] = ()


@dataclass(frozen=True, slots=True)
class Repeat:
    """``while condition: body``."""

    condition: Expression
    body: tuple[Node, ...]
    span: Span
    source: str
    requirements: tuple[Requirement, ...] = ()


Node = Leaf | Nest | Choice | Repeat
