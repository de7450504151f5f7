"""``polyviz bench --suite gpu``: times on a device, counts without one; what fails is a row."""

from __future__ import annotations

from typing import TYPE_CHECKING

from polyviz.benchmark.failures import first_line
from polyviz.benchmark.gpu.counts import Counted
from polyviz.benchmark.gpu.records import COUNTS, TIMES, GpuResults, Row, load, save
from polyviz.benchmark.gpu.rounds import RUN_LIMIT, Race
from polyviz.benchmark.gpu.times import CUPY, NUMBA
from polyviz.benchmark.versions import versions
from polyviz.benchmark.workers import Workers
from polyviz.runtime.cuda import cuda_availability
from polyviz.runtime.nvrtc import nvrtc_availability

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

def run_gpu(
    kernels: Sequence[str],
    schedules: Sequence[str],
    output: Path,
    say: Callable[[str], None],
    *,
    size: str,
    dtype: str,
    repeats: int,
    resume: bool,
) -> int:
    """Time every schedule and the peers on the device here, or count without one; 1 when something was not verified.

    Writes ``gpu-times`` or ``gpu-counts``, ``.json`` and ``.md``, into ``output`` after every step.
    """
    available, reason = cuda_availability()
    name = TIMES if available else COUNTS
    if not available:
        say(f"no times, counts of the emulator instead: {reason}")
    results = (load(output, name) if resume else None) or _fresh(name, reason, size, dtype)
    variants = [*schedules, NUMBA, CUPY] if available else list(schedules)
    rounds = repeats if available else None
    with Workers() as workers:
        for kernel in kernels:
            for row in _rows(workers, kernel, _missing(results, kernel, variants), size, dtype, rounds):
                results = results.with_row(row)
                save(results, output)
                say(f"{kernel}, {row.schedule}: {row.text}")
    say(f"{output / name}.md holds the table")
    return int(not all(row.verified or row.schedule == CUPY for row in results.rows))


def _fresh(name: str, reason: str, size: str, dtype: str) -> GpuResults:
    where = reason if name == TIMES else "no device, the emulator on the processor"
    compiled, compiler = nvrtc_availability()
    found = {key: text for key, text in versions().items() if key in ("polyviz", "Python", "islpy", "numba")}
    return GpuResults(
        name,
        where,
        size,
        dtype,
        {**found, "NVRTC": compiler.removeprefix("NVRTC ") if compiled else "missing"},
    )


def _missing(results: GpuResults, kernel: str, variants: Sequence[str]) -> list[str]:
    """The variants without a row; all of them where times are compared that rounds have to share."""
    done = {row.schedule for row in results.rows if row.kernel == kernel}
    missing = [variant for variant in variants if variant not in done]
    return list(variants) if missing and results.name == TIMES else missing


def _rows(
    workers: Workers, kernel: str, variants: Sequence[str], size: str, dtype: str, repeats: int | None
) -> Iterable[Row]:
    """What came out for ``variants``: times where there are ``repeats``, counts otherwise."""
    if repeats is not None:
        return Race(workers, kernel, size, dtype, repeats).rows(variants)
    return (_counted(workers, kernel, schedule, size, dtype) for schedule in variants)


def _counted(workers: Workers, kernel: str, schedule: str, size: str, dtype: str) -> Counted:
    """One schedule in the emulator."""
    job, label = "polyviz.benchmark.gpu.counts:count", f"{schedule} on {kernel}"
    try:
        row: Counted = workers.run(
            "emulator", job, kernel, schedule, size, dtype, time_limit=RUN_LIMIT, label=label
        )
    except Exception as error:  # what a library raises is a row like any other
        return Counted(kernel, schedule, False, remark=first_line(error))
    return row
