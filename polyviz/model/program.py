"""A generated program: pure data, so that it can be cached, shown and sent to a worker process."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping

    from polyviz.errors import Span
    from polyviz.model.cut_results import Cut
    from polyviz.model.device_program import DeviceProgram
    from polyviz.model.expression import Expression

FloatingPoint = Literal["strict", "reassociate"]
Overlap = Literal["refuse", "as-written"]
"""What a kernel does with arguments that share memory: raise, or run the loop in the order in which it is written."""
CONTRACTS: Mapping[FloatingPoint, str] = {
    "reassociate": "sums and products may be worked out in another order, products fused with sums, and the last bits "
    "of quotients by numbers and of functions such as exp differ",
    "strict": "the operations of every element run as they are written, bit for bit",
}
"""What a program may do to floating-point results, by the name of the contract."""
NO_MEMORY = -1
"""What a C function returns when there is no memory for its own arrays; nothing was changed then."""


@dataclass(frozen=True, slots=True)
class ArrayType:
    """What a kernel is specialised on for one array: NumPy dtype name, rank and memory layout.

    ``layout``: ``C`` for C-contiguous, ``F`` for Fortran order, ``A`` for any strides. Generated code knows ``C`` and
    ``A``; what lies in Fortran order is handed to it as its transpose, or as an array of any strides. ``short``: the
    extents of the last axes, where generated code takes them for granted.
    """

    dtype: str
    rank: int
    layout: Literal["C", "F", "A"] = "C"
    short: tuple[int, ...] = ()

    def known_extent(self, axis: int) -> int | None:
        """The extent of ``axis``, where generated code takes it for granted.

        >>> ArrayType("float64", 2, "C", (3,)).known_extent(1)
        3
        """
        first = self.rank - len(self.short)
        return self.short[axis - first] if axis >= first else None


@dataclass(frozen=True, slots=True)
class ProgramArgument:
    """One argument of the generated function.

    ``array``: pointer to the first element; an ``A`` layout is followed by its strides in elements (one
    ``stride`` argument per dimension) and extents are passed as ``extent`` arguments where the program needs them.
    ``parameter``: a 64-bit integer. ``scalar``: a value by copy. ``cell``: pointer to one written scalar.
    ``host``: the value of a loop of the host, for kernels of a device.
    """

    kind: Literal["array", "parameter", "scalar", "cell", "stride", "extent", "host"]
    name: str
    dtype: str = "int64"
    axis: int = 0


@dataclass(frozen=True, slots=True)
class SourceLine:
    """Where a line of the generated text comes from."""

    statement: str
    span: Span


@dataclass(frozen=True, slots=True)
class Failure:
    """What a test in the generated code may find: a ``subscript`` out of range or a ``step`` of 0, as a clause."""

    kind: Literal["subscript", "step"]
    clause: str

    @property
    def sentence(self) -> str:
        """The clause as a sentence.

        >>> Failure("subscript", "a subscript of A is out of range").sentence
        'A subscript of A is out of range.'
        """
        return f"{self.clause[0].upper()}{self.clause[1:]}."


@dataclass(frozen=True, slots=True)
class LocalArray:
    """An array that the caller of the generated function makes: its extents over parameters, its initial content.

    ``function`` is NumPy's creator (``empty``, ``zeros``, ``ones``, ``full`` or ``array``); ``fill`` the value for
    ``full``, ``values`` the nested tuple of numbers for ``array``.
    """

    name: str
    dtype: str
    function: str
    extents: tuple[Expression, ...]
    fill: Expression | None = None
    values: tuple[Any, ...] | None = None


@dataclass(frozen=True, slots=True)
class Program:
    """Source text for one target, with its calling convention and the way back to the statements.

    ``lines`` maps 1-based lines of ``text`` to statements; ``notes`` say what the code generator could not do.
    ``failures`` tell of the subscripts and steps that are tested. The C function returns 0, ``NO_MEMORY``, or a
    positive code that stands for one of them (1-based). ``checked``: some are tested while it runs, so it may stop
    half-way and the caller must be able to restore ``written`` arrays. ``device`` describes kernels and launches
    where the text is CUDA. ``results`` are the arrays and scalars handed back, in order, as one tuple when
    ``result_is_tuple``; ``cut`` tells what the caller gets of them. ``threads`` bounds how many run parallel loops,
    None for one per core. ``exact``: the compiler fuses and reorders nothing, whatever the contract, since a last
    bit decides about a whole number. ``scalar``: the compiler makes no vector instructions. ``branching``: it turns
    no branches into choices, which may cost a sum of -0.0 its sign. ``untiled`` are the statements whose register
    tiles the types rule out. ``transposed`` are the arrays of the caller that lie in Fortran order and are handed
    over as their transposes; ``rows`` those with one dimension that are handed over in rows, with the extents of
    these over the parameters. ``sizes`` are the parameters made of others, in order: who calls may know those of the
    part as written only.
    """

    target: str
    name: str
    text: str
    arguments: tuple[ProgramArgument, ...]
    types: Mapping[str, ArrayType]
    lines: Mapping[int, SourceLine]
    floating_point: FloatingPoint = "reassociate"
    checked: bool = False
    failures: tuple[Failure, ...] = ()
    locals: tuple[LocalArray, ...] = ()
    sizes: tuple[tuple[str, Expression], ...] = ()
    written: tuple[str, ...] = ()
    results: tuple[str, ...] = ()
    result_is_tuple: bool = False
    cut: Cut | None = None
    notes: tuple[str, ...] = ()
    device: DeviceProgram | None = None
    threads: int | None = None
    exact: bool = False
    scalar: bool = False
    branching: bool = False
    untiled: tuple[str, ...] = ()
    transposed: tuple[str, ...] = ()
    rows: tuple[tuple[str, tuple[Expression, ...]], ...] = ()

    @property
    def looked_at(self) -> tuple[str, ...]:
        """The arrays of the caller that are handed over as views of themselves."""
        return (*self.transposed, *(name for name, _ in self.rows))

    def runs_as(self, other: Program) -> bool:
        """Whether the same happens as with ``other``: of one text different things can be compiled and run."""
        mine, theirs = (
            (one.target, one.text, one.threads, one.scalar, one.branching, one.compiled_as) for one in (self, other)
        )
        return mine == theirs

    @property
    def compiled_as(self) -> FloatingPoint:
        """How much freedom the compiler gets."""
        return "strict" if self.exact else self.floating_point
