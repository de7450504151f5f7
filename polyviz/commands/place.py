"""Where the loops to be explained stand: a function of a file, and what it needs. Nothing heavy is imported here."""

from __future__ import annotations

import ast
from difflib import get_close_matches
from pathlib import Path

from polyviz.errors import OptionError


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
