"""``polyviz bench --suite ablation``: what each technique gives, as a table per kernel."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from polyviz.api import ablation, techniques
from polyviz.api.ablation import SAME_PROGRAM
from polyviz.benchmark.subject import Data
from polyviz.benchmark.versions import versions
from polyviz.benchmark.workers import fixed_threads
from polyviz.errors import OptionError
from polyviz.gallery import kernel as gallery_kernel
from polyviz.runtime.machine import this_machine
from polyviz.runtime.storage import write_atomically
from polyviz.views.tables import seconds, three_digits

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from polyviz.model.measurement import ComparisonData, VariantRow

KERNELS = ("gemm", "jacobi-2d")
NAME = "ablation"


@dataclass(frozen=True, slots=True)
class AblationRow:
    """One line: ``slowdown`` is how many times as long as with everything on it takes."""

    variant: str
    status: str
    verified: bool | None
    seconds: float | None
    interval: tuple[float, float] | None
    slowdown: float | None
    note: str


@dataclass(frozen=True, slots=True)
class KernelAblation:
    """One kernel with its sizes and rows."""

    kernel: str
    sizes: Mapping[str, int]
    rows: tuple[AblationRow, ...]


@dataclass(frozen=True, slots=True)
class AblationSettings:
    """What is the same for all kernels."""

    size: str
    dtype: str
    schedule: str
    target: str
    contract: str
    repeats: int
    threads: int
    machine: str
    versions: Mapping[str, str]


def run_ablation(
    kernels: Sequence[str],
    output: Path,
    say: Callable[[str], None],
    *,
    size: str,
    dtype: str,
    schedule: str,
    target: str,
    contract: str,
    repeats: int,
) -> int:
    """Write ``ablation.json`` and ``ablation.md`` into ``output`` after every kernel; 1 when something was wrong."""
    found: list[KernelAblation] = []
    with fixed_threads() as threads:
        settings = AblationSettings(
            size, dtype, schedule, target, contract, repeats, threads, this_machine().describe(), versions()
        )
        for name in kernels:
            data = Data(name, size, dtype)
            comparison = ablation(
                gallery_kernel(name).function,
                *data.arguments(),
                schedule=schedule,
                target=target,
                contract=contract,
                repeats=repeats,
            )
            found.append(_kernel(name, comparison.data))
            _save(settings, found, output)
            say(f"{name}: {len(comparison.rows)} variants")
    say(f"{output / NAME}.md holds the tables")
    return int(any(row.verified is False for one in found for row in one.rows))


def _kernel(name: str, data: ComparisonData) -> KernelAblation:
    whole = next((row for row in data.rows if not row.is_baseline), None)
    return KernelAblation(name, dict(data.sizes), tuple(_row(row, whole) for row in data.rows))


def _row(row: VariantRow, whole: VariantRow | None) -> AblationRow:
    timed = row.median is not None and whole is not None and whole.median is not None
    slowdown = row.median / whole.median if timed else None  # type: ignore[operator,union-attr]  # told by `timed`
    return AblationRow(row.label, row.status, row.verified, row.median, row.interval, slowdown, row.note)


def _save(settings: AblationSettings, found: Sequence[KernelAblation], output: Path) -> None:
    document = {**asdict(settings), "kernels": [asdict(one) for one in found]}
    try:
        write_atomically(output / f"{NAME}.json", (json.dumps(document, indent=1) + "\n").encode())
        write_atomically(output / f"{NAME}.md", ablation_table(settings, found).encode())
    except OSError as error:
        raise OptionError(f"{output} cannot be written: {error.strerror}.") from error


def ablation_table(settings: AblationSettings, found: Sequence[KernelAblation]) -> str:
    """The document: how it was made, a table per kernel, and what each technique is."""
    words = f"--suite {NAME} --size {settings.size} --dtype {settings.dtype} --contract {settings.contract}"
    lines = [
        "# What each technique gives",
        "",
        f"- Machine: {'; '.join(settings.machine.splitlines())}",
        f"- Made by `polyviz bench {words} --repeats {settings.repeats}`: schedule {settings.schedule}, target "
        f"{settings.target}, {settings.threads} threads, every row verified against the loop as written, then timed in "
        f"{settings.repeats} interleaved rounds",
        f"- Versions: {'; '.join(f'{name} {text}' for name, text in settings.versions.items())}",
        "",
        "*Time* is how many times as long as with everything on a variant takes.",
    ]
    for one in found:
        sizes = ", ".join(f"{name} = {value}" for name, value in one.sizes.items())
        lines += ["", f"## {one.kernel} ({sizes})", "", *_table(one.rows)]
    lines += ["", "## The techniques", ""]
    lines += [f"- `{name}`: {meaning}" for name, meaning in techniques().items()]
    return "\n".join(lines) + "\n"


def _table(rows: Sequence[AblationRow]) -> list[str]:
    """What changes the program; the rest has no times of its own."""
    head = ["| variant | verified | median | time | note |", "| --- | --- | ---: | ---: | --- |"]
    idle = [row for row in rows if row.verified and SAME_PROGRAM in row.note]
    lines = head + [f"| {' | '.join(_cells(row))} |" for row in rows if row not in idle]
    names = ", ".join(f"`{row.variant.removeprefix('without ').partition('/')[0]}`" for row in idle)
    told = ["", f"Without {names} the program is the same: nothing to do for it here."] if idle else []
    return lines + told


def _cells(row: AblationRow) -> list[Any]:
    marks = {True: "yes", False: "no", None: "–"}
    return [
        row.variant,
        marks[row.verified],
        row.status if row.seconds is None else seconds(row.seconds),
        "–" if row.slowdown is None else f"{three_digits(row.slowdown)}x",
        row.note,
    ]
