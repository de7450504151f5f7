"""All that a survey found, on disk after every step and as a document."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING

from polyviz.benchmark.survey.findings import Finding
from polyviz.benchmark.survey.growth import Growth
from polyviz.benchmark.survey.picture import can_be_drawn, growth_picture
from polyviz.benchmark.survey.table import markdown
from polyviz.errors import OptionError
from polyviz.runtime.storage import write_atomically

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

NAME = "schedulers"


@dataclass(frozen=True, slots=True)
class Survey:
    """Findings by kernel and scheduler, growth by statements and scheduler, and where they were made."""

    machine: str
    versions: Mapping[str, str]
    findings: tuple[Finding, ...] = ()
    growth: tuple[Growth, ...] = ()

    def with_finding(self, finding: Finding) -> Survey:
        """The survey with one finding more."""
        return replace(self, findings=(*self.findings, finding))

    def with_growth(self, growth: Growth) -> Survey:
        """The survey with one measurement of growth more."""
        return replace(self, growth=(*self.growth, growth))


def load(directory: Path) -> Survey | None:
    """What an earlier survey wrote into ``directory``; None when there is nothing.

    Raises ``OptionError`` when the file is there and holds something else.
    """
    path = directory / f"{NAME}.json"
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        return Survey(
            data["machine"],
            data["versions"],
            tuple(map(Finding.from_json, data["findings"])),
            tuple(map(Growth.from_json, data["growth"])),
        )
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise OptionError(f"{path} holds no survey that can be resumed ({error}).") from error


def save(survey: Survey, directory: Path) -> None:
    """Write the data, the document and its picture; raises ``OptionError`` when the directory cannot be written."""
    document = json.dumps(asdict(survey), indent=1, ensure_ascii=False, allow_nan=False)
    try:
        write_atomically(directory / f"{NAME}.json", f"{document}\n".encode())
        text = markdown(survey.machine, survey.versions, survey.findings, survey.growth)
        write_atomically(directory / f"{NAME}.md", text.encode())
        if can_be_drawn(survey.growth):
            write_atomically(directory / f"{NAME}.svg", growth_picture(survey.growth).encode())
    except OSError as error:
        raise OptionError(f"{directory} cannot be written: {error.strerror}.") from error
