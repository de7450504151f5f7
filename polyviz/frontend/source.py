"""Where the loops come from: a function, text with one function, or the bare loops of a cell."""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from polyviz.errors import ExtractionError, Span, UnsupportedSyntaxError
from polyviz.frontend.functions import PURE
from polyviz.frontend.given import Real, Truths, Value
from polyviz.frontend.helper_lines import inside_of
from polyviz.frontend.literals import literal_number
from polyviz.frontend.parts import copy_of, parts_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from polyviz.frontend.refuse import Refusal
    from polyviz.model.cut_results import Cut

_TRANSPARENT = frozenset({"njit", "jit", "cache", "lru_cache", "optimize", "staticmethod"})
"""Decorators that leave what a function computes as it is."""
_BEYOND = "It may do more than the loops below it, and these are all that would be compiled."


@dataclass(frozen=True)
class Source:
    """The user's text, parsed, with what is known of the names around it.

    ``names`` are the globals and closure of a function, or the namespace of a notebook; ``imports`` what the text
    itself imports (local name to dotted name); ``helpers`` the other functions of the text. ``indent`` is the number
    of columns that were removed from every line before parsing. ``defaults`` are those of a function object.
    ``own_loops`` are variables of loops and sums that the text does not name, ``block_names`` are assigned once, in a
    loop or condition, and used only below, in the same block; ``row_names`` stand for parts of arrays in one block.
    ``absent`` are arguments that were left out of ``arguments``, since they are None, ``masks`` those that hold truth
    values in the call that the text is read for, and ``no_masks`` the other arrays of that call.
    ``told`` are arguments whose values that call tells, which are written in their places.
    ``place_names`` stand for places in arrays, each for all subscripts of one.
    ``constants`` are arrays around the function, with their values of now. ``after_returns`` are assigned once, outside
    of loops and behind an early ``return``.
    """

    text: str
    name: str
    body: tuple[ast.stmt, ...]
    arguments: ast.arguments | None
    names: Mapping[str, Any] = field(default_factory=dict)
    has_namespace: bool = False
    imports: Mapping[str, str] = field(default_factory=dict)
    helpers: Mapping[str, ast.FunctionDef] = field(default_factory=dict)
    docstring: str = ""
    indent: int = 0
    defaults: Mapping[str, Any] = field(default_factory=dict)
    own_loops: frozenset[str] = frozenset()
    block_names: frozenset[str] = frozenset()
    row_names: frozenset[str] = frozenset()
    place_names: frozenset[str] = frozenset()
    absent: frozenset[str] = frozenset()
    masks: frozenset[str] = frozenset()
    no_masks: frozenset[str] = frozenset()
    told: Mapping[str, int] = field(default_factory=dict)
    constants: frozenset[str] = frozenset()
    after_returns: frozenset[str] = frozenset()
    cut: Cut | None = None

    @property
    def is_cell(self) -> bool:
        """Bare loops rather than a function."""
        return self.arguments is None

    def span(self, first: ast.AST, last: ast.AST | None = None) -> Span:
        """The region from ``first`` to the end of ``last``."""
        start, end = _positioned(first), _positioned(last if last is not None else first)
        return Span(
            start.lineno,
            self._column(start.lineno, start.col_offset),
            end.end_lineno or end.lineno,
            self._column(end.end_lineno or end.lineno, end.end_col_offset or end.col_offset),
        )

    def segment(self, span: Span) -> str:
        """The text at ``span``; further lines lose the indentation of the first."""
        lines = self.text.splitlines()[span.line - 1 : span.end_line]
        lines[-1] = lines[-1][: span.end_column - 1]
        margin = " " * (span.column - 1)
        head = lines[0][span.column - 1 :]
        return "\n".join([head, *(line.removeprefix(margin) for line in lines[1:])])

    def error(
        self,
        where: ast.AST | Span,
        message: str,
        *,
        reason: str = "",
        hint: str = "",
        kind: type[ExtractionError] = UnsupportedSyntaxError,
        inside: str = "",
    ) -> ExtractionError:
        """An error that points at ``where`` in the user's text, and ``inside`` of a helper that is called there."""
        span = where if isinstance(where, Span) else self.span(where)
        inside = inside or ("" if isinstance(where, Span) else inside_of(where))
        return kind(message, span=span, reason=reason, hint=hint, text=self.text, inside=inside)

    def refuse(self, where: ast.AST, refusal: Refusal, inside: str = "") -> ExtractionError:
        """The error for an entry of the table of refused constructs."""
        message = f"{refusal.construct} is not supported in an optimised loop nest."
        return self.error(where, message, reason=refusal.reason, hint=refusal.hint, inside=inside)

    def _column(self, line: int, offset: int) -> int:
        # The parser counts bytes of UTF-8, people count characters.
        lines = self.text.splitlines()
        text = lines[line - 1][self.indent :] if line <= len(lines) else ""
        return len(text.encode()[:offset].decode(errors="ignore")) + 1 + self.indent


def _positioned(node: ast.AST) -> ast.expr:
    return node  # type: ignore[return-value]  # every node we point at has a position; typeshed keeps it per class


def with_ranks(source: Source, ranks: Mapping[str, int]) -> Source:
    """``source`` with a head that states the dimensions of its arguments, as far as it does not yet.

    >>> source = with_ranks(read_source("def f(A, x: 'float64[:]'): pass", None, None), {"A": 2, "x": 2})
    >>> ast.unparse(source.arguments)
    "A: 'float64[:, :]', x: 'float64[:]'"
    """
    if source.arguments is None:
        return source
    arguments = copy_of(source.arguments)
    for one in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs):
        if _is_open(one.annotation) and ranks.get(one.arg) and not isinstance(ranks[one.arg], Value):
            one.annotation = ast.Constant(f"float64[{', '.join([':'] * ranks[one.arg])}]")
        elif _is_open(one.annotation) and isinstance(ranks.get(one.arg), Real):
            one.annotation = ast.Name("float", ast.Load())
    masks = frozenset(name for name, rank in ranks.items() if isinstance(rank, Truths))
    arrays = frozenset(name for name, rank in ranks.items() if rank > 0 and not isinstance(rank, Value))
    return replace(source, arguments=arguments, masks=masks, no_masks=arrays - masks)


def _is_open(annotation: ast.expr | None) -> bool:
    """Whether ``annotation`` leaves open how many dimensions there are: none, ``Any``, or the type of all arrays."""
    text = "" if annotation is None else ast.unparse(annotation).strip("'\"")
    return not text or re.fullmatch(r"([\w.]+\.)?(Any|ndarray|NDArray(\[.*\])?)", text) is not None


def read_source(source: object, namespace: Mapping[str, Any] | None, filename: str | None) -> Source:
    """Parse a function object or text; raises ``UnsupportedSyntaxError`` for anything else."""
    if isinstance(source, str):
        return _plain(_from_text(source, namespace, filename or "<cell>"))
    function = inspect.unwrap(source, stop=inspect.isfunction) if callable(source) else None
    function = getattr(function, "py_func", function)
    if inspect.isfunction(function) and hasattr(function, "__wrapped__"):
        name = function.__name__
        raise UnsupportedSyntaxError(
            f"A decorator has put a function of its own around `{name}`.",
            reason=_BEYOND,
            hint=f"Pass the function inside, `{name}.__wrapped__`, where its loops are all that is meant.",
        )
    if inspect.ismethod(function):
        raise UnsupportedSyntaxError(
            f"`{function.__qualname__}` is a method of an object, and loops are extracted from plain functions.",
            reason="Its arrays belong to the object, where the analysis cannot see them.",
            hint="Write a function that takes the arrays, and call it in the method: `update(self.A, self.B)`.",
        )
    if not inspect.isfunction(function):
        raise UnsupportedSyntaxError(
            f"Loops cannot be extracted from an object of type `{type(source).__name__}`.",
            hint="Pass a Python function, or its text.",
        )
    return _from_function(function, namespace, filename)


def _plain(source: Source) -> Source:
    """``source`` whose functions have no decorators but those that leave a function what it is."""
    for function in source.helpers.values():
        for decorator in function.decorator_list:
            maker = decorator.func if isinstance(decorator, ast.Call) else decorator
            if ast.unparse(maker).rpartition(".")[2] not in _TRANSPARENT:
                name, text = function.name, ast.unparse(decorator)
                raise source.error(
                    decorator,
                    f"The decorator `{text}` is not supported.",
                    reason=_BEYOND,
                    hint=f"Leave it out, and put it around the optimised function later: `{name} = {text}({name})`.",
                )
    return source


def _from_function(
    function: Callable[..., Any], namespace: Mapping[str, Any] | None, filename: str | None
) -> Source:
    name = getattr(function, "__name__", "function")
    try:
        text = textwrap.dedent(inspect.getsource(function))
    except (OSError, TypeError) as problem:
        raise UnsupportedSyntaxError(
            f"The source of `{name}` cannot be found.",
            reason=str(problem),
            hint="Define it in a file or notebook cell, or pass its text.",
        ) from None
    closure = inspect.getclosurevars(function)
    names = {**function.__globals__, **(namespace or {}), **closure.nonlocals}
    parsed = _from_text(text, names, filename or "<function>")
    if parsed.is_cell:
        raise UnsupportedSyntaxError(
            f"`{name}` is not a `def` function.",
            text=text,
            span=Span(1, 1, 1, 2),
            hint="Write it with `def`.",
        )
    signature = inspect.signature(function).parameters.values()
    defaults = {
        parameter.name: parameter.default
        for parameter in signature
        if parameter.default is not inspect.Parameter.empty
    }
    return replace(parsed, defaults=defaults)


def _from_text(text: str, namespace: Mapping[str, Any] | None, filename: str) -> Source:
    blanked = _without_magic(text)
    dedented = textwrap.dedent(blanked)
    indent = _removed_columns(blanked, dedented)
    try:
        tree = ast.parse(dedented, filename)
    except SyntaxError as problem:
        raise _syntax_error(problem, text, indent) from None
    names = dict(namespace or {})
    imports, rest = _split_imports(tree.body)
    functions = [node for node in rest if isinstance(node, ast.FunctionDef)]
    cell = Source(
        text=text,
        name="cell",
        body=tuple(rest),
        arguments=None,
        names=names,
        has_namespace=namespace is not None,
        imports=imports,
        indent=indent,
    )
    if not functions:
        return cell
    kernel = _kernel(functions, rest, cell)
    body, docstring = _split_docstring(kernel)
    return replace(
        cell,
        name=kernel.name,
        body=body,
        arguments=kernel.args,
        names={**names, **numbers_beside(rest)},
        helpers={node.name: node for node in functions},
        docstring=docstring,
    )


def _without_magic(text: str) -> str:
    """A cell's magic line becomes an empty line, so that line numbers stay those of the cell."""
    lines = text.splitlines(keepends=True)
    for position, line in enumerate(lines):
        if line.strip():
            if line.lstrip().startswith("%%"):
                lines[position] = "\n"
            break
    return "".join(lines)


def _removed_columns(before: str, after: str) -> int:
    for old, new in zip(before.splitlines(), after.splitlines(), strict=False):
        if new.strip():
            return len(old) - len(new)
    return 0


def _syntax_error(problem: SyntaxError, text: str, indent: int) -> UnsupportedSyntaxError:
    line, column = problem.lineno or 1, (problem.offset or 1) + indent
    end_column = max(column + 1, (problem.end_offset or 0) + indent)
    span = Span(line, column, problem.end_lineno or line, end_column)
    return UnsupportedSyntaxError(
        f"This is not valid Python: {problem.msg}.", span=span, text=text, hint="Correct the syntax first."
    )


def _split_imports(body: list[ast.stmt]) -> tuple[dict[str, str], list[ast.stmt]]:
    imports: dict[str, str] = {}
    rest: list[ast.stmt] = []
    for node in body:
        if isinstance(node, ast.Import):
            for alias in node.names:
                imports[alias.asname or alias.name.partition(".")[0]] = (
                    alias.name if alias.asname else (alias.name.partition(".")[0])
                )
        elif isinstance(node, ast.ImportFrom) and node.module:
            imports |= _imported(node.module, node.names)
        else:
            rest.append(node)
    return imports, rest


def _imported(module: str, names: list[ast.alias]) -> dict[str, str]:
    """Local names of ``from module import …``; a star brings in the functions that statements may call."""
    if names[0].name == "*":
        prefix = f"{module}."
        return {name.removeprefix(prefix): name for name in PURE if name.startswith(prefix)}
    return {alias.asname or alias.name: f"{module}.{alias.name}" for alias in names}


def numbers_beside(body: list[ast.stmt]) -> dict[str, Any]:
    """Names set to a number beside the function: the function sees them as constants."""
    found: dict[str, Any] = {}
    for node in body:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                number = literal_number(value, found)
                if number is not None:
                    found[name] = number
    return found


def _kernel(functions: list[ast.FunctionDef], rest: list[ast.stmt], source: Source) -> ast.FunctionDef:
    """The one function that no other function of the text calls."""
    called = {
        node.func.id
        for function in functions
        for node in parts_of(function)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id != function.name
    }
    candidates = [function for function in functions if function.name not in called]
    if len(candidates) != 1:
        raise source.error(
            functions[-1],
            "The text holds several functions, and it is not clear which one to optimise.",
            hint="Pass one function, with the helpers that it calls.",
        )
    for node in rest:
        if isinstance(node, ast.For | ast.While | ast.If | ast.AugAssign):
            raise source.error(
                node,
                "The text mixes a function with loops outside of it.",
                hint="Put the function into a cell of its own.",
            )
    return candidates[0]


def _split_docstring(function: ast.FunctionDef) -> tuple[tuple[ast.stmt, ...], str]:
    documentation = ast.get_docstring(function)
    return tuple(function.body[documentation is not None :]), documentation or ""
