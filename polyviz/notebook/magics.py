"""The magics: ``%%polyopt``, ``%%polycheck``, ``%polyinspect``, ``%polyschedulers`` and ``%polydoctor``."""

from __future__ import annotations

import ast
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from IPython.core.error import UsageError
from IPython.core.magic import (
    Magics,
    cell_magic,
    line_cell_magic,
    line_magic,
    magics_class,
    needs_local_scope,
    no_var_expand,
)

from polyviz.errors import OptionError
from polyviz.notebook.words import IN_QUOTES, OPTIONS, SHORT, help_text, parse_words, with_options

if TYPE_CHECKING:
    import argparse
    from collections.abc import MutableMapping

    from polyviz.notebook.polycheck import Effort


@magics_class
class PolyvizMagics(Magics):
    """Everything that ``%load_ext polyviz`` adds."""

    def __init__(self, shell: Any) -> None:
        super().__init__(shell)
        self._efforts: dict[str, Effort] = {}

    @no_var_expand
    @needs_local_scope
    @with_options
    @cell_magic
    def polyopt(self, line: str, cell: str, local_ns: MutableMapping[str, Any] | None = None) -> Any:
        """Run the loops of the cell in another order, in place, after a check that the result is the same.

        The cell holds bare loops over arrays of the notebook, or functions, which are then bound as optimised
        kernels. Without the magic it is plain Python. Nothing of yours is changed unless every output of the new
        program agreed with the loop as written on copies.
        """
        from polyviz.notebook.options import read_options
        from polyviz.notebook.polyopt import optimise_cell

        words, namespace = _parse(line), self._namespace(local_ns)
        if words.help:
            print(help_text(PolyvizMagics.polyopt))
            return None
        return optimise_cell(self.shell, namespace, read_options(words, namespace), line, cell)

    @no_var_expand
    @line_cell_magic
    def polycheck(self, line: str, cell: str = "") -> Any:
        """Check the answer in the cell to an exercise: %%polycheck NAME; with --hint, show the next hint too.

        On one line, %polycheck NAME shows the task, and %polycheck NAME --hint the next hint.

        The answer is moves (one per line), an order in isl notation, an expression for an edit or a schedule, or loops.
        Goals are decided exactly; what cannot be read is said, and the notebook goes on.
        """
        from polyviz.notebook.polycheck import check_cell

        return check_cell(self._efforts, line, cell, self._namespace(None))

    @needs_local_scope
    @no_var_expand
    @line_magic
    def polyinspect(self, line: str, local_ns: MutableMapping[str, Any] | None = None) -> Any:
        """Show the domains, dependences and schedules of a function, kernel or extracted part: %polyinspect NAME."""
        from polyviz.api import inspect

        # Inside a function, its own variables come before those of the notebook.
        namespace = {**self._namespace(None), **(local_ns or {})}
        value = _evaluate(line, namespace)
        return inspect(value, namespace=namespace)

    def _namespace(self, local: MutableMapping[str, Any] | None) -> MutableMapping[str, Any]:
        """Where the user's variables are."""
        if local is not None:
            return local
        shell: Any = self.shell
        namespace: MutableMapping[str, Any] = shell.user_ns
        return namespace

    @line_magic
    def polyschedulers(self, line: str) -> Any:
        """List the schedulers that -s of %%polyopt takes."""
        from polyviz.notebook.listing import scheduler_listing

        _no_arguments("polyschedulers", line)
        return scheduler_listing()

    @line_magic
    def polydoctor(self, line: str) -> Any:
        """Say what is available on this machine, and what to install; --measure also measures its speed."""
        from polyviz.commands.doctor import diagnose

        if line.strip() not in ("", "--measure"):
            raise OptionError(f"%polydoctor takes --measure or nothing, not {line.strip()!r}.")
        return diagnose(measure=bool(line.strip()))


def _parse(line: str) -> argparse.Namespace:
    """The words of the magic line; any mistake is one line."""
    try:
        return parse_words(PolyvizMagics.polyopt, line)
    except UsageError as error:
        raise OptionError(_explained(str(error))) from None
    except ValueError as error:
        raise OptionError(f"The options cannot be read: {str(error).lower()}.") from None


def _explained(message: str) -> str:
    """argparse's sentence, with the nearest option where one does not exist."""
    what, _, given = message.partition(": ")
    if given == "expected one argument":
        option = what.rpartition("/")[2].removeprefix("argument ")
        return f"{option} needs a value: {OPTIONS[option]['metavar']}."
    if what != "unrecognized arguments":
        return message[:1].upper() + message[1:] + "."
    word = given.split()[0]
    if "{" in given or "->" in given:
        return f"Unexpected {word!r}: {IN_QUOTES}"
    if not word.startswith("-"):
        return f"Unexpected {word!r}: {_meant(word)}"
    near = get_close_matches(word.partition("=")[0].lower(), [*OPTIONS, *SHORT], 1, _SIMILAR)
    hint = f"did you mean {near[0]!r}?" if near else "%%polyopt --help lists those there are."
    return f"Unknown option {word!r}: {hint}"


_SIMILAR = 0.75
"""How alike two options must be for one to be taken for a slip of the other."""


def _meant(word: str) -> str:
    """What somebody may have wanted who wrote a word that is no option."""
    from polyviz.api import targets
    from polyviz.scheduling import schedulers

    for short, names in (("-s", schedulers()), ("-t", targets())):
        if word in names:
            return f"did you mean '{short} {word}'? Several names are separated by commas."
    if word.isdecimal():
        return "several values of one option are separated by commas, such as '--tile 32,32'."
    return "%%polyopt takes options only; %%polyopt --help lists them."


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
        near = get_close_matches(str(error.name), [name for name in namespace if not name.startswith("_")], 1)
        hint = f": did you mean {near[0]!r}?" if near else "."
        raise OptionError(f"The notebook has nothing called {error.name!r}{hint}") from None


def _no_arguments(magic: str, line: str) -> None:
    if line.strip():
        raise OptionError(f"%{magic} takes no arguments, not {line.strip()!r}.")
