"""Edits as text: one call per line, in the notation of Python, read without running anything.

schedule("pluto")
tile(at="i", sizes=(32, 32))
"""

from __future__ import annotations

import ast
import re
from dataclasses import MISSING
from typing import TYPE_CHECKING, Any, NamedTuple

from polyviz.errors import OptionError, PolyvizError
from polyviz.transform.registry import move_arguments, move_class, moves

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from polyviz.editing.edit import Edit
    from polyviz.model.scop import Scop

START = "schedule"
"""The call of the first line: the schedule that the edits begin with."""


class Call(NamedTuple):
    """A line of a script."""

    line: int
    name: str
    positional: tuple[Any, ...]
    arguments: Mapping[str, Any]

    @property
    def words(self) -> dict[str, Any]:
        """What the move is given, by name: the place may stand first without one.

        Raises ``OptionError`` for more that has no name, and for what is no place.
        """
        if not self.positional:
            return dict(self.arguments)
        place, *others = self.positional
        path = isinstance(place, tuple) and all(isinstance(step, int) for step in place)
        if others or not (isinstance(place, str) or path):
            raise OptionError(f"What `{self.name}` is to do is given by name: write {_example(self.name)}.")
        return {"at": place, **self.arguments}


def _example(name: str) -> str:
    """How a move is written, its values left open."""
    kind = move_class(name)
    fields = move_arguments(kind)
    needed = [key for key, field in fields.items() if key in kind.loops or field.default is MISSING] or list(fields)
    is_placed = "member" in kind.__dataclass_fields__ or not (kind.loops or kind.parts)
    words = [*(["at"] if is_placed else []), *needed]
    return f"{name}({', '.join(f'{word}=…' for word in words)})"


def as_python(text: str) -> str:
    """``text`` with moves that are written as they are listed, with hyphens, in a form that Python reads.

    Nothing changes its place, so that messages name the right columns.

    >>> as_python('strip-mine(at="i", size=8); unroll-and-jam(at="j", factor=2)')
    'strip_mine(at="i", size=8); unroll_and_jam(at="j", factor=2)'
    """
    for name in moves():
        if "-" in name:
            called = rf"(?m)(^|;)([ \t]*){re.escape(name)}(?=[ \t]*\()"
            text = re.sub(called, rf"\1\2{name.replace('-', '_')}", text)
    return text


def call_text(name: str, at: str | None, arguments: Mapping[str, Any]) -> str:
    """A move as a line.

    >>> call_text("strip-mine", "i", {"size": 8})
    'strip_mine(at="i", size=8)'
    """
    words = [] if at is None else [f"at={literal(at)}"]
    words += [f"{key}={literal(value)}" for key, value in arguments.items()]
    return f"{name.replace('-', '_')}({', '.join(words)})"


def literal(value: object) -> str:
    """A value as Python writes it, texts in double quotes.

    >>> literal(("i", 3))
    '("i", 3)'
    """
    if isinstance(value, str):
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'
    if isinstance(value, tuple):
        return f"({', '.join(map(literal, value))}{',' * (len(value) == 1)})"
    return repr(value)


def script_text(origin: Mapping[str, Any], lines: Sequence[str]) -> str:
    """The whole script: where the edits begin, then one line per move."""
    options = "".join(f", {key}={literal(value)}" for key, value in origin.items() if key != START)
    return "\n".join([f"{START}({literal(origin[START])}{options})", *lines]) + "\n"


def python_text(scop: Scop, origin: Mapping[str, Any], lines: Sequence[str]) -> str:
    """A Python script that extracts the part from its own text, makes the moves and ends with a schedule."""
    options = ", ".join(f"{key}={literal(value)}" for key, value in origin.items())
    source = scop.text.rstrip().replace("\\", "\\\\").replace('"""', '\\"\\"\\"')
    head = ["import polyviz as pv", "", f'SOURCE = """\\\n{source}\n"""', ""]
    steps = [f"edit = pv.edit(SOURCE, {options})"]
    for line in lines:
        name, _, rest = line.partition("(")
        comma = "" if rest == ")" else ", "
        steps.append(f'edit = edit.apply("{name}"{comma}{rest}')
    return "\n".join([*head, *steps, "schedule = edit.schedule"]) + "\n"


def read_script(text: str) -> Iterator[Call]:
    """The calls of a script; raises ``OptionError`` with the line for anything else.

    >>> [call.name for call in read_script('schedule("isl")  # start\\ntile(at="i", sizes=(4,))')]
    ['schedule', 'tile']
    """
    if not isinstance(text, str):
        raise OptionError(
            f"A script is text, as `Edit.script()` gives it, not a value of type {type(text).__name__}."
        )
    try:
        body = ast.parse(as_python(text)).body
    except SyntaxError as error:
        raise OptionError(f"Line {error.lineno} of the script is no call: {error.msg}.") from error
    for node in body:
        yield _call(node)


def _call(node: ast.stmt) -> Call:
    call = node.value if isinstance(node, ast.Expr) else None
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
        raise OptionError(
            f'Line {node.lineno} of the script is no call such as tile(at="i", sizes=(32, 32)).'
        )
    try:
        positional = tuple(ast.literal_eval(argument) for argument in call.args)
        arguments = {word.arg: ast.literal_eval(word.value) for word in call.keywords if word.arg is not None}
    except ValueError as error:
        raise OptionError(
            f"Line {node.lineno} of the script holds a value that is no number, text or tuple."
        ) from error
    return Call(node.lineno, call.func.id, positional, arguments)


def replay_lines(edit: Edit, calls: Sequence[Call]) -> Edit:
    """``edit`` after the moves of ``calls``; an error says in which line it happened."""
    for call in calls:
        try:
            edit = edit.apply(call.name, **call.words)
        except PolyvizError as error:
            error.message = f"Line {call.line} of the script: {error.message}"
            raise
    return edit
