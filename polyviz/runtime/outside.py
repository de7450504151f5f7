"""Which iteration leaves an array, and with what: the loops as written are run once more, on copies, to find out.

A test in generated code knows that a subscript is out of range, and no more; nothing is kept of the iteration, which
would cost time in every one that is right. Python knows it all where it stops.
"""

from __future__ import annotations

import ast
import textwrap
import time
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from polyviz.codegen.calling import is_checked, out_of_range, written_arrays
from polyviz.errors import OutOfBoundsError, Span
from polyviz.model.expression import Element, walk
from polyviz.runtime.original import without_types

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from types import TracebackType

    from numpy.typing import NDArray

    from polyviz.model.scop import Scop
    from polyviz.runtime.original import Original

PATIENCE = 2.0
"""Seconds that the loops may take as plain Python; an error that comes later is worth less than one that comes."""
_FILE = "<polyviz: the loops once more>"
_TICK = "polyviz_tick"
_HINT = "No array was changed. Correct what the subscript is read from, or leave such iterations out with an `if`."


class _TooLongError(Exception):
    """The loops take longer than anybody waits for."""


def located(
    error: OutOfBoundsError, scop: Scop, original: Original, given: Mapping[str, Any], patience: float = PATIENCE
) -> OutOfBoundsError:
    """``error`` with the place, the iteration, the value and the length, as far as ``patience`` seconds tell them.

    ``given`` are the values of the call by name, which stay as they are.

    >>> import numpy as np, polyviz as pv
    >>> kernel = pv.compile("def f(y, k):\\n    for i in range(3):\\n        y[k[i]] = 0.0", target="python")
    >>> given = {"y": np.ones(4), "k": np.array([1, 9, 2])}
    >>> print(located(pv.OutOfBoundsError("?"), kernel.scop, kernel.original, given).message)
    `y[k[i]]` leaves its array in iteration i=1: `k[i]` is 9, and `y` has 4 elements (subscripts from -4 to 3).
    """
    if error.text:
        return error
    found = _found(scop, original, given, patience)
    if found is not None:
        return found
    meant = _meant(error, scop)
    if meant is None:
        return error
    reason = _held(meant, {name: value for name, value in given.items() if name not in written_arrays(scop)}, given)
    return OutOfBoundsError(error.message, span=meant.span, text=scop.text, reason=reason, hint=error.hint)


def _held(element: Element, steady: Mapping[str, Any], given: Mapping[str, Any]) -> str:
    """Which numbers an array of subscripts holds, if that is ``steady`` and some of them are outside."""
    shape = getattr(given.get(element.array), "shape", ())
    if len(shape) != len(element.subscripts):
        return ""
    for axis, (subscript, extent) in enumerate(zip(element.subscripts, shape, strict=True)):
        name = subscript.array if isinstance(subscript, Element) else ""
        values = steady.get(name)
        if not isinstance(values, np.ndarray) or _outside(values, extent) is None:
            continue
        low, high = values.min(), values.max()
        where = _named(element.array, axis, shape)
        return f"`{name}` holds numbers from {low} to {high}, and {where} has {_elements(extent)}."
    return ""


def _meant(error: OutOfBoundsError, scop: Scop) -> Element | None:
    """The element that ``error`` tells of, if only one can be meant."""
    elements = {
        node.span: node
        for statement in scop.statements
        for instruction in statement.body
        for node in walk(instruction)
        if isinstance(node, Element)
        and is_checked(scop, node, statement)
        and out_of_range(scop, node).sentence == error.message
    }
    return elements.popitem()[1] if len(elements) == 1 else None


def _found(
    scop: Scop, original: Original, given: Mapping[str, Any], patience: float
) -> OutOfBoundsError | None:
    tree = _loops(scop)
    names = dict(original.python().__globals__)
    written = written_arrays(scop)
    try:
        values = [value.copy(order="K") if name in written else value for name, value in given.items()]
        exec(compile(_ticking(tree), _FILE, "exec"), names)
        names[_TICK] = _clock(patience)
        with np.errstate(all="ignore"):
            names[scop.name](*values)
    except IndexError as error:
        return _told(scop, tree, error)
    except Exception:  # whatever else is wrong with these values, it is not what is looked for
        return None
    return None


def _clock(patience: float) -> Any:
    deadline = time.monotonic() + patience

    def tick() -> None:
        if time.monotonic() > deadline:
            raise _TooLongError

    return tick


def _loops(scop: Scop) -> ast.Module:
    """The functions of the part, where they stand in its text; a cell as a function of what it takes."""
    tree = ast.parse(textwrap.dedent(scop.text))
    given = [argument.name for argument in scop.arguments]
    if scop.is_cell:
        arguments = ast.arguments([], [ast.arg(name) for name in given], None, [], [], None, [])
        tree.body = [ast.FunctionDef(scop.name, arguments, tree.body, [])]
        return ast.fix_missing_locations(tree)
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    for function in functions:
        without_types(function, frozenset(given) if function.name == scop.name else None)
    tree.body = [*functions]
    return ast.fix_missing_locations(tree)


def _ticking(tree: ast.Module) -> ast.Module:
    """``tree`` with a look at the clock at the beginning of each iteration."""
    for node in ast.walk(tree):
        if isinstance(node, ast.For | ast.While):
            call = ast.Expr(ast.Call(ast.Name(_TICK, ast.Load()), [], []))
            node.body.insert(0, ast.fix_missing_locations(ast.copy_location(call, node)))
    return tree


def _told(scop: Scop, tree: ast.Module, error: IndexError) -> OutOfBoundsError | None:
    """What is wrong where ``error`` stopped the loops; None where that is in a function from elsewhere."""
    traces = list(_traces(error.__traceback__))
    own = [trace for trace in traces if trace.tb_frame.f_code.co_filename == _FILE]
    if own[-1] is not traces[-1]:
        return None
    around = [node for trace in own for node in _path_to(tree, _place_of(trace))]
    node = around[-1] if around else None
    names = dict(own[0].tb_frame.f_globals)
    for trace in own:
        names |= trace.tb_frame.f_locals
    what = _what(node, names) if isinstance(node, ast.Subscript) else None
    if not isinstance(node, ast.Subscript) or what is None:
        return None
    text = ast.get_source_segment(textwrap.dedent(scop.text), node) or ast.unparse(node)
    message = f"`{' '.join(text.split())}` leaves its array{_iteration(around, names)}: {what}."
    return OutOfBoundsError(message, span=_span(node, scop.text), text=scop.text, hint=_HINT)


def _span(node: ast.Subscript, text: str) -> Span:
    """Where ``node`` stands in ``text``, which may be indented as a whole."""
    lines, parsed = text.splitlines(), textwrap.dedent(text).splitlines()
    first, last, end = node.lineno, node.end_lineno or node.lineno, node.end_col_offset or 0
    apart = len(lines[first - 1]) - len(parsed[first - 1])
    start = _column(parsed[first - 1], node.col_offset) + apart
    return Span(first, start, last, _column(parsed[last - 1], end) + apart)


def _column(line: str, offset: int) -> int:
    """The parser counts bytes of UTF-8 from 0, people count characters from 1."""
    return len(line.encode()[:offset].decode()) + 1


def _traces(trace: TracebackType | None) -> Iterator[TracebackType]:
    while trace is not None:
        yield trace
        trace = trace.tb_next


def _place_of(trace: TracebackType) -> tuple[int | None, ...]:
    """Where ``trace`` stopped: the first and the last line, and the bytes in them."""
    return next(islice(trace.tb_frame.f_code.co_positions(), trace.tb_lasti // 2, None))


def _path_to(tree: ast.AST, place: tuple[int | None, ...]) -> list[ast.AST]:
    """The nodes around the expression at ``place``, and that; empty where there is none."""
    for child in ast.iter_child_nodes(tree):
        found = [child] if isinstance(child, ast.expr) and _place(child) == place else _path_to(child, place)
        if found:
            return [tree, *found]
    return []


def _place(node: ast.expr) -> tuple[int | None, ...]:
    return (node.lineno, node.end_lineno, node.col_offset, node.end_col_offset)


def _iteration(around: list[ast.AST], names: Mapping[str, Any]) -> str:
    """The whole numbers that the loops ``around`` have reached."""
    targets = [part for node in around if isinstance(node, ast.For) for part in ast.walk(node.target)]
    iterators = dict.fromkeys(part.id for part in targets if isinstance(part, ast.Name))
    values = {name: names[name] for name in iterators if _is_whole(names.get(name))}
    told = ", ".join(f"{name}={value}" for name, value in values.items())
    return f" in iteration {told}" if told else ""


def _what(node: ast.Subscript, names: Mapping[str, Any]) -> str | None:
    """Which of the subscripts is not inside, and what is; None where none is found."""
    array = _value(node.value, names)
    shape = getattr(array, "shape", None)
    shape = (len(array),) if shape is None and hasattr(array, "__len__") else shape
    subscripts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    if not shape or len(subscripts) > len(shape):
        return None
    for axis, (subscript, extent) in enumerate(zip(subscripts, shape, strict=False)):
        values = None if isinstance(subscript, ast.Slice) else np.asarray(_value(subscript, names))
        wrong = None if values is None else _outside(values, extent)
        if values is None or wrong is None:
            continue
        text, name = ast.unparse(subscript), ast.unparse(node.value)
        verb = "holds" if values.ndim else "is"
        beside = "" if text == str(wrong) else f"`{text}` {verb} {wrong}, and "
        return f"{beside}{_named(name, axis, shape)} has {_elements(extent)}"
    return None


def _named(array: str, axis: int, shape: tuple[int, ...]) -> str:
    return f"`{array}`" if len(shape) == 1 else f"axis {axis} of `{array}`"


def _value(node: ast.expr, names: Mapping[str, Any]) -> Any:
    """What ``node`` is where the loops stopped."""
    return eval(compile(ast.Expression(node), _FILE, "eval"), {**names})


def _outside(numbers: NDArray[Any], extent: int) -> int | None:
    """The first of ``numbers`` that names none of ``extent`` elements."""
    if numbers.dtype.kind not in "iu":
        return None
    wrong = numbers[(numbers < -extent) | (numbers >= extent)]
    return int(wrong[0]) if wrong.size else None


def _elements(extent: int) -> str:
    if not extent:
        return "no elements"
    return f"{extent} element{'s' * (extent != 1)} (subscripts from {-extent} to {extent - 1})"


def _is_whole(value: object) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool)
