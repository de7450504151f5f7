"""Everything known about the loops of a function in a file, as text."""

from __future__ import annotations

import ast
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING

from polyviz.analysis import dependences as find_dependences
from polyviz.analysis import parallelism
from polyviz.api.compiling import build_kernel
from polyviz.api.extracting import extract
from polyviz.commands.terminal import fitted
from polyviz.errors import OptionError
from polyviz.scheduling import schedule as find_schedule
from polyviz.views import text
from polyviz.views.bundles import dependences_bundle

if TYPE_CHECKING:
    from collections.abc import Mapping


def explain(
    place: str,
    schedule: str = "pluto",
    target: str = "auto",
    *,
    code: bool = False,
    sizes: Mapping[str, int] | None = None,
) -> str:
    """The explanation of the function at ``place`` (``FILE:FUNCTION``); ``code`` adds the program for ``target``.

    ``sizes`` tells values of parameters to schedulers that choose by them. Raises OptionError for a file or function
    that is not there, ExtractionError for loops that cannot be handled.
    """
    source = function_text(place)
    scop = extract(source)
    found = find_dependences(scop)
    chosen = find_schedule(scop, schedule, dependences=found, sizes=sizes)
    parts = [
        text.scop_text(scop),
        dependences_bundle(found, scop, drawn=False)["text/plain"],
        "As written. " + text.parallelism_text(parallelism(scop, found, scop.schedule)),
        text.schedule_text(chosen),
    ]
    parts = [fitted(part) for part in parts]
    if code:
        kernel = build_kernel(scop, found, source, schedule=chosen, target=target)
        parts.append(f"Program for {kernel.target}\n{kernel.source}".rstrip())
    return "\n\n".join(parts)


def function_text(place: str) -> str:
    """The text of the file with everything blank but the function and what it needs; line numbers stay.

    The file is not executed: imports, numbers and helper functions beside the function are seen, computed values not.
    """
    path, _, name = place.rpartition(":")
    if not path:
        path, name = name, ""
    content = _content(Path(path))
    try:
        statements = ast.parse(content).body
    except SyntaxError as error:
        raise OptionError(f"{path} is not valid Python: {error.msg} (line {error.lineno}).") from None
    functions = {node.name: node for node in statements if isinstance(node, ast.FunctionDef)}
    chosen = _chosen(path, name, functions)
    needed = _needed(functions, chosen)
    kept = [node for node in statements if _is_context(node) or getattr(node, "name", None) in needed]
    lines = {line for node in kept for line in range(_first_line(node), (node.end_lineno or node.lineno) + 1)}
    return "\n".join(line if number in lines else "" for number, line in enumerate(content.splitlines(), 1))


def _content(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise OptionError(f"There is no file {path}.") from None
    except (OSError, UnicodeDecodeError) as error:
        raise OptionError(f"{path} cannot be read: {error}.") from None


def _chosen(path: str, name: str, functions: dict[str, ast.FunctionDef]) -> str:
    if name in functions:
        return name
    if not functions:
        raise OptionError(f"{path} holds no function.")
    if name:
        near = get_close_matches(name, functions, 1)
        hint = f"did you mean {near[0]!r}?" if near else f"it has {', '.join(functions)}."
        raise OptionError(f"{path} holds no function {name!r}: {hint}")
    if len(functions) > 1:
        raise OptionError(
            f"{path} holds several functions: write {path}:{next(iter(functions))}, for example."
        )
    return next(iter(functions))


def _needed(functions: dict[str, ast.FunctionDef], name: str) -> set[str]:
    """``name`` and the functions it calls, directly or not."""
    needed: set[str] = set()
    waiting = [name]
    while waiting:
        current = waiting.pop()
        needed.add(current)
        names = {node.id for node in ast.walk(functions[current]) if isinstance(node, ast.Name)}
        waiting += sorted(names & functions.keys() - needed)
    return needed


def _is_context(node: ast.stmt) -> bool:
    return isinstance(node, ast.Import | ast.ImportFrom | ast.Assign)


def _first_line(node: ast.stmt) -> int:
    decorators = node.decorator_list if isinstance(node, ast.FunctionDef) else []
    return min([node.lineno, *(decorator.lineno for decorator in decorators)])
