"""What is said of the call of a function that is not known, or of which too little is known."""

from __future__ import annotations

import ast
import builtins
from importlib import import_module
from typing import TYPE_CHECKING

from polyviz.errors import UnknownNameError
from polyviz.frontend.functions import CALL_REASONS, HINTS, MAKERS, PURE
from polyviz.frontend.library import NEEDED
from polyviz.frontend.refuse import Refusal
from polyviz.model.registry import near

if TYPE_CHECKING:
    from polyviz.errors import ExtractionError, Span
    from polyviz.frontend.names import GlobalNames
    from polyviz.frontend.program import Program

_MODULES = ("numpy", "math")


def refused_call(
    node: ast.Call, name: str | None, place: tuple[Span, Span], program: Program, names: GlobalNames, *, is_local: bool
) -> ExtractionError:
    """The error for ``node``, whose function has the canonical ``name``; the ``place`` of the call and of the function.

    ``is_local``: the function is a variable of the program.
    """
    spelling, (whole, function) = ast.unparse(node.func), place
    hidden = sorted(one for one in NEEDED.get(name or "", ()) if program.is_local(one))
    if name in MAKERS:
        return program.source.error(
            whole,
            f"`{spelling}` makes an array inside an expression.",
            reason="An array needs a name and a place in memory before the loops.",
            hint=f"Write `B = {spelling}(...)` on a line of its own before the loops.",
        )
    if isinstance(node.func, ast.Name) and (is_local or program.rank(spelling) is not None):
        return _called_variable(node, spelling, whole, program)
    unknown = _unknown(spelling, name, names)
    if unknown is not None:
        return program.source.error(function, unknown.construct, hint=unknown.hint, kind=UnknownNameError)
    return program.source.error(
        whole,
        f"The call of `{spelling}` is not supported.",
        reason=CALL_REASONS.get(name or spelling, "What it reads and writes is not known."),
        hint=(f"Call the variable `{hidden[0]}` something else: what is read here is the function." if hidden else "")
        or _hint(spelling, name)
        or "Write its computation as plain arithmetic, or as a function with one `return` expression.",
    )


def _called_variable(node: ast.Call, spelling: str, whole: Span, program: Program) -> ExtractionError:
    if program.rank(spelling) is None:
        message, hint = f"`{spelling}` is a variable here, not a function.", "Rename the variable."
        return program.source.error(whole, message, hint=hint)
    places = ", ".join(map(ast.unparse, node.args)) or "i"
    message = f"`{spelling}` is an array, not a function."
    return program.source.error(whole, message, hint=f"Write `{spelling}[{places}]` for an element of it.")


def _unknown(spelling: str, name: str | None, names: GlobalNames) -> Refusal | None:
    """What is said of a function that does not exist, as far as anybody can see; None for the others."""
    module, _, attribute = (name or "").rpartition(".")
    if module in _MODULES and not hasattr(import_module(module), attribute):
        prefix = spelling.rpartition(".")[0]
        known = [f"{prefix}.{one[len(module) + 1 :]}" for one in (*PURE, *HINTS) if one.startswith(f"{module}.")]
        return Refusal(f"There is no `{spelling}`{near(spelling, known)}.", "", "Check the spelling.")
    if name is not None or _hint(spelling, name) or names.value(spelling) is not None or hasattr(builtins, spelling):
        return None
    return Refusal(f"The function `{spelling}` is not known.", "", "Import it, define it, or check the spelling.")


def _hint(spelling: str, name: str | None) -> str:
    return HINTS.get(name or spelling) or HINTS.get(spelling, "")
