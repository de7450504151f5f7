"""What a ``%%polyopt`` cell holds: bare loops, or functions with imports and constants beside them."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from itertools import takewhile
from typing import TYPE_CHECKING

from polyviz.errors import Span, UnsupportedSyntaxError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_BESIDE = "Beside functions, a %%polyopt cell holds imports, assignments of constants, and calls at its end."


@dataclass(frozen=True, slots=True)
class CellFunction:
    """A function of a cell: its name, and the cell's text with everything else blank (positions stay)."""

    name: str
    text: str


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell, taken apart.

    ``text`` is the whole of it, the magic line as a comment in line 1. ``before`` is ordinary Python to execute first:
    imports, new arrays and constants, helpers that other functions of the cell call. ``loops`` is the text without
    that part (blank lines, so that positions stay), and ``functions`` what is to be optimised instead of bare loops.
    ``after`` holds the expressions at the end, such as ``print(s)``: ordinary Python to execute last.
    """

    text: str
    before: tuple[ast.stmt, ...]
    loops: str
    functions: tuple[CellFunction, ...] = ()
    after: tuple[ast.Expr, ...] = ()

    @property
    def is_loops(self) -> bool:
        """Bare loops rather than functions."""
        return not self.functions


def read_cell(line: str, body: str) -> Cell:
    """Take a cell apart; raises UnsupportedSyntaxError where functions are mixed with other statements.

    Text that is not Python is handed on as bare loops: the front end says what is wrong with it.

    >>> cell = read_cell("-s isl", "import math\\ndef f(A):\\n    for i in range(len(A)):\\n        A[i] = 0\\n")
    >>> cell.is_loops, [function.name for function in cell.functions], cell.text.splitlines()[0]
    (False, ['f'], '# %%polyopt -s isl')
    """
    text = f"# %%polyopt {line}".rstrip() + "\n" + body
    try:
        statements = ast.parse(text).body
    except SyntaxError:
        return Cell(text, (), text)
    after = _expressions_at_end(statements)
    others = statements[: len(statements) - len(after)]
    functions = [node for node in others if isinstance(node, ast.FunctionDef)]
    return _read_functions(text, others, functions, after) if functions else _read_loops(text, others, after)


def _read_loops(text: str, body: list[ast.stmt], after: Sequence[ast.Expr]) -> Cell:
    first = _before_loops(body)
    if len(first) < len(body):
        return Cell(text, tuple(first), _blanked(text, [*first, *after]), after=tuple(after))
    # Nothing is left to optimise: the front end says what it misses, and nothing runs.
    first = [node for node in first if _is_import(node)]
    return Cell(text, tuple(first), _blanked(text, first))


def _read_functions(
    text: str, body: list[ast.stmt], functions: list[ast.FunctionDef], after: Sequence[ast.Expr]
) -> Cell:
    names = {function.name for function in functions}
    for node in body:
        _check_beside(node, names, text)
    helpers = {name for function in functions for name in _names(function) & names if name != function.name}
    before = [
        node
        for node in body
        if not isinstance(node, ast.FunctionDef) or node.name in helpers
    ]
    optimised = [function for function in functions if function.name not in helpers]
    kept = [CellFunction(node.name, _alone(node, text)) for node in optimised]
    return Cell(text, tuple(before), "", tuple(kept), tuple(after))


def _expressions_at_end(statements: Sequence[ast.stmt]) -> list[ast.Expr]:
    """The expressions behind the last other statement, each on lines of its own."""
    found = [node for node in takewhile(lambda node: isinstance(node, ast.Expr), reversed(statements))]
    lines = [node.lineno for node in statements]
    return [node for node in reversed(found) if isinstance(node, ast.Expr) and lines.count(node.lineno) == 1]


def _before_loops(statements: Sequence[ast.stmt]) -> list[ast.stmt]:
    """Imports, and the assignments at the top up to the last one that calls something like ``np.zeros``.

    Scalars that follow, such as ``s = 0.0``, belong to the loops.
    """
    lines = [node.lineno for node in statements]
    simple = [
        *takewhile(lambda node: (_is_import(node) or _names_only(node)) and lines.count(node.lineno) == 1, statements)
    ]
    calls = [number for number, node in enumerate(simple) if _calls_attribute(node)]
    return simple[: calls[-1] + 1] if calls else [node for node in simple if _is_import(node)]


def _names_only(node: ast.stmt) -> bool:
    if isinstance(node, ast.AnnAssign):
        return isinstance(node.target, ast.Name)
    if not isinstance(node, ast.Assign):
        return False
    parts = [part for target in node.targets for part in (target.elts if isinstance(target, ast.Tuple) else [target])]
    return all(isinstance(part, ast.Name) for part in parts)


def _calls_attribute(node: ast.stmt) -> bool:
    return any(isinstance(part, ast.Call) and isinstance(part.func, ast.Attribute) for part in ast.walk(node))


def _is_import(node: ast.stmt) -> bool:
    return isinstance(node, ast.Import | ast.ImportFrom)


def _check_beside(node: ast.stmt, functions: set[str], text: str) -> None:
    if isinstance(node, ast.FunctionDef) or _is_import(node) or _is_text(node):
        return
    if not _names_only(node):
        raise _refusal(node, text, _BESIDE, "Move this to a cell of its own.")
    used = sorted(_names(node) & functions)
    if used:
        message = f"This uses {used[0]}, which is optimised in the same cell."
        raise _refusal(node, text, message, "Move it to the next cell.")


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _refusal(node: ast.stmt, text: str, message: str, hint: str) -> UnsupportedSyntaxError:
    line = text.splitlines()[node.lineno - 1]
    # The parser counts bytes of UTF-8, people count characters.
    column = len(line.encode()[: node.col_offset].decode()) + 1
    end = len(line) + 1
    return UnsupportedSyntaxError(message, span=Span(node.lineno, column, node.lineno, end), text=text, hint=hint)


def _names(node: ast.AST) -> set[str]:
    return {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}


def _alone(function: ast.FunctionDef, text: str) -> str:
    first = min([function.lineno, *(decorator.lineno for decorator in function.decorator_list)])
    kept = range(first, (function.end_lineno or function.lineno) + 1)
    return _with_lines(text, kept)


def _blanked(text: str, statements: Iterable[ast.stmt]) -> str:
    gone = {line for node in statements for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)}
    return _with_lines(text, {number for number in range(1, len(text.splitlines()) + 1)} - gone)


def _with_lines(text: str, kept: Iterable[int]) -> str:
    """``text`` with every line blank but those ``kept``."""
    numbers = set(kept)
    return "\n".join(line if number in numbers else "" for number, line in enumerate(text.splitlines(), 1)) + "\n"
