"""A reference interpreter of scops: executes every instance in the order of a schedule, by Python's own rules.

    result = run_scop(scop, {"n": 4, "A": array})            # the original order; arrays change in place
    result = run_scop(scop, arguments, order=union_map)      # any other order

It is slow and obvious. What a scop computes here is what it means; a schedule is right when the results agree.
"""

from __future__ import annotations

import builtins
import math
import operator
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

import islpy as isl
import numpy as np

from polyviz.model.expression import (
    Assign,
    Binary,
    Branch,
    Break,
    Call,
    Compare,
    Conditional,
    Constant,
    Element,
    Expression,
    Instruction,
    Logical,
    Loop,
    Name,
    Unary,
    While,
)
from polyviz.model.scop import Scop, Statement

Cell = tuple[str, tuple[int, ...]]
# Called for every access that really happens: statement, instance, "read" or "write", cell.
Watch = Callable[[Statement, tuple[int, ...], str, Cell], None]

BINARY = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv, "//": operator.floordiv,
    "%": operator.mod, "**": operator.pow, "&": operator.and_, "|": operator.or_, "^": operator.xor,
    "<<": operator.lshift, ">>": operator.rshift,
}  # fmt: skip
UNARY = {"-": operator.neg, "+": operator.pos, "~": operator.invert, "not": operator.not_}
COMPARE = {
    "==": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
}  # fmt: skip


class _LeaveError(Exception):
    """`break`: the innermost loop is over."""


def run_scop(
    scop: Scop,
    arguments: Mapping[str, Any] | Sequence[Any],
    order: isl.UnionMap | isl.Schedule | None = None,
    watch: Watch | None = None,
) -> Any:
    """Run ``scop``: arrays of ``arguments`` change in place, the function's result is returned.

    For a cell the result is a dictionary of the scalars and loop variables that stay visible.
    """
    if not isinstance(arguments, Mapping):
        arguments = {argument.name: value for argument, value in zip(scop.arguments, arguments, strict=False)}
    given = {argument.name: argument.default for argument in scop.arguments if argument.has_default}
    machine = Machine(scop, {**given, **arguments}, watch)
    for statement, instance in instances(scop, machine.parameters, order):
        machine.execute(statement, instance)
    return machine.result()


def parameter_values(scop: Scop, arguments: Mapping[str, Any]) -> dict[str, int]:
    """The value of every parameter at a call."""
    values: dict[str, int] = {}
    numbers = {name: Scalar(value) for name, value in arguments.items() if not isinstance(value, np.ndarray)}
    for parameter in scop.parameters:
        source = parameter.source
        if source.kind == "argument":
            values[parameter.name] = operator.index(arguments[source.name])
        elif source.kind == "shape":
            values[parameter.name] = arguments[source.name].shape[source.axis]
        else:
            try:
                values[parameter.name] = Evaluator(dict(values), numbers).value(source.expression)
            except ZeroDivisionError:
                values[parameter.name] = 0
    return values


def fixed(value: Any, parameters: Mapping[str, int]) -> Any:
    """A set or map with its parameters replaced by numbers."""
    for name, number in parameters.items():
        position = value.find_dim_by_name(isl.dim_type.param, name)
        if position >= 0:
            value = value.fix_val(isl.dim_type.param, position, isl.Val(number))
    return value


def instances(
    scop: Scop, parameters: Mapping[str, int], order: isl.UnionMap | isl.Schedule | None = None
) -> list[tuple[Statement, tuple[int, ...]]]:
    """All instances in execution order."""
    order = scop.schedule if order is None else order
    times = order.get_map() if isinstance(order, isl.Schedule) else order
    timed: list[tuple[tuple[int, ...], int, Statement, tuple[int, ...]]] = []
    for position, statement in enumerate(scop.statements):
        part = times.intersect_domain(isl.UnionSet.from_set(statement.domain))
        for relation in maps_of(part):
            length = relation.dim(isl.dim_type.out)
            points = fixed(relation, parameters).reverse().wrap().flatten()
            for coordinates in points_of(points):
                timed.append((coordinates[:length], position, statement, coordinates[length:]))
    timed.sort(key=lambda entry: entry[:2])
    return [(statement, instance) for _, _, statement, instance in timed]


def maps_of(union: isl.UnionMap) -> list[isl.Map]:
    found: list[isl.Map] = []
    union.foreach_map(found.append)
    return found


def points_of(points: isl.Set) -> list[tuple[int, ...]]:
    found: list[tuple[int, ...]] = []
    count = points.dim(isl.dim_type.set)

    def add(point: isl.Point) -> None:
        found.append(tuple(point.get_coordinate_val(isl.dim_type.set, k).to_python() for k in range(count)))

    points.foreach_point(add)
    return found


class Evaluator:
    """Values of expressions; ``names`` are iterators and parameters."""

    def __init__(
        self,
        names: dict[str, int],
        arrays: Mapping[str, Any],
        note: Callable[[str, Cell], None] = lambda kind, cell: None,
    ) -> None:
        self.names = names
        self.arrays = arrays
        self.note = note

    def value(self, node: Expression | None) -> Any:
        match node:
            case Constant(value):
                return value
            case Name(name):
                return self.names[name]
            case Element(array):
                cell = self.cell(node)
                self.note("read", (array, cell))
                return self.arrays[array][cell]
            case Unary(symbol, operand):
                return UNARY[symbol](self.value(operand))
            case Binary(symbol, left, right):
                return BINARY[symbol](self.value(left), self.value(right))
            case Compare(operators, operands):
                return self.comparison(operators, operands)
            case Logical(symbol, operands):
                return self.logical(symbol, operands)
            case Conditional(condition, body, otherwise):
                return self.value(body) if self.value(condition) else self.value(otherwise)
            case Call(function, values):
                return self.call(function, [self.value(argument) for argument in values])
        raise TypeError(node)

    def comparison(self, operators: tuple[str, ...], operands: tuple[Expression, ...]) -> Any:
        left = self.value(operands[0])
        result: Any = True
        for symbol, operand in zip(operators, operands[1:], strict=True):
            right = self.value(operand)
            result = COMPARE[symbol](left, right)
            if not result:
                break
            left = right
        return result

    def logical(self, symbol: str, operands: tuple[Expression, ...]) -> Any:
        result: Any = None
        for operand in operands:
            result = self.value(operand)
            if bool(result) is (symbol == "or"):
                break
        return result

    def call(self, function: str, values: list[Any]) -> Any:
        if function in ("real", "imag"):
            return getattr(values[0], function)
        if function == "conjugate":
            return values[0].conjugate()
        module, _, name = function.rpartition(".")
        return getattr({"": builtins, "math": math, "numpy": np}[module], name)(*values)

    def cell(self, element: Element) -> tuple[int, ...]:
        """The cell that is meant, counted from the start as Python counts negative subscripts."""
        subscripts = [self.value(subscript) for subscript in element.subscripts]
        shape = self.arrays[element.array].shape
        for subscript, extent in zip(subscripts, shape, strict=True):
            if not -extent <= subscript < extent:
                raise IndexError(f"{element.array}{subscripts} outside of {shape}")
        return tuple(int(part) % extent for part, extent in zip(subscripts, shape, strict=True))


class Scalar:
    """A number with the interface of a zero-dimensional array; unlike one it keeps Python's own types."""

    shape = ()
    missing = object()

    def __init__(self, value: Any = missing) -> None:
        self.value = value

    def __getitem__(self, cell: tuple[int, ...]) -> Any:
        if self.value is Scalar.missing:
            raise UnboundLocalError("a scalar is read before it is written")
        return self.value

    def __setitem__(self, cell: tuple[int, ...], value: Any) -> None:
        self.value = value


class Machine:
    """The memory of one run."""

    def __init__(self, scop: Scop, arguments: Mapping[str, Any], watch: Watch | None) -> None:
        self.scop = scop
        self.watch = watch
        self.parameters = parameter_values(scop, arguments)
        self.arrays: dict[str, Any] = {}
        for array in scop.arrays:
            if array.rank == 0:
                self.arrays[array.name] = Scalar(arguments.get(array.name, Scalar.missing))
            elif array.creation is None:
                self.arrays[array.name] = arguments[array.name]
        for array in scop.arrays:
            if array.creation is not None:
                self.arrays[array.name] = self.created(array)

    def created(self, array: Any) -> Any:
        creation = array.creation
        shape = [fixed(isl.Set.from_pw_aff(extent), self.parameters) for extent in array.extents]
        extents = tuple(points_of(extent)[0][0] for extent in shape)
        dtype = creation.dtype or (self.arrays[creation.like].dtype if creation.like else "float64")
        if creation.values is not None:
            return np.array(creation.values, dtype)
        if creation.function == "full":
            fill = Evaluator(dict(self.parameters), self.arrays).value(creation.fill)
            return np.full(extents, fill, creation.dtype or (dtype if creation.like else None))
        # What `empty` leaves behind must not matter.
        return np.full(extents, {"empty": 77, "zeros": 0, "ones": 1}[creation.function], dtype)

    def execute(self, statement: Statement, instance: tuple[int, ...]) -> None:
        names = {**self.parameters, **dict(zip(statement.iterators, instance, strict=True))}

        def note(kind: str, cell: Cell) -> None:
            if self.watch is not None:
                self.watch(statement, instance, kind, cell)

        evaluator = Evaluator(names, self.arrays, note)
        self.all(statement.body, evaluator)

    def all(self, body: Sequence[Instruction], evaluator: Evaluator) -> None:
        for instruction in body:
            self.run(instruction, evaluator)

    def run(self, instruction: Instruction, evaluator: Evaluator) -> None:
        match instruction:
            case Assign(target, value, symbol):
                self.assign(target, value, symbol, evaluator)
            case Branch(condition, then, otherwise):
                self.all(then if evaluator.value(condition) else otherwise, evaluator)
            case Loop(iterator, start, stop, step, body):
                bounds = (evaluator.value(start), evaluator.value(stop), evaluator.value(step))
                with suppress(_LeaveError):
                    for number in range(*bounds):
                        evaluator.names[iterator] = number
                        self.all(body, evaluator)
            case While(condition, body):
                with suppress(_LeaveError):
                    while evaluator.value(condition):
                        self.all(body, evaluator)
            case Break():
                raise _LeaveError

    def assign(self, target: Element, value: Expression, symbol: str | None, evaluator: Evaluator) -> None:
        result = evaluator.value(target if symbol is not None else value)
        if symbol is not None:
            result = BINARY[symbol](result, evaluator.value(value))
        cell = evaluator.cell(target)
        evaluator.note("write", (target.array, cell))
        self.arrays[target.array][cell] = result

    def result(self) -> Any:
        if self.scop.is_cell:
            return self.visible()
        values = tuple(self.whole(name) for name in self.scop.result.names)
        if self.scop.result.is_tuple:
            return values
        return values[0] if values else None

    def whole(self, name: str) -> Any:
        array = self.arrays[name]
        return array[()] if isinstance(array, Scalar) else array

    def visible(self) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for array in self.scop.arrays:
            memory = self.arrays[array.name]
            if array.live_out and not (isinstance(memory, Scalar) and memory.value is Scalar.missing):
                found[array.name] = self.whole(array.name)
        for name, value in self.scop.final_iterators:
            points = points_of(fixed(isl.Set.from_pw_aff(value), self.parameters))
            if points:
                found[name] = points[0][0]
        return found
