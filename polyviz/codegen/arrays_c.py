"""Arrays in C: arguments, declarations, and how an element is written down."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from polyviz.codegen.bodies import inner_iterators
from polyviz.codegen.calling import (
    is_checked,
    is_checked_along,
    out_of_range,
    run_time_failures,
    tested_steps,
)
from polyviz.codegen.identifiers import Identifiers, part_names
from polyviz.codegen.typing import C_TYPE_NAMES
from polyviz.model.expression import (
    Binary,
    Compare,
    Constant,
    Element,
    Expression,
    Logical,
    Name,
    Unary,
    walk,
    whole_literal,
)
from polyviz.model.flat_places import by_numbers
from polyviz.model.program import ArrayType, Failure, ProgramArgument
from polyviz.model.scop import fixed_parameters

if TYPE_CHECKING:
    from collections.abc import Mapping

    from polyviz.codegen.expressions_c import CExpressionPrinter
    from polyviz.model.expression import Instruction, Loop
    from polyviz.model.scop import Array, Scop, Statement

FREE = 24
"""The size, in nodes, of an expression that costs about as little as to decide whether it is needed."""
_CHEAP = (Name, Constant, Compare, Logical, Unary)
_CHEAP_OPERATORS = ("+", "-", "*", "&", "|", "^")


class ArrayPrinter:
    """Knows how each array of a part is passed, declared and addressed in C.

    C-contiguous arrays become C99 arrays with run-time extents and are written ``A[i][j]``; others are addressed by
    their strides. Subscripts that the analysis could not bound go through ``checked_index``, which also gives
    negative ones Python's meaning. A single subscript of an array of more dimensions is the number of an element in
    one row of all. ``stands_for`` tells which array each copy of a thread stands for;
    ``in_range`` whether all subscripts were found to be so beforehand, None where nobody asked; ``noted_in`` the
    variable of a loop that goes on in vector lanes past a subscript out of range, empty elsewhere; ``untested``: the
    caller has found out, and none is negative.
    """

    def __init__(
        self, scop: Scop, types: Mapping[str, ArrayType], reserved: frozenset[str], *, untested: bool = False
    ) -> None:
        self.scop = scop
        self.untested = untested
        self.types = types
        self.helpers: set[str] = set()
        self.failures: list[Failure] = []
        self._written = {
            access.array for statement in scop.statements for access in statement.accesses if access.kind == "write"
        }
        inner = inner_iterators(scop)
        # A loop whose bounds are kept in variables calls them so (``print_instructions``).
        kept = frozenset(f"{name}_{bound}" for name in inner for bound in ("stop", "step"))
        self._identifiers = Identifiers(part_names(scop), reserved | kept)
        spelled = (*(parameter.name for parameter in scop.parameters), *inner)
        self.fixed = fixed_parameters(scop)
        self.variable_names = {name: self.identifier(name) for name in spelled}
        self._arrays = {array.name for array in scop.arrays if array.rank}
        self.statement: Statement | None = None
        self._steps: Mapping[str, Failure] = {}
        self.stands_for: dict[str, str] = {}
        self.in_range: bool | None = None
        self.noted_in = ""
        self._tested_extents: set[tuple[str, int]] = set()
        for array in scop.arrays:
            self._cell_name(array)
            for axis in range(array.rank):
                self._extent_name(array, axis)
                self._stride_name(array, axis)

    def extent(self, array: str) -> str:
        """The number of cells of a one-dimensional ``array``."""
        self._tested_extents.add((array, 0))
        return self._extent_name(self.scop.array(array), 0)

    @property
    def steady(self) -> frozenset[str]:
        """The numbers that no statement writes."""
        scalars = {array.name for array in self.scop.arrays if not array.rank}
        return frozenset((scalars - self._written) | {parameter.name for parameter in self.scop.parameters})

    @property
    def shaped(self) -> frozenset[str]:
        """The arrays of the part with dimensions."""
        return frozenset(self._arrays)

    def tested_extent(self, array: str, axis: int) -> str:
        """The extent with which a subscript of ``array`` is compared."""
        self._tested_extents.add((array, axis))
        return self._extent_name(self.scop.array(array), axis)

    @property
    def taken(self) -> frozenset[str]:
        """Identifiers that loop variables must avoid."""
        return self._identifiers.taken

    def identifier(self, name: str) -> str:
        """How a name of the part is spelled in C."""
        return self._identifiers.of(name)

    def added(self, name: str) -> str:
        """How something that the generator adds is spelled."""
        return self._identifiers.derived(name)

    def enter(self, statement: Statement) -> None:
        """Elements printed from now on belong to ``statement``."""
        self.statement = statement
        self._steps = tested_steps(self.scop, statement)

    def is_free(self, expression: Expression) -> bool:
        """Whether ``expression`` of the statement entered is cheap, and safe to evaluate even where nobody asks."""
        nodes = list(walk(expression))
        return len(nodes) <= FREE and all(map(self._is_free, nodes))

    def _is_free(self, node: object) -> bool:
        if isinstance(node, Element):
            return self.statement is not None and self._is_inside(node, self.statement)
        return isinstance(node, _CHEAP) or (isinstance(node, Binary) and node.operator in _CHEAP_OPERATORS)

    def _is_inside(self, element: Element, statement: Statement) -> bool:
        """Whether ``element`` is inside its array in every instance of ``statement``, whatever conditions say."""
        found = [access for access in statement.accesses if access.span == element.span and element.subscripts]
        known = element.affine if self.untested else not is_checked(self.scop, element, statement)
        return known and all(statement.domain.is_subset(access.relation.domain()) for access in found)

    def failure(self, failure: Failure) -> int:
        """The status code that stands for ``failure``."""
        if failure not in self.failures:
            self.failures.append(failure)
        return self.failures.index(failure) + 1

    def step(self, loop: Loop, text: str) -> str:
        """The step of a loop inside a statement: ``text``, tested where it may be 0."""
        if loop.iterator not in self._steps:
            return text
        self.helpers.add("checked_step")
        return f"checked_step({text}, &failure, {self.failure(self._steps[loop.iterator])})"

    def going_on(self) -> str:
        """The condition that ends a ``while`` loop once a subscript was out of range, where that can be: what it waits
        for may never come true of the cell that was read instead."""
        if self.untested or not run_time_failures(self.scop):
            return ""
        self.helpers.add("checked_index")  # with it goes the variable
        return "!failure"

    def element(self, element: Element, printer: CExpressionPrinter) -> str:
        """``element`` as C text."""
        name = self.identifier(element.array)
        if not element.subscripts:
            return name
        if element.array in self.stands_for and not element.affine:  # as long as the array, and tested as that is
            copied = self.scop.array(self.stands_for[element.array])
            return f"{name}[{self._subscript(copied, 0, replace(element, array=copied.name), printer)}]"
        if element.array not in self._arrays:  # the copies of a temporary
            return name + "".join(f"[{printer.expression(subscript)}]" for subscript in element.subscripts)
        array = self.scop.array(element.array)
        if len(element.subscripts) < array.rank:
            return f"{self._row(array)}[{self._number(array, element, printer)}]"
        subscripts = [self._subscript(array, axis, element, printer) for axis in range(array.rank)]
        if self.types[array.name].layout == "C":
            return name + "".join(f"[{subscript}]" for subscript in subscripts)
        terms = [
            f"{_factor(subscript)} * {self._stride_name(array, axis)}" for axis, subscript in enumerate(subscripts)
        ]
        return f"{name}[{' + '.join(terms)}]"

    def _subscript(self, array: Array, axis: int, element: Element, printer: CExpressionPrinter) -> str:
        subscript = element.subscripts[axis]
        text = printer.expression(subscript)
        extent = self._extent_name(array, axis)
        known = self.untested or self.in_range
        if self.statement is not None and not known and is_checked_along(self.scop, axis, element, self.statement):
            self._tested_extents.add((array.name, axis))
            return self._checked(element, text, extent)
        if counts_from_end(subscript):
            self._tested_extents.add((array.name, axis))
            return f"{extent} - {text.removeprefix('-')}"
        return text

    def by_numbers(self, instruction: Instruction) -> Instruction:
        """``instruction`` with one subscript for elements whose number in a row of all elements is known."""
        return by_numbers(instruction, (one for one in self.scop.arrays if self.types[one.name].layout == "C"))

    def _row(self, array: Array) -> str:
        """All elements of a C-contiguous ``array`` in one row."""
        const = "" if array.name in self._written else "const "
        return f"(({const}{C_TYPE_NAMES[self.types[array.name].dtype]} *){self.identifier(array.name)})"

    def _number(self, array: Array, element: Element, printer: CExpressionPrinter) -> str:
        """The subscript of ``element``, which is its number in the row of all elements of ``array``."""
        text = printer.expression(element.subscripts[0])
        statement, axes = self.statement, range(array.rank)
        if statement is None or self.untested or self.in_range:
            return text
        if not any(is_checked_along(self.scop, axis, element, statement) for axis in axes):
            return text
        return self._checked(element, text, " * ".join(self.tested_extent(array.name, axis) for axis in axes))

    def _checked(self, element: Element, text: str, extent: str) -> str:
        """The subscript ``text`` of ``element``, tested against ``extent``."""
        code = self.failure(out_of_range(self.scop, element))
        test, variable = ("noted_index", self.noted_in) if self.noted_in else ("checked_index", "failure")
        self.helpers.add(test)
        return f"{test}({text}, {extent}, &{variable}, {code})"

    def arguments(self) -> tuple[ProgramArgument, ...]:
        """The calling convention: sizes first, since the types of arrays refer to them, then arrays and scalars."""
        result = [ProgramArgument("parameter", parameter.name) for parameter in self.scop.parameters]
        for array in self.scop.arrays:
            result.extend(self._extent_arguments(array))
        for array in self.scop.arrays:
            result.extend(self._array_arguments(array))
        return tuple(result)

    def _extent_arguments(self, array: Array) -> list[ProgramArgument]:
        """The extents that the text mentions and no parameter holds."""
        contiguous = self.types[array.name].layout == "C"
        return [
            ProgramArgument("extent", array.name, axis=axis)
            for axis in range(array.rank)
            if self._shape_parameter(array, axis) is None
            and self.types[array.name].known_extent(axis) is None
            and ((contiguous and axis > 0) or (array.name, axis) in self._tested_extents)
        ]

    def _array_arguments(self, array: Array) -> list[ProgramArgument]:
        kind = self.types[array.name]
        if array.rank == 0:
            # C complex numbers have no ctypes value, so they always travel by address.
            if array.live_out or (array.live_in and kind.dtype.startswith("complex")):
                return [ProgramArgument("cell", array.name, kind.dtype)]
            return [ProgramArgument("scalar", array.name, kind.dtype)] if array.live_in else []
        strides = [ProgramArgument("stride", array.name, axis=axis) for axis in range(array.rank)]
        return [ProgramArgument("array", array.name, kind.dtype), *(strides if kind.layout == "A" else [])]

    def declaration(self, argument: ProgramArgument) -> str:
        """How ``argument`` stands in the parameter list."""
        if argument.kind == "parameter":
            return f"const int64_t {self.identifier(argument.name)}"
        array = self.scop.array(argument.name)
        if argument.kind == "extent":
            return f"const int64_t {self._extent_name(array, argument.axis)}"
        if argument.kind == "stride":
            return f"const int64_t {self._stride_name(array, argument.axis)}"
        kind = C_TYPE_NAMES[argument.dtype]
        name = self.identifier(array.name)
        if argument.kind == "scalar":
            return f"{kind} {name}"
        if argument.kind == "cell":
            return f"{kind} *restrict {self._cell_name(array)}"
        const = "" if array.name in self._written else "const "
        if array.rank == 1 or self.types[array.name].layout == "A":
            return f"{const}{kind} *restrict {name}"
        inner = "".join(f"[{self._extent_name(array, axis)}]" for axis in range(1, array.rank))
        return f"{const}{kind} (*restrict {name}){inner}"

    def prologue(self, private: frozenset[str]) -> list[str]:
        """Declarations at the top of the function: scalars live in variables while the loops run.

        Those in ``private`` that nobody sees afterwards are declared where their copies live.
        """
        lines = []
        for array in self.scop.arrays:
            name, kind = self.identifier(array.name), C_TYPE_NAMES[self.types[array.name].dtype]
            if array.rank:
                continue
            if array.live_out or (array.live_in and self.types[array.name].dtype.startswith("complex")):
                lines.append(f"{kind} {name} = *{self._cell_name(array)};")
            elif not array.live_in and array.name not in private:
                lines.append(f"{kind} {name} = 0;")
        return lines

    def epilogue(self) -> list[str]:
        """Scalars that stay visible are handed back."""
        return [
            f"*{self._cell_name(array)} = {self.identifier(array.name)};"
            for array in self.scop.arrays
            if array.rank == 0 and array.live_out
        ]

    def _shape_parameter(self, array: Array, axis: int) -> str | None:
        if array.rows:
            return None  # its length is asked for in one dimension
        for parameter in self.scop.parameters:
            source = parameter.source
            if source.kind == "shape" and (source.name, source.axis) == (array.name, axis):
                return parameter.name
        return None

    def _extent_name(self, array: Array, axis: int) -> str:
        known = self.types[array.name].known_extent(axis)
        if known is not None:
            return str(known)
        parameter = self._shape_parameter(array, axis)
        if parameter is not None:
            return str(self.fixed.get(parameter, self.identifier(parameter)))
        return self._identifiers.derived(f"{array.name}_extent{axis}")

    def _stride_name(self, array: Array, axis: int) -> str:
        return self._identifiers.derived(f"{array.name}_stride{axis}")

    def _cell_name(self, array: Array) -> str:
        return self._identifiers.derived(f"{array.name}_cell")


def _factor(text: str) -> str:
    """``text`` as a factor: names and numbers need no parentheses."""
    return text if text.isidentifier() or text.isdigit() else f"({text})"


def counts_from_end(subscript: Expression) -> bool:
    """Whether ``subscript`` is a negative number, which Python counts from the end of the axis.

    >>> counts_from_end(Constant(-2)), counts_from_end(Unary("-", Constant(2))), counts_from_end(Constant(0))
    (True, True, False)
    """
    number = whole_literal(subscript)
    return number is not None and number < 0
