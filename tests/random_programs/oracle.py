"""What the product makes of a program, compared with the program as plain Python or numba runs it."""

from __future__ import annotations

import re
import traceback
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

import polyviz as pv
from polyviz.errors import EmulationError, LegalityError, ToolchainError
from polyviz.mapping import DEVICE_TARGETS
from polyviz.runtime.binding import Binder
from tests.interpreter import run_scop
from tests.random_programs.comparison import difference, outputs, within_noise

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tests.random_programs.program import Case, Program

Kind = Literal["equal", "refused", "wrong", "error", "crash", "timeout", "inconclusive", "invalid"]
"""``error``: an exception that is no PolyvizError, or one of `FAULTS`; ``crash`` and ``timeout`` are noticed by the
process outside; ``inconclusive``: rounding noise grows so much that no verdict is possible; ``invalid``: the program
itself fails."""
FAULTS = (EmulationError, LegalityError, ToolchainError)
"""What no program deserves: a kernel that races or reads out of range, an illegal order, text that does not compile."""
INTERPRETER = "interpreter"
"""A target beside those of the product: the schedule in the reference interpreter, for sizes up to `SLOW_SIZE`."""
SLOW_SIZE = 9
EMULATED_SIZE = 40
"""Sizes beyond it are left out where the processor plays every thread of a device."""
EXTRACTION = "extraction"
"""The step that all variants share."""
TILES: tuple[tuple[int, ...] | None, ...] = (None, None, (4,), (5, 3), (8, 4, 2), (2,))
"""Tile sizes that programs are given in turn: the default is larger than most of their loops."""
THREADS = (None, 2, None, 1, 7)
"""Numbers of threads that programs are given in turn."""
ROUNDED = re.compile(r"math\.|np\.(?!zeros|empty|float|int|uint|complex|bool|sum)|\*\*")
"""What two libraries may round differently."""
SUMMED = re.compile(r"\bsum\(")
"""What NumPy computes from parts in another order; numba adds one element after the other."""


@dataclass(frozen=True)
class Variant:
    """One way through the product."""

    schedule: str
    target: str
    contract: str = "reassociate"

    def __str__(self) -> str:
        strict = "" if self.contract == "reassociate" else f"/{self.contract}"
        return f"{self.schedule}/{self.target}{strict}"


@dataclass(frozen=True)
class Outcome:
    """``detail`` is a sentence, ``key`` what outcomes are counted by."""

    variant: str
    kind: Kind
    detail: str = ""

    @property
    def key(self) -> str:
        """The first sentence without names and numbers."""
        first = self.detail.splitlines()[0] if self.detail else ""
        return re.sub(r"`[^`]*`|\b\w+\[[^\]]*\]|-?\d+|\b[A-Za-z]\b", "…", first)


@dataclass
class Reference:
    """The program's own results; computed when first asked for."""

    program: Program

    @cached_property
    def function(self) -> Any:
        return self.program.function() if self.program.plain else self.program.compiled()

    @cached_property
    def expected(self) -> list[dict[str, Any]]:
        return [run(self.function, self.plain, case) for case in self.program.cases]

    @cached_property
    def plain(self) -> Program:
        """The program with arrays that every reference takes."""
        return self.program.in_rows()


def run(function: Any, program: Program, case: Case) -> dict[str, Any]:
    """What one call leaves behind."""
    values = program.values(case)
    with np.errstate(all="ignore"):
        return outputs(values, function(*values))


def tile_of(program: Program, scop: pv.Scop) -> tuple[int, ...] | None:
    """The tile sizes that this program is compiled with, no more than there are loops."""
    sizes = TILES[program.seed % len(TILES)]
    deepest = max((len(statement.iterators) for statement in scop.statements), default=0)
    return sizes and sizes[: max(deepest, 1)]


def threads_of(program: Program) -> int | None:
    """The number of threads that this program is compiled for."""
    return THREADS[program.seed % len(THREADS)]


def is_exact(program: Program, contract: str) -> bool:
    """Whether the result has to have the same bits."""
    complex_ = any(argument.dtype.startswith("complex") for argument in program.arguments)
    sure = not (ROUNDED.search(program.source) or (program.plain and SUMMED.search(program.source)))
    return contract == "strict" and not complex_ and sure


def judge(program: Program, variants: Sequence[Variant]) -> Iterator[Outcome]:
    """The outcome of the extraction and, when that went well, one outcome per variant."""
    reference = Reference(program)
    try:
        reference.expected  # noqa: B018  (computed once, here, where a failure is the generator's)
    except Exception as error:
        yield Outcome(EXTRACTION, "invalid", repr(error))
        return
    try:
        scop = pv.extract(program.source)
    except Exception as error:
        yield _failure(EXTRACTION, error)
        return
    yield Outcome(EXTRACTION, "equal")
    for variant in variants:
        yield _judged(reference, scop, variant)


def _judged(reference: Reference, scop: pv.Scop, variant: Variant) -> Outcome:
    program = reference.program
    try:
        function = (
            _interpreted(scop, variant) if variant.target == INTERPRETER else _kernel(program, scop, variant)
        )
        for case, expected in zip(program.cases, reference.expected, strict=True):
            if variant.target == INTERPRETER and (not program.plain or max(case.sizes.values()) > SLOW_SIZE):
                continue
            if variant.target == "emulated" and max(case.sizes.values(), default=0) > EMULATED_SIZE:
                continue
            actual = run(function, program, case)
            exact = is_exact(program, variant.contract)
            sentence = difference(expected, actual, exact=exact)
            if not sentence:
                continue
            if not exact and within_noise(reference.function, partial(reference.plain.values, case), expected, actual):
                return Outcome(str(variant), "inconclusive", sentence)
            return Outcome(str(variant), "wrong", f"{sentence} at {dict(case.sizes)}")
    except Exception as error:
        return _failure(str(variant), error)
    return Outcome(str(variant), "equal")


def _kernel(program: Program, scop: pv.Scop, variant: Variant) -> Any:
    tile = tile_of(program, scop) if variant.schedule != "original" else None
    schedule: Any = variant.schedule
    if schedule == "adaptive":  # it chooses by sizes
        schedule = pv.schedule(scop, schedule, sizes=_sizes(scop, program))
    options: dict[str, Any] = {"tile": tile}
    if variant.target not in DEVICE_TARGETS:
        options["threads"] = threads_of(program)
    if variant.schedule == "superposition" and variant.target in DEVICE_TARGETS:
        options = {"tile_sizes": tile[:2]} if tile else {}  # its tiles are the scheduler's own
    return pv.compile(scop, schedule=schedule, target=variant.target, contract=variant.contract, **options)


def _sizes(scop: pv.Scop, program: Program) -> dict[str, int]:
    """The values of all parameters in the last case."""
    bound = Binder(scop).bind(tuple(program.values(program.cases[-1])), {})
    return dict(bound.parameters)


def _interpreted(scop: pv.Scop, variant: Variant) -> Any:
    """The part under the reference interpreter; an order that needs copies of scalars keeps the original one."""
    copies = pv.dependences(scop).privatizations
    order = scop.schedule if copies else pv.schedule(scop, variant.schedule).tree
    return lambda *values: run_scop(scop, values, order=order)


def _failure(variant: str, error: Exception) -> Outcome:
    if isinstance(error, FAULTS):
        return Outcome(variant, "error", f"{type(error).__name__}: {error}")
    if isinstance(error, pv.PolyvizError):
        return Outcome(variant, "refused", f"{type(error).__name__}: {error}")
    frames = traceback.extract_tb(error.__traceback__)
    place = next((frame for frame in reversed(frames) if "polyviz" in frame.filename), frames[-1])
    where = f"{place.filename.rpartition('polyviz/')[2]}:{place.lineno}"
    return Outcome(variant, "error", f"{type(error).__name__} in {where}: {error}")
