"""Which identifier stands for what in a generated function, so that no two things share one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from polyviz.codegen.bodies import inner_iterators, private_name

if TYPE_CHECKING:
    from collections.abc import Iterable

    from polyviz.model.scop import Scop


class Identifiers:
    """The user's names, kept where the target language allows it, and names derived from them.

    >>> identifiers = Identifiers(["double", "A"], reserved=frozenset({"double"}))
    >>> identifiers.of("double"), identifiers.of("A"), identifiers.derived("A_extent0")
    ('double_', 'A', 'A_extent0')
    """

    def __init__(self, names: Iterable[str], reserved: frozenset[str]) -> None:
        ordered = list(dict.fromkeys(names))
        self._taken = {*reserved, *ordered}
        self._known = {name: name for name in ordered if name not in reserved}
        for name in ordered:
            if name in reserved:
                self._known[name] = self._free(name)
        self._derived: dict[str, str] = {}

    def of(self, name: str) -> str:
        """The identifier of one of the user's names; any other name stands for itself."""
        return self._known.get(name, name)

    def derived(self, name: str) -> str:
        """The identifier of something that the generator adds: ``name`` itself unless that is taken."""
        if name not in self._derived:
            self._derived[name] = self._free(name)
        return self._derived[name]

    @property
    def taken(self) -> frozenset[str]:
        """Everything that another variable must not be called."""
        return frozenset(self._taken)

    def _free(self, name: str) -> str:
        while name in self._taken:
            name += "_"
        self._taken.add(name)
        return name


def part_names(scop: Scop) -> list[str]:
    """Everything that has a name of its own in every statement of ``scop``: arrays, private copies, sizes, the
    variables of loops inside whole statements, and arguments, also those that nothing reads."""
    arrays = [array.name for array in scop.arrays]
    private = [private_name(scop, name) for name in arrays]
    sizes = [parameter.name for parameter in scop.parameters]
    unused = [argument.name for argument in scop.arguments]
    return [*arrays, *sizes, *inner_iterators(scop), *private, *unused]
