"""What is known of each name at one point of the program: its integer value, where that can be written down."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from polyviz.frontend.integers import reads_data
from polyviz.model.expression import Conditional, Expression, walk

if TYPE_CHECKING:
    from collections.abc import Iterable

    from polyviz.frontend.nodes import Requirement


# A value that is substituted again and again may double each time; past this it is stored instead.
_LARGEST = 64


@dataclass(frozen=True, slots=True)
class Known:
    """An integer made of iterators and parameters, valid where all conditions of ``requires`` hold.

    ``asked`` has to hold likewise, with errors of its own.
    """

    expression: Expression
    requires: tuple[Expression, ...] = ()
    asked: tuple[Requirement, ...] = ()

    @property
    def is_certain(self) -> bool:
        """Whether it is valid anywhere."""
        return not self.requires and not self.asked


@dataclass
class Environment:
    """Known values by name, and the names that may have been assigned so far.

    >>> from polyviz.model.expression import Name
    >>> environment = Environment()
    >>> environment.bind("k", Known(Name("i")))
    >>> environment.forget({"k"})
    >>> environment.known("k") is None, "k" in environment.assigned
    (True, True)
    """

    values: dict[str, Known] = field(default_factory=dict)
    assigned: set[str] = field(default_factory=set)

    def known(self, name: str) -> Known | None:
        """The value of ``name``, None when it is not known or not an integer of this kind."""
        return self.values.get(name)

    def bind(self, name: str, known: Known | None) -> None:
        """After an assignment to ``name``; None when the value cannot be written down."""
        self.assigned.add(name)
        if known is None or sum(1 for _ in walk(known.expression)) > _LARGEST:
            self.values.pop(name, None)
        else:
            self.values[name] = known

    def forget(self, names: Iterable[str]) -> None:
        """Some of ``names`` may have changed."""
        for name in names:
            self.assigned.add(name)
            self.values.pop(name, None)

    def copy(self) -> Environment:
        """An independent copy."""
        return Environment(dict(self.values), set(self.assigned))

    def join(self, condition: Expression, other: Environment) -> Environment:
        """What is known after a choice: ``self`` where ``condition`` holds, else ``other``."""
        joined = {
            name: merged
            for name in self.values.keys() & other.values.keys()
            if (merged := _merged(condition, self.values[name], other.values[name])) is not None
        }
        return Environment(joined, self.assigned | other.assigned)


def _merged(condition: Expression, first: Known, second: Known) -> Known | None:
    if first == second:
        return first
    if reads_data(condition) or not first.is_certain or not second.is_certain:
        return None
    return Known(Conditional(condition, first.expression, second.expression))
