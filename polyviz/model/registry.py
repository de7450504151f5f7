"""Things by name: ours are imported when first asked for, those of others come by entry point or decorator."""

from __future__ import annotations

import inspect
import re
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Any, TypeVar

from polyviz.errors import OptionError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

Definition = TypeVar("Definition")
_NAME = re.compile(r"[A-Za-z_][\w-]*")


@dataclass(frozen=True, slots=True)
class Registry:
    """Definitions of one ``kind`` (``scheduler``, ``move``), found by name.

    ``built_in`` maps names to ``module:attribute``; ``entry_point_group`` is where other packages announce theirs.
    What a notebook registers comes first, and a later registration replaces an earlier one. ``asked_as`` is what people
    give where they name one, when that is not called by its kind.

    >>> registry = Registry("colour", "polyviz.colours", {})
    >>> registry.register("red")(str)
    <class 'str'>
    >>> registry.names()
    ['red']
    """

    kind: str
    entry_point_group: str
    built_in: Mapping[str, str]
    registered: dict[str, Any] = field(default_factory=dict)
    asked_as: str = ""

    def register(self, name: str) -> Callable[[Definition], Definition]:
        """A decorator that makes what it decorates known as ``name``.

        Raises ``OptionError`` for a name that cannot be asked for, and for one of ours.
        """
        self._insist_on_name(name)

        def register(definition: Definition) -> Definition:
            if not callable(definition):
                raise OptionError(f"A {self.kind} is a function or a class, not {definition!r}.")
            self.registered[name] = definition
            return definition

        return register

    def _insist_on_name(self, name: object) -> None:
        if not isinstance(name, str) or _NAME.fullmatch(name) is None:
            raise OptionError(
                f'A {self.kind} is registered under a name such as "my-{self.kind}": letters, digits, `-` and `_`, '
                f"not {name!r}."
            )
        if name in self.built_in:
            raise OptionError(f"`{name}` is a {self.kind} of polyviz: choose another name.")

    def unregister(self, name: str) -> None:
        """Forget what was registered as ``name``; unknown names are no error."""
        self.registered.pop(name, None)

    def names(self) -> list[str]:
        """Every name, ours first in the order of the documentation."""
        return list(dict.fromkeys([*self.built_in, *announced(self.entry_point_group), *self.registered]))

    def definition(self, name: str) -> Any:
        """What is known as ``name``; raises ``OptionError`` with the nearest names when nothing is."""
        if not isinstance(name, str):
            raise OptionError(f"A {self.kind} is asked for by its name, not by {name!r}.")
        if name in self.registered:
            return self.registered[name]
        reference = self.built_in.get(name) or announced(self.entry_point_group).get(name)
        if reference is None:
            names = self.names()
            raise OptionError(
                f"Unknown {self.asked_as or self.kind} `{name}`{near(name, names)}; there are {', '.join(names)}."
            )
        module, _, attribute = reference.partition(":")
        return getattr(import_module(module), attribute)

    def summaries(self) -> dict[str, str]:
        """The first line of each docstring."""
        return {name: self._summary(name) for name in self.names()}

    def _summary(self, name: str) -> str:
        documentation = inspect.getdoc(self.definition(name)) or "(no summary)"
        return documentation.splitlines()[0]


def near(name: str, known: Iterable[str]) -> str:
    """The names that ``name`` may have been meant to be, as the end of a sentence.

    >>> near("pluta", ["isl", "pluto"])
    ' (did you mean `pluto`?)'
    """
    matches = get_close_matches(name, list(known), n=2)
    if not matches:
        return ""
    return " (did you mean " + " or ".join(f"`{match}`" for match in matches) + "?)"


@cache
def announced(group: str) -> dict[str, str]:
    """What installed packages announce in an entry point group: names to ``module:attribute``."""
    return {entry.name: entry.value for entry in entry_points(group=group)}
