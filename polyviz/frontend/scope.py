"""What the reader of expressions asks of its surroundings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import ast

    from polyviz.frontend.names import GlobalNames
    from polyviz.frontend.symbols import ArrayDraft
    from polyviz.model.expression import Expression


class Scope(Protocol):
    """Where names are looked up: the program itself, or the body of a helper that is being inlined."""

    @property
    def globals(self) -> GlobalNames:
        """Names that the scope does not assign."""

    def is_local(self, name: str) -> bool:
        """Whether a global of this name is hidden."""

    def array(self, name: str) -> ArrayDraft | None:
        """The array called ``name``."""

    def read(self, node: ast.Name) -> Expression:
        """The value of a name."""
