"""Arrays in CUDA: kernel arguments, flat subscripts, and the same accesses through the emulator's accessors."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from polyviz.codegen.arrays_c import ArrayPrinter
from polyviz.codegen.bodies import private_name
from polyviz.codegen.calling import run_time_failures
from polyviz.codegen.typing import C_TYPE_NAMES
from polyviz.model.program import ProgramArgument
from polyviz.model.warp_access import WarpAccess

if TYPE_CHECKING:
    from collections.abc import Mapping

    from polyviz.codegen.expressions_c import CExpressionPrinter
    from polyviz.codegen.lanes import Warp
    from polyviz.model.expression import Element
    from polyviz.model.plan import Plan
    from polyviz.model.program import ArrayType
    from polyviz.model.scop import Scop

LOOSER_THAN_SUMS = re.compile(r" ([?&|^]|<<|>>|[<>=!]=?) ")


@dataclass(frozen=True, slots=True)
class Reference:
    """One access as it was printed; ``number`` counts them over the whole program."""

    number: int
    array: str
    text: str
    memory: Literal["global", "shared"]
    access: WarpAccess


class DeviceArrays(ArrayPrinter):
    """Knows how the arrays of a part are passed to kernels and addressed there.

    With ``instrumented`` every access goes through an accessor of the emulator (``A.at<3>(i, j)`` instead of
    ``A[i * n + j]``); nothing else differs. ``warp`` tells the lanes of a warp apart, None where one thread along x
    works alone; each takes ``together`` cells at once.
    """

    def __init__(
        self,
        scop: Scop,
        plan: Plan,
        types: Mapping[str, ArrayType],
        reserved: frozenset[str],
        *,
        instrumented: bool,
    ) -> None:
        super().__init__(scop, types, reserved)
        self.instrumented = instrumented
        self.references: list[Reference] = []
        self.warp: Warp | None = None
        self.together = 1
        self.instance: tuple[str, ...] = ()
        """The iterators of the statement instance that is printed, for the emulator to tell."""
        self.turns: tuple[str, ...] = ()
        """What tells the iterations of the loops around it apart, for the emulator to count requests."""
        self.copies = {private_name(scop, one.array): len(one.extents) for one in plan.expansions}
        hidden = {one.array for one in plan.expansions if private_name(scop, one.array) == one.array}
        self.names = tuple(array.name for array in scop.arrays if array.name not in hidden)
        # Complex numbers do not fit into the eight bytes of a scalar argument, so they travel by address.
        self.cells = tuple(
            name
            for name in self.names
            if scop.array(name).rank == 0
            and (name in self._written or types[name].dtype.startswith("complex"))
        )
        self.dtypes = {name: types[name].dtype for name in (array.name for array in scop.arrays)}
        self.dtypes |= {private_name(scop, one.array): types[one.array].dtype for one in plan.expansions}
        self.failure_cell = self.added("failed") if run_time_failures(scop) else ""
        """The array whose cell the first thread whose test fails fills in."""
        if self.failure_cell:
            self.dtypes[self.failure_cell] = "int64"
            self.copies[self.failure_cell] = 1
        self.aligned: set[str] = set()
        self.shared: dict[str, tuple[int, ...]] = {}
        self.registers: set[str] = set()
        for name, rank in self.copies.items():
            for axis in range(rank):
                self._identifiers.derived(f"{name}_extent{axis}")

    @property
    def stored(self) -> tuple[str, ...]:
        """Everything that lives in the device's memory, in the order of the emulator's table."""
        ranked = [name for name in self.names if self.scop.array(name).rank]
        return (*ranked, *self.cells, *self.copies)

    def element(self, element: Element, printer: CExpressionPrinter) -> str:
        """``element`` as CUDA text."""
        name = self.identifier(element.array)
        if element.array in self.shared:
            return self._shared_cell(element, printer)
        if element.array in self.registers:
            return name + "".join(f"[{printer.expression(subscript)}]" for subscript in element.subscripts)
        if element.array not in self.stored:
            return name
        texts = [self._plain_subscript(element, axis, printer) for axis in range(len(element.subscripts))]
        number = self._record(element, f"{name}[{', '.join(texts)}]" if texts else name)
        if self.instrumented:
            return f"{name}.at<{number}>({', '.join(texts)}){self._moment_text()}"
        return f"{name}[{self._flat(element, texts)}]"

    def _moment_text(self) -> str:
        told = (("of", self.instance), ("when", self.turns))
        return "".join(f".{name}({', '.join(values)})" for name, values in told if values)

    def _shared_cell(self, element: Element, printer: CExpressionPrinter) -> str:
        texts = [printer.expression(subscript) for subscript in element.subscripts]
        number = self._record(element, f"{element.array}[{', '.join(texts)}]", "shared")
        if self.instrumented:
            return f"{element.array}.at<{number}>({', '.join(texts)}){self._moment_text()}"
        return element.array + "".join(f"[{text}]" for text in texts)

    def shared_declaration(self, name: str) -> str:
        """The line that declares the shared array ``name``."""
        kind, extents = C_TYPE_NAMES[self.dtypes[name]], self.shared[name]
        if self.instrumented:
            return f"__shared__ Shared<{', '.join([kind, *map(str, extents)])}> {name};"
        aligned = "__align__(16) " if name in self.aligned else ""
        return f"__shared__ {aligned}{kind} {name}{''.join(f'[{extent}]' for extent in extents)};"

    def _plain_subscript(self, element: Element, axis: int, printer: CExpressionPrinter) -> str:
        if element.array in self.copies:
            return printer.expression(element.subscripts[axis])
        return self._subscript(self.scop.array(element.array), axis, element, printer)

    def _flat(self, element: Element, texts: list[str]) -> str:
        if not texts:
            return "0"
        if element.array in self.copies or self.types[element.array].layout == "C":
            result = texts[0]
            for axis, text in enumerate(texts[1:], 1):
                inner = f"({result})" if axis > 1 or not _simple(result) else result
                result = f"{inner} * {self._extent(element.array, axis)} + {_summand(text)}"
            return result
        array = self.scop.array(element.array)
        return " + ".join(
            f"{text if _simple(text) else f'({text})'} * {self._stride_name(array, axis)}"
            for axis, text in enumerate(texts)
        )

    def is_watched(self, name: str) -> bool:
        """Whether accesses to ``name`` are recorded: memory is, registers and values are not."""
        return name in self.shared or name in self.stored

    def extent_name(self, name: str, axis: int) -> str:
        """The identifier of an extent of an array."""
        return self._extent(name, axis)

    def _extent(self, name: str, axis: int) -> str:
        if name in self.copies:
            return self._identifiers.derived(f"{name}_extent{axis}")
        return self._extent_name(self.scop.array(name), axis)

    def _record(self, element: Element, text: str, memory: Literal["global", "shared"] = "global") -> int:
        number = len(self.references)
        warp = self.warp
        if warp is None:
            access = WarpAccess((None,) * len(element.subscripts), 1, 1, alone=True)
        else:
            lanes = tuple(map(warp.lanes, element.subscripts))
            access = WarpAccess(lanes, warp.row, warp.count, self.together, whole=warp.is_any_warp)
        self.references.append(Reference(number, element.array, in_short(text), memory, access))
        return number

    def itemsize(self, name: str) -> int:
        """Bytes of one cell."""
        return np.dtype(self.dtypes[name]).itemsize

    def arguments(self) -> tuple[ProgramArgument, ...]:
        """Everything a kernel may need; each gets what its text names."""
        found = [ProgramArgument("parameter", parameter.name) for parameter in self.scop.parameters]
        for name in (one for one in self.stored if one not in self.cells):
            own = name in self.copies
            rank = self.copies[name] if own else self.scop.array(name).rank
            rows = own or self.types[name].layout == "C"
            first = 1 if rows and (name, 0) not in self._tested_extents else 0
            found += [
                ProgramArgument("extent", name, axis=axis)
                for axis in range(first, rank)
                if own or self._shape_parameter(self.scop.array(name), axis) is None
            ]
            if not own and self.types[name].layout == "A":
                found += [ProgramArgument("stride", name, axis=axis) for axis in range(rank)]
        found += [
            ProgramArgument("array", name, self.dtypes[name])
            for name in self.stored
            if name not in self.cells
        ]
        found += [ProgramArgument("cell", name, self.dtypes[name]) for name in self.cells]
        scalars = [name for name in self.names if name not in self.stored]
        return (*found, *(ProgramArgument("scalar", name, self.dtypes[name]) for name in scalars))

    def argument_name(self, argument: ProgramArgument) -> str:
        """The identifier of ``argument`` in the text."""
        if argument.kind == "extent":
            return self._extent(argument.name, argument.axis)
        if argument.kind == "stride":
            return self._stride_name(self.scop.array(argument.name), argument.axis)
        return self.identifier(argument.name)

    def declaration(self, argument: ProgramArgument) -> str:
        """How ``argument`` stands in the parameter list of a kernel."""
        name = self.argument_name(argument)
        if argument.kind in ("parameter", "extent", "stride", "host"):
            return f"const Index {name}"
        kind = C_TYPE_NAMES[argument.dtype]
        if argument.kind == "scalar":
            return f"const {kind} {name}"
        written = argument.name in self._written or argument.name in self.copies
        if self.instrumented:
            return f"Global<{kind}> {name}"
        return f"{'' if written else 'const '}{kind} *__restrict__ {name}"


def _simple(text: str) -> bool:
    return text.isidentifier() or text.isdigit()


def _summand(text: str) -> str:
    """``text`` as the last term of a sum.

    >>> _summand("j - 1")
    'j - 1'
    >>> _summand("m <= 1 ? 0 : m - 2")
    '(m <= 1 ? 0 : m - 2)'
    """
    return f"({text})" if LOOSER_THAN_SUMS.search(text) else text


def in_short(text: str) -> str:
    """An access as a person reads it: without casts, and without the test that a subscript is in range.

    >>> in_short("A[checked_index(row[i + 1], A_extent0, &failure, 1), (int64_t)j]")
    'A[row[i + 1], j]'
    >>> in_short("A[floor_mod_i64(32 * (int64_t)block_x, 256)]")
    'A[floor_mod(32 * block_x, 256)]'
    """
    text = re.sub(r"\b(floor_div|floor_mod|min|max)_(?:i64|index)\(", r"\1(", text.replace("(int64_t)", ""))
    while found := re.search(r"\bchecked_index\(", text):
        depth, comma, end = 1, 0, found.end()
        while depth:
            depth += {"(": 1, "[": 1, ")": -1, "]": -1}.get(text[end], 0)
            comma = comma or (end if depth == 1 and text[end] == "," else 0)
            end += 1
        text = text[: found.start()] + text[found.end() : comma] + text[end:]
    return text
