"""Functions that do nothing anybody can see, because an array was taken for a number."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from polyviz.frontend.parts import parts_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from polyviz.frontend.program import Program
    from polyviz.model.scop import Array


def check_effect(program: Program, arrays: Iterable[Array]) -> None:
    """Refuse ``a += b`` for arguments that nothing subscripts, in a function that changes nothing else.

    ``arrays`` are those of the finished part. For numbers the statement would be idle, so arrays are meant.
    """
    if program.source.is_cell or any(array.live_out for array in arrays):
        return
    arguments = {argument.name for argument in program.symbols.arguments}
    for node in parts_of(*program.source.body):
        match node:
            case ast.AugAssign(target=ast.Name(id=name)) if name in arguments:
                raise program.source.error(
                    node,
                    f"`{ast.unparse(node)}` changes nothing that the caller of `{program.source.name}` sees.",
                    reason=f"Nothing subscripts `{name}`, so it is read as a number, and it is not returned.",
                    hint=f"Where `{name}` is an array, write `{name}[:]`, or the loop: "
                    f"`for i in range({name}.shape[0])`.",
                )
