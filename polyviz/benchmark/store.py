"""The results on disk: written whole after every kernel, so that whatever ends a run, the finished kernels stay."""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from polyviz.benchmark.records import KernelRecord, Results, Settings
from polyviz.benchmark.roofline_picture import can_be_drawn, roofline_picture
from polyviz.benchmark.rooflines import achieved
from polyviz.benchmark.table import markdown
from polyviz.errors import OptionError
from polyviz.runtime.storage import write_atomically

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class Store:
    """A JSON file, a Markdown table and a picture beside it: ``<name>.json``, ``.md`` and ``.svg`` in ``directory``."""

    directory: Path
    name: str

    @property
    def json(self) -> Path:
        """The file that a later run resumes from."""
        return self.directory / f"{self.name}.json"

    @property
    def table(self) -> Path:
        """The table for readers."""
        return self.directory / f"{self.name}.md"

    @property
    def picture(self) -> Path:
        """The roofline, where the machine was measured."""
        return self.directory / f"{self.name}.svg"

    def load(self) -> Results | None:
        """What an earlier run wrote; None when there is nothing. Raises OptionError for any other file."""
        try:
            text = self.json.read_text(encoding="utf-8")
        except FileNotFoundError:
            return None
        except OSError as error:
            raise OptionError(f"{self.json} cannot be read: {error.strerror}.") from error
        try:
            return Results.from_json(json.loads(text))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise OptionError(
                f"{self.json} holds no benchmark results that can be resumed ({error})."
            ) from error

    def save(self, results: Results) -> None:
        """Write the files. Raises OptionError when the directory cannot be written."""
        document = json.dumps(results.to_json(), indent=1, ensure_ascii=False, allow_nan=False)
        try:
            write_atomically(self.json, f"{document}\n".encode())
            drawn = can_be_drawn(achieved(results))
            picture = self.picture.name if drawn else ""
            if drawn and results.peaks is not None:
                text = roofline_picture(drawn, results.peaks, results.settings.dtype)
                write_atomically(self.picture, f"{text}\n".encode())
            write_atomically(self.table, markdown(results, picture).encode())
        except OSError as error:
            raise OptionError(f"{self.directory} cannot be written: {error.strerror}.") from error


def resumed(found: Results, fresh: Results) -> Results:
    """``found`` to go on with; raises OptionError when it was measured under other settings than ``fresh``."""
    pairs = [
        (field.name, getattr(found.settings, field.name), getattr(fresh.settings, field.name))
        for field in dataclasses.fields(Settings)
    ]
    different = [f"{name} {_shown(old)} there, {_shown(new)} now" for name, old, new in pairs if old != new]
    if found.versions != fresh.versions:
        different.append("other versions")
    if found.peers != fresh.peers:
        different.append("other peers")
    if different:
        raise OptionError(
            f"The results cannot be resumed, since they were measured otherwise: {'; '.join(different)}."
        )
    return found


def with_kernel(results: Results, record: KernelRecord, order: Iterable[str]) -> Results:
    """``results`` with ``record`` in its place in ``order``; an earlier record of the kernel is replaced."""
    kept = [kernel for kernel in results.kernels if kernel.kernel != record.kernel]
    places = {name: number for number, name in enumerate(order)}
    kernels = sorted([*kept, record], key=lambda kernel: places.get(kernel.kernel, len(places)))
    return replace(results, kernels=tuple(kernels))


def _shown(value: object) -> str:
    return ",".join(map(str, value)) if isinstance(value, tuple) else str(value).splitlines()[0]
