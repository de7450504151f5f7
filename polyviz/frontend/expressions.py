"""Python expressions become the expression trees of the model; names, shapes and helper calls are resolved."""

from __future__ import annotations

import ast
from functools import reduce
from typing import TYPE_CHECKING, Any

from polyviz.errors import Span, UnknownNameError
from polyviz.frontend.functions import CALL_REASONS, HINTS, IMPURE_REASON, PURE, RANDOM_HINT, UNIVERSAL
from polyviz.frontend.helper_lines import inside_of
from polyviz.frontend.integers import is_float
from polyviz.frontend.library_lines import library_line
from polyviz.frontend.limits import limit
from polyviz.frontend.listed import extreme, listed, one_of
from polyviz.frontend.literals import SUM, beyond_integers
from polyviz.frontend.refuse import EXPRESSIONS, MASK, Refusal, index_refusal, operator_refusal
from polyviz.frontend.refused_calls import refused_call
from polyviz.frontend.renamed import no_array, renaming
from polyviz.frontend.told_sizes import told_by_numbers
from polyviz.frontend.usage import subscript_chain
from polyviz.model.expression import (
    Binary,
    Call,
    Compare,
    Conditional,
    Constant,
    Element,
    Expression,
    Logical,
    Unary,
    Zero,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from polyviz.frontend.program import Program
    from polyviz.frontend.scope import Scope
    from polyviz.frontend.symbols import ArrayDraft

_BINARY: dict[type[ast.operator], str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%", ast.Pow: "**",
    ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^", ast.LShift: "<<", ast.RShift: ">>",
}  # fmt: skip
_UNARY: dict[type[ast.unaryop], str] = {ast.USub: "-", ast.UAdd: "+", ast.Invert: "~", ast.Not: "not"}
_COMPARE: dict[type[ast.cmpop], str] = {
    ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=",
}  # fmt: skip


class ExpressionReader:
    """Reads expressions of one scope; ``place`` is where errors and spans point when the text is not the user's."""

    def __init__(self, program: Program, scope: Scope | None = None, place: ast.AST | None = None) -> None:
        self._program = program
        self._scope: Scope = program if scope is None else scope
        self._place = place
        self._readers: dict[type[ast.expr], Callable[[Any], Expression]] = {
            ast.Constant: self._constant,
            ast.Name: self._scope.read,
            ast.Subscript: self.element,
            ast.Attribute: self._attribute,
            ast.UnaryOp: self._unary,
            ast.BinOp: self._binary,
            ast.Compare: self._compare,
            ast.BoolOp: self._logical,
            ast.IfExp: self._conditional,
            ast.Call: self._call,
        }

    def read(self, node: ast.expr) -> Expression:
        """The expression of the model; raises an ``ExtractionError`` that points at what has no meaning there."""
        reader = self._readers.get(type(node))
        if reader is not None:
            return reader(node)
        raise self._refuse(
            node,
            EXPRESSIONS.get(type(node)) or Refusal(_described(node), "It is no number.", "Use a number."),
        )

    def operator(self, node: ast.AST, operator: ast.operator) -> str:
        """The spelling of a binary operator; raises for ``@``."""
        refusal = operator_refusal(operator)
        if refusal is not None:
            raise self._refuse(node, refusal)
        return _BINARY[type(operator)]

    def element(self, node: ast.Subscript) -> Expression:
        """``A[i, j]`` or ``A[i][j]``; also ``A.shape[k]``."""
        base, indices = subscript_chain(node)
        if isinstance(base, ast.Attribute) and base.attr == "shape":
            return self._shape(base, node, indices)
        array = self._scope.array(base.id) if isinstance(base, ast.Name) else None
        if array is None:
            raise self._not_subscriptable(base)
        for index in indices:
            self._check_index(index)
        if array.is_point and not indices:
            return Element(array.name, (Constant(0),), True, self._span(node))
        if len(indices) != array.rank:
            raise self._wrong_rank(node, array, len(indices))
        subscripts = tuple(self._index(index) for index in indices)
        return Element(array.name, subscripts, True, self._span(node))

    def shape_of(self, node: ast.expr) -> ArrayDraft:
        """The array whose shape is asked for."""
        array = self._scope.array(node.id) if isinstance(node, ast.Name) else None
        if array is None:
            raise self._not_subscriptable(node)
        return array

    def rank_of(self, node: ast.Name) -> int | None:
        """How many dimensions the array ``node`` of the program has; None for no array."""
        return self._program.rank(node.id)

    def canonical(self, node: ast.expr) -> str | None:
        """The canonical name of a function or module, unless a local name hides it."""
        root = node
        while isinstance(root, ast.Attribute):
            root = root.value
        if isinstance(root, ast.Name) and self._scope.is_local(root.id):
            return None
        return self._scope.globals.canonical(node)

    def _span(self, node: ast.AST) -> Span:
        return self._program.source.span(self._place if self._place is not None else node)

    def _error(self, node: ast.AST, message: str, reason: str = "", hint: str = "") -> Exception:
        inside = inside_of(node)
        return self._program.source.error(self._span(node), message, reason=reason, hint=hint, inside=inside)

    def _refuse(self, node: ast.AST, refusal: Refusal) -> Exception:
        return self._program.source.refuse(self._place or node, refusal, inside_of(node))

    def _constant(self, node: ast.Constant) -> Expression:
        value = node.value
        if isinstance(value, bool | float | complex):
            return Constant(value)
        if isinstance(value, int):
            if value < 2**64:  # from 2**63 on it is unsigned, as in numba
                return Zero() if node.kind == SUM else Constant(value)
            raise self._too_large(node, str(value))
        kind = {str: "A string", bytes: "A string", type(None): "`None`"}.get(type(value), "`...`")
        raise self._refuse(
            node, Refusal(kind, "A loop nest works on numbers and arrays of numbers.", "Use a number.")
        )

    def _too_large(self, node: ast.AST, number: str) -> Exception:
        text = f"The integer {number} does not fit into 64 bits."
        return self._error(node, text, hint="Use a float: write it with `.0`.")

    def _attribute(self, node: ast.Attribute) -> Expression:
        constant: Expression | None = None if self.canonical(node) is None else self._scope.globals.constant(node)
        constant = limit(node, self.canonical) if constant is None else constant
        if constant is not None:
            return constant
        array = self._scope.array(node.value.id) if isinstance(node.value, ast.Name) else None
        if array is not None:
            return self._array_attribute(node, array)
        if node.attr in ("real", "imag"):
            return Call(node.attr, (self.read(node.value),))
        canonical = self.canonical(node)
        what = f"`{canonical}`" if canonical else f"The attribute `.{node.attr}`"
        raise self._error(
            node,
            f"{what} is not supported here.",
            "It is no number that can be computed with.",
            f"Swap the subscripts, or make an array of it: `{ast.unparse(node)}.copy()`."
            if node.attr == "T"
            else "Use elements of arrays, `.shape[k]`, `.real`, `.imag`, or pass the value as an argument.",
        )

    def _array_attribute(self, node: ast.Attribute, array: ArrayDraft) -> Expression:
        if node.attr == "ndim":
            return Constant(array.rank)
        extents = (
            [self._program.extent(array, axis) for axis in range(array.rank)] if node.attr == "size" else []
        )
        if extents:
            return reduce(lambda left, right: Binary("*", left, right), extents)
        hint = {
            "shape": f"Use `{array.name}.shape[0]`, or unpack it: `n, m = {array.name}.shape`.",
            "T": f"Swap the subscripts, `{array.name}[j, i]`, or make an array of it: `{array.name}.T.copy()`.",
        }.get(node.attr, f"Write a loop over its elements and use `{array.name}[i]`.")
        raise self._error(
            node, f"`{array.name}.{node.attr}` is not supported as a value.", "It is no number.", hint
        )

    def _shape(self, base: ast.Attribute, node: ast.Subscript, indices: tuple[ast.expr, ...]) -> Expression:
        array = self.shape_of(base.value)
        try:
            axis = ast.literal_eval(indices[0])
        except ValueError:
            axis = None
        if type(axis) is not int or not -array.rank <= axis < array.rank:
            raise self._error(
                node,
                f"`{array.name}` has {array.rank} dimension{'s' if array.rank != 1 else ''}, and its shape needs a "
                "constant index below that.",
                hint=f"Use `{array.name}.shape[0]`.",
            )
        return self._program.extent(array, axis % array.rank)

    def _check_index(self, index: ast.expr) -> None:
        masks = self._program.symbols.masks if isinstance(index, ast.Name) else ()
        refusal = index_refusal(index, lambda name: self._scope.array(name) is not None, masks)
        if refusal is not None:
            raise self._refuse(index, refusal)
        if isinstance(index, ast.Constant) and type(index.value) is not int:
            raise self._not_an_integer(index)

    def _index(self, index: ast.expr) -> Expression:
        value = self.read(index)
        if isinstance(value, Compare | Logical):  # for NumPy, True is no 1 there, but a mask
            raise self._refuse(index, MASK)
        if is_float(value):
            raise self._not_an_integer(index)
        return value

    def _not_an_integer(self, index: ast.expr) -> Exception:
        hint = "Use `//` for integer division, or `int(...)`."
        return self._error(index, "A subscript has to be an integer.", hint=hint)

    def _wrong_rank(self, node: ast.AST, array: ArrayDraft, count: int) -> Exception:
        dimensions = f"{array.rank} dimension{'s' if array.rank != 1 else ''}"
        given = f"{count} subscript{'s' if count != 1 else ''}"
        if count < array.rank:
            reason = f"With {given} it is a whole row or plane, not an element."
            hint = "Write the loop over its elements, with one subscript per dimension."
        else:
            reason, hint = "", "Give one subscript per dimension."
        return self._error(node, f"`{array.name}` has {dimensions} but is used with {given}.", reason, hint)

    def _not_subscriptable(self, base: ast.expr) -> Exception:
        try:
            if not isinstance(base, ast.Name) or not self._scope.is_local(base.id):
                self.read(base)
        except UnknownNameError as error:
            error.hint = "Check the spelling, or make the array first, for example with `np.zeros`."
            raise
        node, refusal = no_array(base, self._program.source.body)
        return self._error(node, *refusal)

    def _unary(self, node: ast.UnaryOp) -> Expression:
        operand = self.read(node.operand)
        if (
            isinstance(node.op, ast.USub)
            and isinstance(operand, Constant)
            and not isinstance(operand.value, bool)
        ):
            return Constant(-operand.value)
        return Unary(_UNARY[type(node.op)], operand)

    def _binary(self, node: ast.BinOp) -> Expression:
        operator = self.operator(node, node.op)
        try:
            computed = beyond_integers(node)
        except OverflowError:
            raise self._too_large(node, f"`{ast.unparse(node)}`") from None
        if computed is not None:  # Python's compiler computes it: `2 ** -1` is 0.5 under numba, too
            return Constant(computed)
        return Binary(operator, self.read(node.left), self.read(node.right))

    def _compare(self, node: ast.Compare) -> Expression:
        if (compared := one_of(node, self.read)) is not None:
            return compared
        for operator in node.ops:
            refusal = operator_refusal(operator, *node.comparators)
            if refusal is not None:
                raise self._refuse(node, refusal)
        if (of_shapes := self._of_shapes(node)) is not None:
            return of_shapes
        operands = tuple(self.read(operand) for operand in (node.left, *node.comparators))
        return Compare(tuple(_COMPARE[type(operator)] for operator in node.ops), operands)

    def _of_shapes(self, node: ast.Compare) -> Expression | None:
        """Whether shapes are equal, or one and as many numbers, as a comparison for each dimension; None for others."""
        operands = [node.left, *node.comparators]
        if len(operands) != 2 or not any(isinstance(one, ast.Attribute) and one.attr == "shape" for one in operands):
            return None
        left, right = (self._extents(one) for one in operands)
        operator = _COMPARE[type(node.ops[0])]
        if left is None or right is None or operator not in ("==", "!="):
            return None
        if len(left) != len(right):
            message = f"What has {len(left)} dimensions is compared with what has {len(right)}."
            raise self._error(node, message, hint="Give one number for each dimension.")
        parts = tuple(Compare((operator,), pair) for pair in zip(left, right, strict=True))
        return Logical("and" if operator == "==" else "or", parts) if len(parts) > 1 else parts[0]

    def _extents(self, node: ast.expr) -> list[Expression] | None:
        """The numbers of a shape, or of a tuple that is compared with one."""
        if isinstance(node, ast.Tuple):
            return [self.read(one) for one in node.elts]
        if not isinstance(node, ast.Attribute) or node.attr != "shape":
            return None
        array = self.shape_of(node.value)
        return [self._program.extent(array, axis) for axis in range(array.rank)]

    def _logical(self, node: ast.BoolOp) -> Expression:
        operator = "and" if isinstance(node.op, ast.And) else "or"
        first, *others = node.values
        values = [self.read(first)]
        with self._program.branch():
            values += map(self.read, others)
        return Logical(operator, tuple(values))

    def _conditional(self, node: ast.IfExp) -> Expression:
        test = self.read(node.test)
        with self._program.branch():
            return Conditional(test, self.read(node.body), self.read(node.orelse))

    def _call(self, node: ast.Call) -> Expression:
        name = self.canonical(node.func)
        if self._scope.globals.draws_numbers(node.func):
            spelling = ast.unparse(node.func)
            raise self._error(node, f"The call of `{spelling}` is not supported.", IMPURE_REASON, RANDOM_HINT)
        if name is None and isinstance(node.func, ast.Attribute):
            return self._method(node, node.func)
        if name is not None and name.startswith("numba.") and f"numpy.{name[6:]}" in PURE:
            name = f"numpy.{name[6:]}"
        if name == "len" and len(node.args) == 1:
            return self._length(node.args[0])
        if name == "numpy.clip" and len(node.args) == 3 and not node.keywords:
            value, low, high = map(self.read, node.args)
            return Call("numpy.minimum", (Call("numpy.maximum", (value, low)), high))
        if name is not None and (values := listed(node, name, self.canonical)):
            return extreme(name, [self.read(value) for value in values])
        if name == "math.isqrt" and len(node.args) == 1 and not node.keywords:
            return self._whole_root(node)
        if name in PURE:
            return told_by_numbers(Call(name, self._arguments(node, name)), self._program)
        helper = library_line(name) or self._scope.globals.helper(node.func)
        if helper is not None and not (
            isinstance(node.func, ast.Name) and self._scope.is_local(node.func.id)
        ):
            from polyviz.frontend.inline import inline_call

            return inline_call(self._program, self._scope, self, node, helper, self._place)
        is_local = isinstance(node.func, ast.Name) and self._scope.is_local(node.func.id)
        place = (self._span(node), self._span(node.func))
        refused = refused_call(node, name, place, self._program, self._scope.globals, is_local=is_local)
        refused.inside = inside_of(node)
        raise refused

    def _whole_root(self, node: ast.Call) -> Expression:
        """``math.isqrt(n)``, which numba does not know, as ``int(math.sqrt(n))``."""
        called, argument = ast.unparse(node), node.args[0]
        note = f"`{called}` is computed as `int(math.sqrt({ast.unparse(argument)}))`: the same below 2**52."
        self._program.notes += [] if note in self._program.notes else [note]
        return Call("int", (Call("math.sqrt", (self.read(argument),)),))

    def _length(self, node: ast.expr) -> Expression:
        """``len(A)``, or ``len(A[i])``: as many numbers as there are in the next dimension."""
        base, indices = subscript_chain(node) if isinstance(node, ast.Subscript) else (node, ())
        array = self.shape_of(base)
        for index in indices:
            self._check_index(index)
            self._index(index)
        if len(indices) >= array.rank:
            hint = f"Ask for the length of a row or plane, or write `{array.name}.shape[0]`."
            raise self._error(node, f"{_described(node)} is a number, and has no length.", hint=hint)
        return self._program.extent(array, len(indices))

    def _arguments(self, node: ast.Call, name: str) -> tuple[Expression, ...]:
        if node.keywords:
            into = name in UNIVERSAL and any(keyword.arg == "out" for keyword in node.keywords)
            advice = "Assign what it gives instead: `C[:] = ...`." if into else "Pass the values by position."
            raise self._error(node, f"`{name}` is called with a keyword.", hint=advice)
        for argument in node.args:
            if isinstance(argument, ast.Starred):
                raise self._refuse(argument, EXPRESSIONS[ast.Starred])
        if len(node.args) not in PURE[name]:
            counts = "several" if len(PURE[name]) > 2 else " or ".join(map(str, sorted(PURE[name])))
            numbers = "number" if counts == "1" else "numbers"
            hint = HINTS.get(f"numpy.{name}") if len(node.args) == 1 else None
            message = f"`{name}` takes {counts} {numbers} and is called with {len(node.args)}."
            raise self._error(node, message, hint=hint or "Pass single numbers, each by position.")
        return tuple(self.read(argument) for argument in node.args)

    def _method(self, node: ast.Call, function: ast.Attribute) -> Expression:
        if function.attr in ("conjugate", "conj") and not node.args:
            return Call("conjugate", (self.read(function.value),))
        called = f"numpy.{function.attr}"
        refusal = Refusal(
            f"The method `.{function.attr}()` is not supported.",
            CALL_REASONS.get(called, "Only numbers can be computed with."),
            HINTS.get(called, "Write the loop over the elements."),
        )
        place, refusal = renaming(function.value, self._program.source.body) or (node, refusal)
        raise self._error(place, *refusal)


def _described(node: ast.expr) -> str:
    return f"`{ast.unparse(node)}`"
