"""What ``%%polyopt`` does with a cell, from its text to the result that is shown."""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from IPython.display import display

from polyviz.api import extract, inspect
from polyviz.errors import OptionError
from polyviz.model.display import mime_bundle
from polyviz.notebook.cell import Cell, read_cell
from polyviz.notebook.inplace import arguments_of
from polyviz.notebook.progress import Progress, line_for
from polyviz.notebook.result import Result
from polyviz.notebook.session import NoVariantError, Session

if TYPE_CHECKING:
    from collections.abc import MutableMapping, Sequence

    from polyviz.api import Inspector
    from polyviz.notebook.options import Options


def optimise_cell(
    shell: Any, namespace: MutableMapping[str, Any], options: Options, line: str, body: str
) -> Any:
    """Do what ``options`` ask for with the cell; returns the result that the notebook shows.

    Raises ExtractionError, OptionError, VerificationError or CancelledError, all of them with the arrays untouched.
    """
    cell = read_cell(line, body)
    _execute(shell, cell, cell.before, namespace)
    if options.inspect:
        result: Any = _inspected(cell, namespace, options)
    else:
        result = _optimised(shell, namespace, options, cell)
        _execute(shell, cell, cell.after, namespace)
    if options.name is not None:
        namespace[options.name] = result
    return result


def _optimised(shell: Any, namespace: MutableMapping[str, Any], options: Options, cell: Cell) -> Result:
    progress = Progress(line_for(shell), stage="starting")
    session = Session(options, namespace, progress)
    try:
        with progress:
            parts = (session.run_loops(cell),) if cell.is_loops else session.run_functions(cell)
    except KeyboardInterrupt as error:
        raise session.interrupted(error) from None
    except NoVariantError as error:
        # The table says for every variant what happened; it cannot be the result of a cell that fails.
        shell.display_pub.publish(data=mime_bundle(error.comparison.data))
        raise
    return Result(parts, options.show)


def _inspected(cell: Cell, namespace: MutableMapping[str, Any], options: Options) -> Inspector:
    if len(cell.functions) > 1:
        names = ", ".join(function.name for function in cell.functions)
        raise OptionError(f"--inspect looks at one loop nest, and this cell holds {names}.")
    text = cell.loops if cell.is_loops else cell.functions[0].text
    part = extract(text, namespace=namespace, sizes=options.sizes or None)
    if cell.is_loops and options.name is not None:
        # Several inspected cells of a notebook are told apart by it.
        part = replace(part, name=options.name)
    arguments = arguments_of(part, namespace) if cell.is_loops else ()
    return inspect(part, *arguments, schedules=options.schedules, namespace=namespace)


def _execute(shell: Any, cell: Cell, statements: Sequence[ast.stmt], namespace: MutableMapping[str, Any]) -> None:
    """Run the ordinary Python around what is optimised, as the notebook would: a value at its end is displayed."""
    if not statements:
        return
    filename = shell.compile.cache(cell.text, shell.execution_count)
    last = statements[-1]
    value = last.value if isinstance(last, ast.Expr) else None
    module = ast.Module(body=list(statements[:-1] if value is not None else statements), type_ignores=[])
    exec(compile(module, filename, "exec"), shell.user_global_ns, namespace)
    if value is None:
        return
    shown = eval(compile(ast.Expression(value), filename, "eval"), shell.user_global_ns, namespace)
    if shown is not None:
        display(shown)  # type: ignore[no-untyped-call]  # IPython gives it no types
