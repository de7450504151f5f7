"""The symbolic sizes of a program, collected while it is read: integer arguments, extents, and what is made of them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from polyviz.frontend.context import evaluated
from polyviz.frontend.integers import LARGEST
from polyviz.frontend.spelling import spelled
from polyviz.model.expression import Expression, Name, walk
from polyviz.model.scop import Parameter, ParameterSource
from polyviz.model.unused_names import unused_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


class ParameterTable:
    """Parameters in the order in which the program first needs them; names never collide with ``taken``.

    >>> table = ParameterTable({"A", "A_shape_0"})
    >>> table.argument("n").name, table.shape("A", 0).name, table.shape("B", 1, preferred="m").name
    ('n', 'A_shape_0_2', 'm')
    >>> table.shape("B", 1).name
    'm'
    """

    def __init__(self, taken: Iterable[str], values: Mapping[str, int] | None = None) -> None:
        self._taken = set(taken)
        self._values = dict(values or {})
        self.frozen: dict[str, int] = {}
        self.wanted: set[str] = set()
        self._by_source: dict[ParameterSource, Parameter] = {}

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """All parameters so far."""
        return tuple(self._by_source.values())

    @property
    def names(self) -> set[str]:
        """The identifiers of all parameters so far."""
        return {parameter.name for parameter in self._by_source.values()}

    def argument(self, name: str) -> Name:
        """The parameter that is the integer ``name`` itself."""
        return self._add(ParameterSource("argument", name), name)

    def shape(self, array: str, axis: int, *, preferred: str | None = None) -> Name:
        """The parameter ``array.shape[axis]``, under the user's own name for it where there is one."""
        source = ParameterSource("shape", array, axis)
        if source in self._by_source:
            return Name(self._by_source[source].name)
        return self._add(source, preferred or self.fresh(f"{array}_shape_{axis}"))

    def known_shape(self, array: str, axis: int) -> Name | None:
        """The parameter ``array.shape[axis]`` when the program speaks of it."""
        found = self._by_source.get(ParameterSource("shape", array, axis))
        return Name(found.name) if found else None

    def derived(self, expression: Expression) -> Name:
        """The parameter whose value is ``expression``, made of other parameters only."""
        source = ParameterSource("expression", spelled(expression), expression=expression)
        if source in self._by_source:
            return Name(self._by_source[source].name)
        stem = re.sub(r"\W+", "_", _worded(spelled(expression))).strip("_")
        # An identifier of isl must not look like a number.
        return self._add(source, self.fresh(f"value_{stem}" if stem[0].isdigit() else stem))

    def frozen_value(self, expression: Expression) -> int | None:
        """The value of ``expression`` when the sizes that were given tell it; its parameters are fixed to them.

        >>> table = ParameterTable((), {"T": 32})
        >>> table.frozen_value(table.argument("T")), table.frozen
        (32, {'T': 32})
        """
        names = [node.name for node in walk(expression) if isinstance(node, Name)]
        value = evaluated(expression, self._values) if names else None
        if value is None and self.is_made_of_parameters(expression):
            self.wanted |= {*names}
        if value is None or abs(value) >= LARGEST or not self.is_made_of_parameters(expression):
            return None
        self.frozen |= {name: self._values[name] for name in names}
        return value

    def is_frozen(self, expression: Expression) -> bool:
        """Whether all parameters of ``expression`` are fixed already."""
        return all(node.name in self.frozen for node in walk(expression) if isinstance(node, Name))

    def is_made_of_parameters(self, expression: Expression) -> bool:
        """Whether every leaf of ``expression`` is a constant or a parameter."""
        known = self.names
        leaves = [node for node in walk(expression) if isinstance(node, Name)]
        return all(leaf.name in known for leaf in leaves)

    def fresh(self, stem: str) -> str:
        """An identifier that nothing else has."""
        name = unused_name(stem, self._taken.__contains__)
        self._taken.add(name)
        return name

    def _add(self, source: ParameterSource, name: str) -> Name:
        self._by_source.setdefault(source, Parameter(name, source))
        self._taken.add(name)
        return Name(name)


def _worded(text: str) -> str:
    words = {
        "**": " power ",
        "//": " by ",
        "/": " by ",
        "*": " times ",
        "+": " plus ",
        "-": " minus ",
        "%": " modulo ",
    }
    for symbol, word in words.items():
        text = text.replace(symbol, word)
    return text
