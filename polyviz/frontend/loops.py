"""``for`` headers, and what follows from them: how often loops run, values after them."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING

from polyviz.errors import NotAffineError, UnknownNameError
from polyviz.frontend.affine import AffineReader, NotAffine
from polyviz.frontend.environment import Known
from polyviz.frontend.functions import HINTS
from polyviz.frontend.integers import constant_integer, is_integral, reads_data
from polyviz.frontend.parts import parts_of
from polyviz.model.expression import Binary, Call, Compare, Constant, Element, Expression, Name

if TYPE_CHECKING:
    from polyviz.frontend.expressions import ExpressionReader
    from polyviz.frontend.program import Program

_LOOP_HINT = "Write `for i in range(start, stop, step)`."


@dataclass(frozen=True, slots=True)
class Header:
    """``for variable in range(start, stop, step)``."""

    variable: str
    start: Expression
    stop: Expression
    step: Expression

    @property
    def stride(self) -> int | None:
        """The step where it is a number; None where the program computes it."""
        return constant_integer(self.step)

    def runs(self, stride: int) -> Expression:
        """The condition under which the loop has an iteration."""
        return Compare(("<" if stride > 0 else ">",), (self.start, self.stop))

    def last(self, stride: int) -> Expression:
        """The value of the variable in the last iteration, where there is one."""
        if stride == 1:
            return sum_of(self.stop, -1)
        if stride == -1:
            return sum_of(self.stop, 1)
        span = sum_of(Binary("-", self.stop, self.start), -1 if stride > 0 else 1)
        return Binary("+", self.start, Binary("*", Binary("//", span, self.step), self.step))

    def count(self, iterator: str) -> Expression:
        """How many iterations ran before the one with this value of the iterator."""
        distance = Name(iterator) if self.start == Constant(0) else Binary("-", Name(iterator), self.start)
        return distance if self.stride == 1 else Binary("//", distance, self.step)

    def iterations(self) -> Expression:
        """How often the loop runs; its step is a number.

        >>> from polyviz.frontend.spelling import spelled
        >>> spelled(Header("i", Constant(1), Name("n"), Constant(1)).iterations())
        'max(0, n - 1)'
        """
        stride = self.stride or 1
        first, last = (self.start, self.stop) if stride > 0 else (self.stop, self.start)
        span = plus(last, first, "-")
        if abs(stride) > 1:
            span = Binary("//", sum_of(span, abs(stride) - 1), Constant(abs(stride)))
        folded = constant_integer(span)
        return Call("max", (Constant(0), span)) if folded is None else Constant(max(0, folded))


def plus(left: Expression, right: Expression, operator: str = "+") -> Expression:
    """``left + right`` or ``left - right``, written as a person would.

    >>> plus(Constant(0), Name("i")), plus(Constant(3), Constant(1), "-")
    (Name(name='i'), Constant(value=2))
    """
    constant = constant_integer(right)
    if constant is not None:
        return sum_of(left, constant if operator == "+" else -constant)
    first = constant_integer(left)
    return Binary(operator, left, right) if first is None or operator == "-" else sum_of(right, first)


def scaled(step: Expression, count: Expression) -> Expression:
    """``step * count``, written as a person would.

    >>> scaled(Constant(1), Name("i")), scaled(Constant(2), Constant(3))
    (Name(name='i'), Constant(value=6))
    """
    product = Binary("*", step, count)
    folded = constant_integer(product)
    if folded is not None or step == Constant(0):
        return Constant(folded or 0)
    return count if step == Constant(1) else step if count == Constant(1) else product


def sum_of(expression: Expression, offset: int) -> Expression:
    """``expression + offset``, written as a person would.

    >>> sum_of(Binary("+", Name("n"), Constant(1)), -1)
    Name(name='n')
    """
    if isinstance(expression, Constant) and isinstance(expression.value, int):
        return Constant(expression.value + offset)
    if isinstance(expression, Binary) and expression.operator in ("+", "-"):
        constant = constant_integer(expression.right)
        if constant is not None:
            total = offset + (constant if expression.operator == "+" else -constant)
            return sum_of(expression.left, total)
    if offset == 0:
        return expression
    return Binary("+" if offset > 0 else "-", expression, Constant(abs(offset)))


def read_header(program: Program, expressions: ExpressionReader, node: ast.For) -> Header:
    """The range of a loop; raises when it is not a ``range`` of integers."""
    source = program.source
    arguments = _range_arguments(program, expressions, node)
    if not isinstance(node.target, ast.Name):
        raise source.error(node.target, "A loop has one variable.", hint=_LOOP_HINT)
    values = [_bound(program, expressions, argument) for argument in arguments]
    start = values[0] if len(values) > 1 else Constant(0)
    stop = values[1] if len(values) > 1 else values[0]
    step = _step(program, values[2]) if len(values) == 3 else Constant(1)
    if step == Constant(0):
        raise source.error(
            arguments[2], "The step of a loop cannot be 0.", hint="Use a positive or negative step."
        )
    _assume_progress(program, step)
    header = Header(node.target.id, start, stop, step)
    return _backwards(program, header, node) if _is_reversed(expressions, node.iter) else header


def _is_reversed(expressions: ExpressionReader, iterable: ast.expr) -> bool:
    """Whether ``iterable`` is ``reversed(...)`` of one thing."""
    called = isinstance(iterable, ast.Call) and expressions.canonical(iterable.func) == "reversed"
    return called and isinstance(iterable, ast.Call) and len(iterable.args) == 1 and not iterable.keywords


def _backwards(program: Program, header: Header, node: ast.For) -> Header:
    """The same iterations, the last one first."""
    stride = header.stride
    if stride is None:
        raise program.source.error(
            node.iter,
            "A reversed loop needs a step that is a number.",
            reason="Where it starts follows from the last iteration.",
            hint=_LOOP_HINT,
        )
    end = sum_of(header.start, -1 if stride > 0 else 1)
    return Header(header.variable, header.last(stride), end, Constant(-stride))


def _range_arguments(program: Program, expressions: ExpressionReader, node: ast.For) -> list[ast.expr]:
    iterable = node.iter
    if isinstance(iterable, ast.Call) and _is_reversed(expressions, iterable):
        iterable = iterable.args[0]
    name = expressions.canonical(iterable.func) if isinstance(iterable, ast.Call) else None
    if isinstance(iterable, ast.Call) and name in ("range", "numba.prange", "numpy.arange"):
        if name == "numba.prange":
            program.notes.append(
                f"Line {node.lineno}: `prange` is read as `range`; the analysis decides which loops run in parallel."
            )
        if iterable.keywords or not 1 <= len(iterable.args) <= 3:
            raise program.source.error(iterable, "`range` takes one to three integers.", hint=_LOOP_HINT)
        return iterable.args
    raise _not_a_range(program, expressions, iterable)


def _not_a_range(program: Program, expressions: ExpressionReader, iterable: ast.expr) -> Exception:
    source = program.source
    arguments = iterable.args if isinstance(iterable, ast.Call) else []
    for part in (iterable, *arguments):
        if isinstance(part, ast.Name) and isinstance(program.globals.value(part.id), list | tuple):
            program.read(part)  # raises: a list of the surroundings
    if isinstance(iterable, ast.Name) and program.array(iterable.id) is not None:
        name = iterable.id
        return source.error(
            iterable,
            f"A loop over the elements of `{name}` is not supported.",
            reason="The position of each element has to be visible.",
            hint=f"Write `for i in range({name}.shape[0])` and use `{name}[i]`.",
        )
    if isinstance(iterable, ast.Tuple | ast.List | ast.Set):
        return source.error(
            iterable,
            f"This loop over {_kind(iterable)} is not supported.",
            reason="It takes `range`, or a tuple or list of no more than 64 numbers that the body leaves alone.",
            hint="Put the values into an array before the loops, and loop over its places: `for k in range(len(K))`.",
        )
    called = isinstance(iterable, ast.Call) and isinstance(iterable.func, ast.Name)
    spelling = ast.unparse(iterable.func) if isinstance(iterable, ast.Call) else ast.unparse(iterable)
    if called and spelling == "range" and program.is_local("range"):
        return source.error(iterable, "`range` is assigned in the program.", hint="Use another name for it.")
    if called and spelling not in HINTS and expressions.canonical(iterable) is None:
        return source.error(
            iterable,
            f"A loop over `{spelling}(...)` is not supported.",
            hint=_LOOP_HINT,
            kind=UnknownNameError,
        )
    known = expressions.canonical(iterable.func) if isinstance(iterable, ast.Call) else None
    hint = HINTS.get(known or spelling, _LOOP_HINT)
    return source.error(
        iterable,
        f"A loop over `{spelling}{'(...)' if isinstance(iterable, ast.Call) else ''}` is not supported.",
        reason="Only loops over `range` have a known set of iterations.",
        hint=hint,
    )


def _kind(values: ast.Tuple | ast.List | ast.Set) -> str:
    return {ast.Tuple: "a tuple", ast.List: "a list", ast.Set: "a set"}[type(values)]


def _step(program: Program, value: Expression) -> Expression:
    """The step: a number where it is a constant or a parameter whose value was given, else what computes it."""
    constant = constant_integer(value)
    known = program.parameters.frozen_value(value) if constant is None else constant
    return value if known is None else Constant(known)


def _assume_progress(program: Program, step: Expression) -> None:
    """Python refuses the step 0; where the loop surely starts, that is a condition on the arguments."""
    if (
        program.depth
        or constant_integer(step) is not None
        or not program.parameters.is_made_of_parameters(step)
    ):
        return
    try:
        value = AffineReader((), program.parameters).value(step)
    except NotAffine:
        return
    program.assumptions.append(value.ne_set(value.sub(value)).params())


def _bound(program: Program, expressions: ExpressionReader, node: ast.expr) -> Expression:
    array = program.array(node.id) if isinstance(node, ast.Name) else None
    if array is not None:
        raise program.source.error(
            node,
            f"The bound `{array.name}` is an array.",
            reason="`range` takes integers only.",
            hint=f"Write `range({array.name}.shape[0])` for a loop over its elements.",
        )
    value = expressions.read(node)
    if is_integral(value) or (reads_data(value) and not _is_float_scalar(program, value)):
        return value
    raise program.source.error(
        node,
        f"The bound `{ast.unparse(node)}` is not an integer.",
        reason=f"`range` takes integers only{', and `/` gives a float' if _divides(node) else ''}.",
        hint="Use `//` for integer division, or `int(...)`."
        if _divides(node)
        else "Use an integer, or `int(...)`.",
        kind=NotAffineError,
    )


def _divides(node: ast.expr) -> bool:
    return any(isinstance(part, ast.BinOp) and isinstance(part.op, ast.Div) for part in parts_of(node))


def _is_float_scalar(program: Program, value: Expression) -> bool:
    """Whether ``value`` is a number that the notebook holds as a float, or an argument annotated as one."""
    return isinstance(value, Element) and not value.subscripts and program.symbols.is_float(value.array)


def after_loop(header: Header) -> Known | None:
    """The loop variable once the loop is over, provided that the loop ran."""
    stride = header.stride
    if stride is not None and is_integral(header.start) and is_integral(header.stop):
        return Known(header.last(stride), (header.runs(stride),))
    return None
