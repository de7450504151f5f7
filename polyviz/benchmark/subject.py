"""What a race is about: one kernel of the gallery on fixed data, analysed once, as plain data for every process."""

from __future__ import annotations

import ast
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import islpy as isl
import numpy as np

from polyviz import gallery
from polyviz.analysis import dependences, parallelism
from polyviz.analysis.traffic import work_of
from polyviz.api.building import build_kernel
from polyviz.api.extracting import extract
from polyviz.benchmark.odd_sizes import odd_sizes
from polyviz.codegen.calling import handed_back, written_arrays
from polyviz.errors import PolyvizError
from polyviz.runtime.machine import this_machine
from polyviz.runtime.original import Original, original_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from polyviz.gallery.entry import GalleryKernel
    from polyviz.model.dependences import Dependences
    from polyviz.model.program import Program
    from polyviz.model.roofline import Work
    from polyviz.model.scop import Scop
    from polyviz.runtime.bound import Bound

SEED = 1
"""The data are roughened with this seed: on the official ones a wrong order can go unseen, and some are singular."""

EXAMPLE_SIZE = "mini"


@dataclass(frozen=True, slots=True)
class Data:
    """Which arrays a race runs on; equal in every process that makes them.

    ``odd``: primes next to a level's sizes; ``square``: what every extent is instead, where it is not 0.

    >>> [argument.shape for argument in Data("mvt", "mini", "float64").arguments()]
    [(40,), (40,), (40,), (40,), (40, 40)]
    """

    kernel: str
    size: str
    dtype: str
    seed: int = SEED
    odd: bool = False
    square: int = 0

    @property
    def label(self) -> str:
        """What the race is called: the kernel, and the extent of squares."""
        return f"{self.kernel} {self.square}" if self.square else self.kernel

    @property
    def entry(self) -> GalleryKernel:
        """The gallery's kernel."""
        return gallery.kernel(self.kernel)

    def arguments(self) -> tuple[Any, ...]:
        """Freshly initialised arguments."""
        return self.entry.arguments(self.extents, self.dtype, self.seed)

    @property
    def extents(self) -> dict[str, int]:
        """The sizes by name: those of the level, primes next to them, or all the same."""
        level = self.entry.sizes[self.size]
        if self.square:
            return dict.fromkeys(level, self.square)
        return odd_sizes(level) if self.odd else level

    def example(self) -> Data:
        """The same kinds of arguments in the smallest size, to compile for."""
        return replace(self, size=EXAMPLE_SIZE, square=0)


@dataclass(frozen=True, slots=True)
class Subject:
    """A kernel ready to be raced.

    ``names`` are the arguments in order, ``written`` those whose content changes, ``shapes`` the extents of arrays,
    ``parameters`` the sizes that generated code asks for (``example_parameters``: of the smallest data). ``parallel``
    is the text of the loop with ``prange``, ``program`` the loop in its own order as C; each is None for the reason
    beside it. ``work`` is what has to be computed and moved.
    """

    data: Data
    names: tuple[str, ...]
    written: tuple[str, ...]
    results: tuple[str, ...]
    parameters: Mapping[str, int]
    example_parameters: Mapping[str, int]
    shapes: Mapping[str, tuple[int, ...]]
    original: Original
    parallel: Original | None
    parallel_reason: str
    program: Program | None
    program_reason: str
    notes: tuple[str, ...]
    analysis_seconds: float
    work: Work | None = None


def analyse(data: Data) -> Subject:
    """The subject for ``data``; raises ExtractionError when the kernel is no static control part.

    >>> subject = analyse(Data("mvt", "mini", "float64"))
    >>> subject.written, subject.parameters
    (('x1', 'x2'), {'n': 40})
    """
    function = data.entry.function
    started = time.perf_counter()
    scop = extract(function)
    found = dependences(scop)
    elapsed = time.perf_counter() - started
    kernel = build_kernel(scop, found, function, schedule="original", target="python")
    bound = kernel.bind(data.arguments(), {})
    example = kernel.bind(data.example().arguments(), {})
    parallel = with_prange(scop, found)
    program, refusal = _original_order(scop, found, function, example)
    return Subject(
        data=data,
        names=tuple(bound.given),
        written=written_arrays(scop),
        results=handed_back(scop),
        parameters=dict(bound.parameters),
        example_parameters=dict(example.parameters),
        shapes=bound.shapes,
        original=original_of(scop, function),
        parallel=None if parallel is None else original_of(replace(scop, text=parallel), function),
        parallel_reason="" if parallel else "no loop is parallel as written, so there is no place for prange",
        program=program,
        program_reason=refusal,
        notes=scop.notes,
        analysis_seconds=elapsed,
        work=_work(scop, bound),
    )


def _work(scop: Scop, bound: Bound) -> Work | None:
    """What has to be computed and moved; None where isl cannot count it."""
    widths = {name: np.dtype(kind.dtype).itemsize for name, kind in bound.types.items()}
    try:
        return work_of(scop, bound.parameters, widths, this_machine().line)
    except isl.Error:
        return None


def _original_order(
    scop: Scop, found: Dependences, function: object, bound: Any
) -> tuple[Program | None, str]:
    try:
        kernel = build_kernel(scop, found, function, schedule="original", target="c", tile=False)
        # What the sizes or values of the example prove of subscripts need not hold for other data.
        return kernel.specialise(bound.types), ""
    except PolyvizError as error:
        return None, error.message


def with_prange(scop: Scop, found: Dependences) -> str | None:
    """The text with ``prange`` in the outermost loop of every nest that the analysis proves parallel as written.

    None when there is no such loop. Loops that do not step by one are left to the loops inside them, as numba wants.

    >>> scop = extract("def f(A):\\n    for i in range(9):\\n        for j in range(9):\\n            A[i, j] = 0.0\\n")
    >>> print(with_prange(scop, dependences(scop)))
    def f(A):
        for i in prange(9):
            for j in range(9):
                A[i, j] = 0.0
    """
    lines = {
        scop.statement(name).loop_spans[loop.depth].line
        for loop in parallelism(scop, found, scop.schedule)
        if loop.parallel
        for name in loop.statements
    }
    rewriter = _Rewriter(lines)
    tree = rewriter.visit(ast.parse(scop.text))
    return ast.unparse(ast.fix_missing_locations(tree)) if rewriter.rewritten else None


class _Rewriter(ast.NodeTransformer):
    """Turns the outermost loops that start on ``lines`` into parallel ones."""

    def __init__(self, lines: set[int]) -> None:
        self.lines = lines
        self.rewritten = False

    def visit_For(self, node: ast.For) -> ast.AST:
        """A parallel loop is rewritten, and what is inside it left alone; any other is searched."""
        call = node.iter
        if node.lineno not in self.lines or not isinstance(call, ast.Call) or len(call.args) > 2:
            return self.generic_visit(node)
        call.func = ast.Name("prange", ast.Load())
        self.rewritten = True
        return node
