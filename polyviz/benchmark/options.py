"""The options of ``polyviz bench``."""

from __future__ import annotations

import argparse
import difflib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from polyviz import gallery
from polyviz.api.targets import targets as known_targets
from polyviz.benchmark.ablation import KERNELS as ABLATION_KERNELS
from polyviz.benchmark.gpu.subjects import KERNELS as GPU_KERNELS
from polyviz.benchmark.gpu.subjects import SCHEDULES as GPU_SCHEDULES
from polyviz.benchmark.odd_sizes import KERNELS as ODD_KERNELS
from polyviz.benchmark.squares import KERNELS as SQUARE_KERNELS
from polyviz.errors import OptionError
from polyviz.gallery.entry import FLOATING, SIZE_LEVELS
from polyviz.model.program import CONTRACTS, FloatingPoint
from polyviz.scheduling import schedulers

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

SCHEDULER_SUITE = "schedulers"
"""The suite that looks at the schedulers themselves, on the kernels of PolyBench."""

GPU_SUITE = "gpu"
"""The suite of kernels on blocks and threads: timed on a device, counted without one."""
ODD_SUITE = "odd-sizes"
"""The suite of kernels at prime sizes, which fit no tile and no vector."""
SQUARE_SUITE = "squares"
"""The suite of products of square matrices, from small ones to large ones."""
ABLATION_SUITE = "ablation"
"""The suite that switches techniques off one by one."""
DEFAULT_SUITE = "polybench"
SUITES = (DEFAULT_SUITE, "gallery", ODD_SUITE, SQUARE_SUITE, ABLATION_SUITE, SCHEDULER_SUITE, GPU_SUITE)
_RESIZED = {ODD_SUITE: ODD_KERNELS, SQUARE_SUITE: SQUARE_KERNELS}
"""What is raced at sizes of its own unless other kernels are asked for."""
SCHEDULES = "pluto,isl,original"
SHORT_SCHEDULES = "pluto"
SHORT_KERNELS = ("gemm", "jacobi-2d", "trisolv")
SINGLE_KERNELS = (
    "2mm",
    "3mm",
    "correlation",
    "covariance",
    "doitgen",
    "gemm",
    "symm",
    "syr2k",
    "syrk",
    "trmm",
)
"""What is raced in single precision unless others are asked for: products of matrices, which arithmetic limits."""
BUDGET = 15.0
"""Seconds that the timed rounds of one kernel may take, as long as the fastest of both sides fit."""

SHORT_BUDGET = 10.0


@dataclass(frozen=True, slots=True)
class Options:
    """What to run, how often, and where the results go."""

    suite: str
    size: str
    kernels: tuple[str, ...]
    schedules: tuple[str, ...]
    targets: tuple[str, ...]
    dtype: str
    repeats: int
    budget: float
    resume: bool
    output: Path
    name: str
    short: bool
    contract: FloatingPoint = "reassociate"


class _Parser(argparse.ArgumentParser):
    """A parser whose errors are one line."""

    def error(self, message: str) -> NoReturn:
        raise OptionError(f"{message[:1].upper()}{message[1:]}; {self.prog} --help explains.")


def parse(arguments: Sequence[str] | None) -> Options:
    """The options of a command line; raises OptionError, in one line, for what does not exist.

    >>> parse(["--short"]).kernels
    ('gemm', 'jacobi-2d', 'trisolv')
    """
    chosen = _parser().parse_args(arguments)
    if chosen.repeats < 2:
        raise OptionError(f"--repeats must be 2 or more, not {chosen.repeats}: one sample has no interval.")
    size = chosen.size or _size(chosen.suite, short=chosen.short)
    everything = {SCHEDULER_SUITE: ",".join(schedulers()), GPU_SUITE: GPU_SCHEDULES}.get(
        chosen.suite, SCHEDULES
    )
    dtype = chosen.dtype or ("float32" if chosen.suite == GPU_SUITE else "float64")
    schedules = chosen.schedules or (SHORT_SCHEDULES if chosen.short else everything)
    kernels = _kernels(chosen.suite, size, chosen.kernels, dtype, short=chosen.short)
    return Options(
        suite=chosen.suite,
        size=size,
        kernels=kernels,
        schedules=_known("schedule", schedules, schedulers()),
        targets=_known("target", chosen.targets, known_targets()),
        dtype=dtype,
        repeats=chosen.repeats,
        budget=SHORT_BUDGET if chosen.short else BUDGET,
        resume=chosen.resume,
        output=chosen.output,
        name=_file_name(chosen, size, dtype),
        short=chosen.short,
        contract=chosen.contract,
    )


def _file_name(chosen: argparse.Namespace, size: str, dtype: str) -> str:
    """The name of the files: what is not as usual is in it."""
    parts = [chosen.suite, "short" if chosen.short else size]
    parts += [dtype] if dtype != "float64" and chosen.suite != GPU_SUITE else []
    parts += [chosen.contract] if chosen.contract != "reassociate" else []
    return "-".join(parts)


def _size(name: str, *, short: bool) -> str:
    """The size where none is given; without a device the emulator wants small ones."""
    if name == GPU_SUITE and not known_targets()["cuda"].available:
        return "mini" if short else "small"
    return "small" if short else "large"


def suite(name: str, size: str) -> tuple[str, ...]:
    """The kernels of a suite that have this size."""
    if name == GPU_SUITE:
        return tuple(kernel for kernel in GPU_KERNELS if size in gallery.kernel(kernel).sizes)
    if name in _RESIZED:
        return _RESIZED[name]
    entries = gallery.kernels() if name == "gallery" else gallery.polybench()
    return tuple(entry.name for entry in entries if size in entry.sizes)


def _parser() -> _Parser:
    parser = _Parser(
        prog="polyviz bench",
        description="Race the kernels of the gallery against the installed peers: every output verified, all variants "
        "timed in interleaved rounds, ratios from samples of the same round.",
    )
    add = parser.add_argument
    add(
        "--suite",
        choices=SUITES,
        default=DEFAULT_SUITE,
        help=f"which kernels (default %(default)s); {SCHEDULER_SUITE} surveys the schedulers on PolyBench instead, "
        f"{ODD_SUITE} takes primes for sizes, {SQUARE_SUITE} square matrices of many sizes, "
        f"{ABLATION_SUITE} switches techniques off one by one, {GPU_SUITE} times kernels on a device, or counts what "
        "they do where there is none",
    )
    add("--size", choices=SIZE_LEVELS, help="their sizes (default large; small with --short)")
    add(
        "--kernels",
        metavar="NAME,…",
        default="",
        help="only these (default: the suite; of polybench in float32 those that multiply matrices)",
    )
    add(
        "--schedules",
        metavar="NAME,…",
        help=f"default {SCHEDULES}; {SHORT_SCHEDULES} with --short; all of them in the suite {SCHEDULER_SUITE}",
    )
    add("--targets", metavar="NAME,…", default="c,numba", help="default %(default)s")
    add("--dtype", choices=FLOATING, help=f"default float64; float32 in the suite {GPU_SUITE}")
    add(
        "--contract",
        choices=tuple(CONTRACTS),
        default="reassociate",
        help="of floating point, for the variants of polyviz (default %(default)s); strict asks for the same bits",
    )
    add(
        "--repeats",
        type=int,
        default=5,
        metavar="K",
        help="timed rounds, fewer for slow kernels (default %(default)s)",
    )
    add(
        "--short", action="store_true", help=f"a check that all works, in seconds: {', '.join(SHORT_KERNELS)}"
    )
    add("--resume", action="store_true", help="go on where an earlier run with the same options ended")
    add(
        "--output",
        type=Path,
        default=Path("benchmarks"),
        metavar="DIRECTORY",
        help="where the JSON file and the Markdown table go (default %(default)s)",
    )
    return parser


def _kernels(name: str, size: str, listed: str, dtype: str, *, short: bool) -> tuple[str, ...]:
    known = suite(name, size)
    if listed:
        return _known("kernel", listed, known if name not in _RESIZED else suite("polybench", size))
    if name == ABLATION_SUITE:
        return ABLATION_KERNELS
    if short:
        return SHORT_KERNELS
    return SINGLE_KERNELS if (name, dtype) == (DEFAULT_SUITE, "float32") else known


def _known(kind: str, listed: str, known: Collection[str]) -> tuple[str, ...]:
    names = tuple(dict.fromkeys(name.strip() for name in listed.split(",") if name.strip()))
    unknown = [name for name in names if name not in known]
    if unknown:
        near = difflib.get_close_matches(unknown[0], known, 1)
        hint = f": did you mean {near[0]!r}?" if near else f"; known: {', '.join(known)}."
        raise OptionError(f"Unknown {kind} {unknown[0]!r}{hint}")
    if not names:
        raise OptionError(f"No {kind} is named; known: {', '.join(known)}.")
    return names
