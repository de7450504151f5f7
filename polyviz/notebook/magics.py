"""The magics: ``%%polyopt``, ``%polyinspect``, ``%polyschedulers`` and ``%polydoctor``."""

from __future__ import annotations

import argparse
import ast
import shlex
from collections.abc import MutableMapping
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from IPython.core.error import UsageError
from IPython.core.magic import (
    Magics,
    cell_magic,
    line_magic,
    magics_class,
    needs_local_scope,
    no_var_expand,
)
from IPython.core.magic_arguments import argument, magic_arguments, parse_argstring

from polyviz.errors import OptionError
from polyviz.notebook.completion import OPTIONS

if TYPE_CHECKING:
    from polyviz.notebook.result import Result


@magics_class
class PolyvizMagics(Magics):  # type: ignore[misc]
    """Everything that ``%load_ext polyviz`` adds."""

    @no_var_expand  # type: ignore[untyped-decorator]
    @needs_local_scope  # type: ignore[untyped-decorator]
    @magic_arguments()  # type: ignore[untyped-decorator]
    @argument("-s", "--schedule", metavar="NAME[,NAME…]", help="schedulers, default pluto; see %%polyschedulers")
    @argument("-t", "--target", metavar="NAME[,NAME…]", help="auto (default), c, numba or python")
    @argument("--tile", metavar="N[,N…]", help="tile sizes such as 32,32,32, or off")
    @argument("--compare", action="store_true", help="verify and time all variants, then run the best one in place")
    @argument("--inspect", action="store_true", help="look at domains, dependences and schedules; run nothing")
    @argument("--set", action="append", metavar="NAME=NUMBER", help="a size that is known to the analysis")
    @argument("--name", metavar="NAME", help="also keep the result under this name")
    @argument("--repeats", metavar="K", help="timings per variant of a comparison, default 7")
    @argument("--no-verify", action="store_true", help="do not compare with the loop as written first")
    @argument("--show", metavar="VIEW", help="only one view of the result: source, schedule or tree")
    @cell_magic  # type: ignore[untyped-decorator]
    def polyopt(self, line: str, cell: str, local_ns: MutableMapping[str, Any] | None = None) -> Result:
        """Run the loops of the cell in another order, in place, after a check that the result is the same.

        The cell holds bare loops over arrays of the notebook, or functions, which are then bound as optimised
        kernels. Without the magic it is plain Python. Nothing of yours is changed unless every output of the new
        program agreed with the loop as written on copies.
        """
        from polyviz.notebook.options import read_options
        from polyviz.notebook.polyopt import optimise_cell

        options = read_options(_parse(PolyvizMagics.polyopt, line))
        namespace = self.shell.user_ns if local_ns is None else local_ns
        return optimise_cell(self.shell, namespace, options, line, cell)

    @needs_local_scope  # type: ignore[untyped-decorator]
    @no_var_expand  # type: ignore[untyped-decorator]
    @line_magic  # type: ignore[untyped-decorator]
    def polyinspect(self, line: str, local_ns: MutableMapping[str, Any] | None = None) -> Any:
        """Show the domains, dependences and schedules of a function, kernel or extracted part: %polyinspect NAME."""
        from polyviz.api import inspect

        namespace = self.shell.user_ns if local_ns is None else local_ns
        value = _evaluate(line, namespace)
        return inspect(getattr(value, "scop", value), namespace=namespace)

    @line_magic  # type: ignore[untyped-decorator]
    def polyschedulers(self, line: str) -> Any:
        """List the schedulers that -s of %%polyopt takes."""
        from polyviz.notebook.listing import scheduler_listing

        _no_arguments("polyschedulers", line)
        return scheduler_listing()

    @line_magic  # type: ignore[untyped-decorator]
    def polydoctor(self, line: str) -> Any:
        """Say what is available on this machine, and what to install for the rest."""
        from polyviz.commands.doctor import diagnose

        _no_arguments("polydoctor", line)
        return diagnose()


def _parse(magic: Any, line: str) -> argparse.Namespace:
    """The words of the magic line; any mistake is one line."""
    try:
        words: argparse.Namespace = parse_argstring(magic, line)
    except UsageError as error:
        raise OptionError(_explained(str(error))) from None
    except ValueError as error:
        raise OptionError(f"The options cannot be read: {str(error).lower()}.") from None
    return words


def _explained(message: str) -> str:
    """argparse's sentence, with the nearest option where one does not exist."""
    what, _, given = message.partition(": ")
    if what != "unrecognized arguments":
        return message[:1].upper() + message[1:] + "."
    word = shlex.split(given)[0]
    if not word.startswith("-"):
        return f"Unexpected {word!r}: %%polyopt takes options only; %%polyopt? lists them."
    near = get_close_matches(word.partition("=")[0], OPTIONS, 1)
    return f"Unknown option {word!r}: " + (f"did you mean {near[0]!r}?" if near else "%%polyopt? lists those there are.")


def _evaluate(line: str, namespace: MutableMapping[str, Any]) -> Any:
    """The value of an expression of the notebook."""
    if not line.strip():
        raise OptionError("%polyinspect needs the name of a function, a kernel or an extracted part.")
    try:
        ast.parse(line.strip(), mode="eval")
    except SyntaxError:
        raise OptionError(f"%polyinspect takes an expression, and {line.strip()!r} is none.") from None
    try:
        return eval(line.strip(), dict(namespace))
    except NameError as error:
        near = get_close_matches(str(error.name), namespace, 1)
        hint = f": did you mean {near[0]!r}?" if near else "."
        raise OptionError(f"The notebook has nothing called {error.name!r}{hint}") from None


def _no_arguments(magic: str, line: str) -> None:
    if line.strip():
        raise OptionError(f"%{magic} takes no arguments, not {line.strip()!r}.")
