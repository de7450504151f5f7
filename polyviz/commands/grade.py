"""The results of a class: what stands in students' notebooks, checked again without running anything of theirs."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Any

from polyviz.errors import OptionError, PolyvizError
from polyviz.exercises import find
from polyviz.exercises.answer import is_blank
from polyviz.exercises.library import load
from polyviz.exercises.record import MIME
from polyviz.views.tables import columns

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from polyviz.exercises import Attempt

MAGIC = "%%polycheck"


@dataclass(frozen=True, slots=True)
class Grade:
    """One exercise in one notebook.

    ``notebook`` is the path as it was given. ``status`` is ``solved``, ``open`` (some goal is not met), ``empty`` or
    ``unreadable``; ``met`` of all ``goals`` are met. ``hints`` and ``attempts`` are what the notebook itself
    says, which a student can change; the rest is checked here.
    """

    notebook: str
    exercise: str
    status: str
    met: int
    goals: int
    hints: int
    attempts: int
    note: str = ""


HEADINGS = tuple(field.name for field in fields(Grade))


def grade(notebooks: Sequence[Path], exercises: Path | None = None) -> list[Grade]:
    """A row per exercise of each notebook, the last cell of an exercise counts.

    ``exercises`` is the teacher's file that sets them; those of the course are known. Answers are checked again from
    their text. Raises OptionError for a file that is no notebook.
    """
    if exercises is not None:
        load(exercises)
    return [row for path in notebooks for row in _of_notebook(path)]


def _of_notebook(path: Path) -> Iterator[Grade]:
    last: dict[str, Mapping[str, Any]] = {}
    for cell in _cells(path):
        first, _, body = _text(cell.get("source", "")).partition("\n")
        words = first.split()
        if words[:1] != [MAGIC] or len(words) < 2:
            continue
        name = next((word for word in words[1:] if not word.startswith("-")), "")
        # A cell that only asks for a hint takes back no answer given before.
        if name not in last or not is_blank(body):
            last[name] = {"body": body, "record": _record(cell, name)}
    for name, found in last.items():
        yield _graded(str(path), name, found["body"], found["record"])


def _cells(path: Path) -> Iterable[Mapping[str, Any]]:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        cells = content["cells"]
    except FileNotFoundError:
        raise OptionError(f"There is no file {path}.") from None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise OptionError(f"{path} is no notebook: {type(error).__name__}.") from None
    return [cell for cell in cells if isinstance(cell, dict) and cell.get("cell_type") == "code"]


def _text(source: object) -> str:
    return "".join(map(str, source)) if isinstance(source, list) else str(source)


def _record(cell: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    for output in cell.get("outputs") or ():
        data = output.get("data") if isinstance(output, dict) else None
        record = data.get(MIME) if isinstance(data, dict) else None
        if isinstance(record, dict) and record.get("exercise") == name:
            return record
    return {}


def _graded(notebook: str, name: str, body: str, record: Mapping[str, Any]) -> Grade:
    hints, attempts = (_number(record.get(key)) for key in ("hints", "attempts"))
    try:
        exercise = find(name)
    except PolyvizError:
        note = "no exercise of this name: give the file that sets it with --exercises"
        return Grade(notebook, name, "unreadable", 0, 0, hints, attempts, note)
    attempt = exercise.attempt(body)
    note = ""
    if attempt.problem and isinstance(record.get("answer"), str):
        # The cell names a value of the notebook; what the notebook says it was is checked instead.
        attempt = exercise.attempt(record["answer"])
        note = "from the recorded answer"
    met = sum(verdict.met is True for verdict in attempt.verdicts)
    note = attempt.problem.partition("\n")[0] or note
    return Grade(notebook, name, _status(attempt), met, len(exercise.goals), hints, attempts, note)


def _number(value: object) -> int:
    return value if isinstance(value, int) else 0


def _status(attempt: Attempt) -> str:
    if attempt.is_blank:
        return "empty"
    if attempt.problem:
        return "unreadable"
    return "solved" if attempt.solved else "open"


def as_table(grades: Sequence[Grade]) -> str:
    """The rows in aligned columns."""
    rows = [[str(value) for value in asdict(row).values()] for row in grades]
    return columns(rows, HEADINGS, right=[3, 4, 5, 6]) if rows else "No notebook holds a cell %%polycheck."


def as_csv(grades: Sequence[Grade]) -> str:
    """The rows as CSV with a heading; text that a spreadsheet would take for a formula is quoted by an apostrophe."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(HEADINGS)
    for row in grades:
        writer.writerow([_harmless(value) for value in asdict(row).values()])
    return text.getvalue()


def _harmless(value: object) -> object:
    return f"'{value}" if isinstance(value, str) and value[:1] in ("=", "+", "-", "@") else value


def as_json(grades: Sequence[Grade]) -> str:
    """The rows as a JSON list."""
    return json.dumps([asdict(row) for row in grades], ensure_ascii=False, indent=1) + "\n"


def write(grades: Sequence[Grade], path: Path) -> None:
    """Write the rows to ``path``, whose ending says how: ``.csv`` or ``.json``; raises OptionError for another."""
    forms = {".csv": as_csv, ".json": as_json}
    if path.suffix not in forms:
        raise OptionError(f"--output ends in .csv or .json, not in {path.suffix or 'nothing'!r}.")
    try:
        path.write_text(forms[path.suffix](grades), encoding="utf-8")
    except OSError as error:
        raise OptionError(f"{path} cannot be written: {error}.") from None
