"""Counts or times of the suite, on disk after every step and as a document."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING

from polyviz.benchmark.gpu.counts import Counted
from polyviz.benchmark.gpu.table import counts_markdown, times_markdown
from polyviz.benchmark.gpu.timed import Timed
from polyviz.errors import OptionError
from polyviz.runtime.storage import write_atomically

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

Row = Counted | Timed
COUNTS, TIMES = "gpu-counts", "gpu-times"


@dataclass(frozen=True, slots=True)
class GpuResults:
    """The rows of one run; ``where`` names the device, or says that there was none."""

    name: str
    where: str
    size: str
    dtype: str
    versions: Mapping[str, str]
    rows: tuple[Row, ...] = ()

    def with_row(self, row: Row) -> GpuResults:
        """The results with ``row`` in the place of one of the same kernel and schedule, or behind all others."""
        others = [one for one in self.rows if (one.kernel, one.schedule) != (row.kernel, row.schedule)]
        return replace(self, rows=(*others, row))

    def markdown(self) -> str:
        """The document."""
        made_with = "; ".join(f"{name} {text}" for name, text in self.versions.items())
        settings = f"{self.size} sizes, {self.dtype}. {made_with}."
        counted = [row for row in self.rows if isinstance(row, Counted)]
        timed = [row for row in self.rows if isinstance(row, Timed)]
        if self.name == TIMES:
            return times_markdown(self.where, settings, timed)
        return counts_markdown(self.where, settings, counted)


def load(directory: Path, name: str) -> GpuResults | None:
    """What an earlier run wrote; None when there is nothing. Raises ``OptionError`` for a file of another kind."""
    path = directory / f"{name}.json"
    kind: type[Counted] | type[Timed] = Timed if name == TIMES else Counted
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        return GpuResults(**{**data, "rows": tuple(map(kind.from_json, data["rows"]))})
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise OptionError(f"{path} holds no results that can be resumed ({error}).") from error


def save(results: GpuResults, directory: Path) -> None:
    """Write the data and the document; raises ``OptionError`` when the directory cannot be written."""
    document = json.dumps(asdict(results), indent=1, ensure_ascii=False, allow_nan=False)
    try:
        write_atomically(directory / f"{results.name}.json", f"{document}\n".encode())
        write_atomically(directory / f"{results.name}.md", results.markdown().encode())
    except OSError as error:
        raise OptionError(f"{directory} cannot be written: {error.strerror}.") from error
