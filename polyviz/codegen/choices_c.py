"""Serial innermost loops without branches on data, in C: both values of a choice, of which the bits of one are taken.

    for (int64_t i = 0; i < n; i++) {
        s = chosen_f64(less_f64(0.0, a[i]), d[i] * d[i], s);
        b[i] = s * c[i];
    }

Processors guess which way a branch goes, and lose some twenty cycles where data make them guess wrong. Compilers make
whole numbers without branching, and fractions in vectors; in a loop that has to run one iteration after the other gcc
branches for fractions.

In ``while`` loops gcc branches for whole numbers, too: where ``low`` and ``high`` of a search go is a choice there.

``if a[i] < least: least, place = a[i], i`` stays a branch: of many values few are the least so far, which is guessed
right, and a choice would wait for the one before it in every iteration.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from polyviz.codegen.dtypes import BOOL, INT64, unify
from polyviz.codegen.instructions_c import INDENT
from polyviz.codegen.loops import For, descendants
from polyviz.codegen.typing import infer
from polyviz.codegen.values_c import PRIMARY, Value, convert
from polyviz.errors import CodegenError
from polyviz.model.expression import (
    Assign,
    Binary,
    Branch,
    Call,
    Compare,
    Conditional,
    Constant,
    Element,
    Expression,
    Logical,
    Loop,
    Unary,
    While,
    walk,
)
from polyviz.model.select import choices_between

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from polyviz.codegen.arrays_c import ArrayPrinter
    from polyviz.codegen.dtypes import Type
    from polyviz.codegen.expressions_c import CExpressionPrinter
    from polyviz.model.program import FloatingPoint

_CHEAP_CALLS = ("min", "max", "abs")
CACHED = 32_768
"""Cells that the second-level cache of a core holds: what is behind a branch is fetched before its condition is known,
which is worth more than a wrong guess costs where memory is far."""
_FEW = 8
"""Iterations among which the least value so far changes about as often as not."""
_COMPARED = {"<": "less", "<=": "less_equal", ">": "less", ">=": "less_equal", "==": "equal", "!=": "unequal"}
_TURNED = (">", ">=")


class ChoicePrinter:
    """Makes ``printer`` choose where that is wanted: inside serial innermost loops that are in no vector loop."""

    def __init__(
        self, arrays: ArrayPrinter, printer: CExpressionPrinter, floating_point: FloatingPoint, *, wanted: bool
    ) -> None:
        self.arrays = arrays
        self.printer = printer
        self.reorders = floating_point == "reassociate"
        self.wanted = wanted
        self.in_vectors = False
        self.is_short = False
        if wanted:
            printer.search = self.search

    @contextmanager
    def inside(self, loop: For) -> Iterator[None]:
        """While this lasts, what is printed is the body of ``loop``."""
        before = self.in_vectors, self.is_short, self.printer.choice, self.printer.choices
        self.is_short = _is_short(loop)
        self.in_vectors = self.in_vectors or loop.vector
        is_serial = not (self.in_vectors or loop.parallel or loop.reduced)
        if self.wanted and is_serial and not any(isinstance(node, For) for node in descendants(loop.body)):
            self.printer.choice, self.printer.choices = self._value, self._assigns
        yield
        self.in_vectors, self.is_short, self.printer.choice, self.printer.choices = before

    def search(self, loop: While, indent: int, write: Callable[[int], list[str]]) -> list[str]:
        """The lines of ``loop`` that ``write`` gives for an indent: where it chooses between whole numbers, once so,
        for arrays that a cache holds, and once with branches, behind which the next cells are asked for at once."""
        arrays: set[str] = set()
        before = self.printer.choice, self.printer.choices
        if not any(isinstance(node, While | Loop) for line in loop.body for node in walk(line)):
            self.printer.choice = lambda node: before[0](node) or self._whole(node, arrays)
            self.printer.choices = lambda branch: before[1](branch) or self._whole_assigns(branch)
        chosen = write(indent + 1)
        self.printer.choice, self.printer.choices = before
        if not arrays:
            return write(indent)
        few = " && ".join(self._is_small(array) for array in sorted(arrays))
        pad = INDENT * indent
        return [f"{pad}if ({few}) {{", *chosen, f"{pad}}} else {{", *write(indent + 1), f"{pad}}}"]

    def _is_small(self, array: str) -> str:
        rank = self.arrays.scop.array(array).rank
        extents = [self.arrays.tested_extent(array, axis) for axis in range(rank)]
        return f"{' * '.join(extents)} <= {CACHED}"

    def _whole_assigns(self, branch: Branch) -> Sequence[Assign] | None:
        """What ``branch`` does where it only says which whole numbers its variables become, by data; else None."""
        assigns = choices_between(branch) if not _keeps_an_extreme(branch) else ()
        chosen = [one.value for one in assigns if isinstance(one.value, Conditional) and self._is_whole(one.value)]
        return assigns if assigns and len(chosen) == len(assigns) and all(map(self._keeps_type, assigns)) else None

    def _whole(self, node: Conditional, arrays: set[str]) -> Value | None:
        """The printed choice between whole numbers, by cells of ``arrays``; None where it is none, or easy to guess."""
        if not self._is_whole(node):
            return None
        arrays |= _sought(node.condition)
        values = self.printer.truth(node.condition), self.printer.value(node.body), self.printer.value(node.otherwise)
        return self.printer.helper("chosen", INT64, values, INT64)

    def _is_whole(self, node: Conditional) -> bool:
        values = (node.body, node.otherwise)
        is_whole = all(self._type_of(one) == INT64 and self.arrays.is_free(one) for one in values)
        return is_whole and bool(_sought(node.condition))

    def _assigns(self, branch: Branch) -> Sequence[Assign] | None:
        """What ``branch`` does, as choices of what each of its variables becomes; None where it has to stay."""
        assigns = choices_between(branch) if self.is_short or not _keeps_an_extreme(branch) else ()
        if not assigns or not all(map(self._keeps_type, assigns)):
            return None
        values = [assign.value for assign in assigns]
        chosen = [value for value in values if isinstance(value, Conditional) and self._is_fraction(value)]
        if not chosen or not all(map(self._is_free, values)) or any(map(self._is_sum, assigns)):
            return None
        return assigns if all(map(self._is_guessed, chosen)) else None

    def _value(self, node: Conditional) -> Value | None:
        """The printed choice; None for whole numbers, what may not be computed in any case, or is easily guessed."""
        if not (self._is_fraction(node) and self._is_free(node) and self._is_guessed(node)):
            return None
        body, otherwise = self.printer.value(node.body), self.printer.value(node.otherwise)
        result = unify(body.type, otherwise.type)
        values = self._mask(node.condition, result), convert(body, result), convert(otherwise, result)
        return self.printer.helper("chosen", result, values, result)

    def _mask(self, condition: Expression, scalar: Type) -> Value:
        """``condition`` as bits that are all set where it holds, as many as a number of type ``scalar`` has."""
        match condition:
            case Logical(operator, (first, *rest)):
                joined = self._mask(first, scalar)
                for operand in rest:
                    text = f"{joined.text} {'&' if operator == 'and' else '|'} {self._mask(operand, scalar).text}"
                    joined = Value(f"({text})", PRIMARY, scalar, scalar)
                return joined
            case Unary("not", operand):
                return Value(f"~{self._mask(operand, scalar).text}", PRIMARY, scalar, scalar)
            case Compare((operator,), operands):
                left, right = map(self.printer.value, reversed(operands) if operator in _TURNED else operands)
                if unify(left.type, right.type) == scalar and scalar in (left.type, right.type):
                    pair = convert(left, scalar), convert(right, scalar)
                    return self.printer.helper(_COMPARED[operator], scalar, pair, scalar)
        return self.printer.helper("holds", scalar, (self.printer.truth(condition),), scalar)

    def _keeps_type(self, assign: Assign) -> bool:
        """Whether the variable, should it stay as it is, comes back from the type that both values have in common."""
        target = infer(assign.target, self.printer.environment)
        value = self._type_of(assign.value)
        if value is None or not (target.is_real and value.is_real):
            return False
        return target == value or (BOOL not in (target, value) and target.kind == value.kind == "f")

    def _is_fraction(self, node: Conditional) -> bool:
        found = self._type_of(node)
        return found is not None and found.kind == "f"

    def _type_of(self, node: Expression) -> Type | None:
        try:
            return infer(node, self.printer.environment)
        except CodegenError:
            return None

    def _is_free(self, node: Expression) -> bool:
        return all(map(self.arrays.is_free, between_choices(node)))

    def _is_guessed(self, node: Conditional) -> bool:
        """Whether data decide that change in the loop."""
        return any(
            isinstance(part, Element) and (part.subscripts or part.array not in self.printer.steady)
            for part in walk(node.condition)
        )

    def _is_sum(self, assign: Assign) -> bool:
        """Whether a sum or product goes on under a condition, which compilers that may reorder it run in vectors."""
        value, target = assign.value, assign.target
        if not (self.reorders and isinstance(value, Conditional) and target in (value.body, value.otherwise)):
            return False
        other = value.otherwise if value.body == target else value.body
        return isinstance(other, Binary) and target in (other.left, other.right)


def _is_short(loop: For) -> bool:
    match loop.start, loop.stop:
        case Constant(int() as first), Constant(int() as end):
            return end - first <= _FEW
    return False


def _sought(condition: Expression) -> set[str]:
    """The arrays of which ``condition`` looks at a cell that variables lead to."""
    elements = (part for part in walk(condition) if isinstance(part, Element))
    return {
        element.array
        for element in elements
        if any(isinstance(part, Element) for place in element.subscripts for part in walk(place))
    }


def _keeps_an_extreme(branch: Branch) -> bool:
    """Whether ``branch`` replaces a variable by a value that is less, or greater, than all before it.

    >>> from polyviz.model.expression import Name
    >>> least = Element("least")
    >>> _keeps_an_extreme(Branch(Compare(("<",), (Name("x"), least)), (Assign(least, Name("x")),)))
    True
    >>> _keeps_an_extreme(Branch(Compare(("<",), (Name("x"), least)), (Assign(least, Constant(0.0)),)))
    False
    """
    pairs = [{part.operands[0], part.operands[-1]} for part in _asked(branch.condition) if _orders(part)]
    kept = [{one.target, one.value} for one in branch.then if isinstance(one, Assign) and one.operator is None]
    return not branch.otherwise and any(pair in kept for pair in pairs)


def _asked(condition: Expression) -> list[Compare]:
    """The comparisons that all have to hold for ``condition`` to hold."""
    match condition:
        case Logical("and", operands):
            return [found for operand in operands for found in _asked(operand)]
        case Compare():
            return [condition]
    return []


def _orders(compare: Compare) -> bool:
    return len(compare.operators) == 1 and compare.operators[0] in ("<", "<=", ">", ">=")


def between_choices(node: Expression) -> list[Expression]:
    """The parts of ``node`` that choose nothing; a cheap function of choices chooses."""
    match node:
        case Conditional(condition, body, otherwise):
            parts: tuple[Expression, ...] = (condition, body, otherwise)
        case Call(name, arguments) if name in _CHEAP_CALLS or {*map(type, arguments)} == {Constant}:  # of some type
            parts = arguments
        case _:
            return [node]
    return [found for part in parts for found in between_choices(part)]
