"""The results of a class: what stands in students' notebooks, checked again without running anything of theirs."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from polyviz.errors import OptionError, PolyvizError, WorkerError
from polyviz.exercises import find
from polyviz.exercises.answer import is_blank
from polyviz.exercises.goal import UNSEEN
from polyviz.exercises.library import load
from polyviz.exercises.record import MIME
from polyviz.runtime.worker import Worker
from polyviz.views.drawing import clip_text
from polyviz.views.tables import columns

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from polyviz.exercises import Attempt

    Answered = tuple[str, Mapping[str, Any]]
    """The text of a cell below its first line, and what the notebook recorded of it."""

MAGIC = "%%polycheck"
UNKNOWN = "unknown"
SECONDS = 60.0
"""How long one answer may take."""
MOST_ANSWERS = 5
"""So many answers to one exercise are looked at, from the last one back."""
_LONGEST_NAME = 80
_LONGEST_NOTE = 200
_loaded: dict[str, tuple[str, ...]] = {}


@dataclass(frozen=True, slots=True)
class Grade:
    """One exercise in one notebook.

    ``notebook`` is the path as it was given. ``status`` is ``solved``, ``open`` (some goal is not met), ``empty``,
    ``unreadable``, or ``unknown`` where nobody set an exercise of this name; ``met`` of all ``goals`` are met.
    ``hints`` and ``attempts`` are what the notebook itself says, which a student can change; the rest is
    checked here. ``exercise`` is empty where the notebook holds none.
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
    """A row per exercise of each notebook; of several answers the best one counts, of equal ones the last.

    Cells stand in no order of time, and who goes on trying after a solution has solved the exercise all the same.
    ``exercises`` is the teacher's file that sets them; those of the course are known. Answers are checked again from
    their text, in a process of its own and for a limited time, so that no answer can stop the others. A notebook that
    does not exist, cannot be read, or holds no answer, has one row that says so, and so has each exercise of the
    teacher's file that a notebook leaves out. Raises OptionError where the teacher's is not there, or sets nothing.
    """
    if exercises is not None and not exercises.exists():
        raise OptionError(f"There is no file {exercises}.")
    sheet = "" if exercises is None else str(exercises)
    with Worker() as worker:
        read = "polyviz.commands.grade:set_by"
        asked = worker.run(read, sheet, time_limit=SECONDS, label=f"Reading {sheet}") if sheet else ()
        return [row for path in notebooks for row in _of_notebook(path, sheet, asked, worker)]


def set_by(sheet: str) -> tuple[str, ...]:
    """The names of the exercises that the teacher's file ``sheet`` sets; it is run once in a process."""
    if sheet and sheet not in _loaded:
        _loaded[sheet] = load(Path(sheet))
    return _loaded.get(sheet, ())


def _of_notebook(path: Path, sheet: str, asked: Sequence[str], worker: Worker) -> Iterator[Grade]:
    try:
        found = _answers(path)
    except OptionError as error:
        yield Grade(str(path), "", "unreadable", 0, 0, 0, 0, error.message)
        return
    if not found and not asked:
        yield Grade(str(path), "", "empty", 0, 0, 0, 0, f"no cell {MAGIC}")
    for name, answers in found.items():
        yield _best(str(path), name, answers, sheet, worker)
    for name in asked:
        if name not in found:
            row = _graded(str(path), name, "", {}, sheet, worker)
            yield replace(row, note=f"no cell {MAGIC} {name}")


def _answers(path: Path) -> dict[str, list[Answered]]:
    """The answers to each exercise in the order of the cells, or one empty one."""
    found: dict[str, list[Answered]] = {}
    for cell in _cells(path):
        first, _, body = _text(cell.get("source", "")).partition("\n")
        words = first.split()
        if words[:1] != [MAGIC] or len(words) < 2:
            continue
        name = next((word for word in words[1:] if not word.startswith("-")), "")[:_LONGEST_NAME]
        if name:
            found.setdefault(name, []).append((body, _record(cell, name)))
    # A cell that only asks for a hint is no answer where there is one.
    return {name: [one for one in all_ if not is_blank(one[0])] or all_[-1:] for name, all_ in found.items()}


def _best(notebook: str, name: str, answers: Sequence[Answered], sheet: str, worker: Worker) -> Grade:
    """The row of the answer that meets most goals, of equal ones the last."""
    *earlier, (body, record) = answers[-MOST_ANSWERS:]
    best = _graded(notebook, name, body, record, sheet, worker)
    for place, (body, record) in enumerate(reversed(earlier), start=1):
        if best.status == "solved":
            break
        row = _graded(notebook, name, body, record, sheet, worker)
        if (row.status == "solved", row.met) > (best.status == "solved", best.met):
            where = f"answer {len(answers) - place} of {len(answers)}, better than the last"
            best = replace(row, note="; ".join(filter(None, (row.note, where))))
    return best


def _cells(path: Path) -> Iterable[Mapping[str, Any]]:
    if not path.exists():
        raise OptionError(f"There is no file {path}.")
    try:
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise OptionError(f"{path} is no notebook: {type(error).__name__}.") from None
    if not isinstance(cells, list):
        raise OptionError(f"{path} is no notebook: it has no list of cells.")
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


def _graded(
    notebook: str, name: str, body: str, record: Mapping[str, Any], sheet: str, worker: Worker
) -> Grade:
    hints, attempts = (_number(record.get(key)) for key in ("hints", "attempts"))
    recorded = record.get("answer")
    answer = recorded if isinstance(recorded, str) else ""
    try:
        status, met, goals, note = worker.run(
            "polyviz.commands.grade:judge", sheet, name, body, answer, time_limit=SECONDS, label="Checking it"
        )
    except WorkerError as error:
        status, met, goals, note = "unreadable", 0, 0, error.message
    except Exception as error:  # whatever one answer brings about, the others are to be checked
        status, met, goals, note = "unreadable", 0, 0, f"stopped with {type(error).__name__}: {error}"
    return Grade(notebook, name, status, met, goals, hints, attempts, note)


def judge(sheet: str, name: str, body: str, recorded: str) -> tuple[str, int, int, str]:
    """Status, goals met, all goals and a note for one answer; ``sheet`` is the teacher's file, or empty.

    ``recorded`` is what the notebook says the answer was, for a cell that names a value of the notebook.
    """
    set_by(sheet)
    try:
        exercise = find(name)
    except PolyvizError:
        where = "your file does not set it either" if sheet else "give the file that sets it with --exercises"
        return UNKNOWN, 0, 0, f"no exercise of this name: {where}"
    attempt, note = exercise.attempt(body), ""
    if attempt.problem and recorded:
        attempt, note = exercise.attempt(recorded), "from the recorded answer"
    met = sum(verdict.met is True for verdict in attempt.verdicts)
    problem = clip_text(attempt.problem.partition("\n")[0] or _unjudged(attempt), _LONGEST_NOTE)
    return _status(attempt), met, len(exercise.goals), "; ".join(filter(None, (note, problem)))


def _unjudged(attempt: Attempt) -> str:
    """Which goal could not be looked at and why, unless the student's order is the reason."""
    for goal, verdict in zip(attempt.exercise.goals, attempt.verdicts, strict=False):
        if verdict.met is None and verdict != UNSEEN:
            return f"{goal.text}: {verdict.found}"
    return ""


def _number(value: object) -> int:
    return max(value, 0) if isinstance(value, int) else 0


def _status(attempt: Attempt) -> str:
    if attempt.is_blank:
        return "empty"
    if attempt.problem:
        return "unreadable"
    return "solved" if attempt.solved else "open"


def as_table(grades: Sequence[Grade]) -> str:
    """The rows in aligned columns; what would steer a terminal is left out."""
    rows = [[_printable(str(value)) for value in asdict(row).values()] for row in grades]
    return columns(rows, HEADINGS, right=[3, 4, 5, 6])


def problems(grades: Sequence[Grade]) -> list[str]:
    """What could not be checked, in sentences: notebooks that could not be read, and exercises that nobody set.

    >>> problems([Grade("a.ipynb", "", "unreadable", 0, 0, 0, 0, "a.ipynb is no notebook: KeyError.")])
    ['1 of 1 notebooks could not be read: a.ipynb. The table says why.']
    """
    lost = [_printable(row.notebook) for row in grades if row.status == "unreadable" and not row.exercise]
    strange = sorted({_printable(row.exercise) for row in grades if row.status == UNKNOWN})
    known = len({row.notebook for row in grades})
    found = []
    if lost:
        found.append(f"{len(lost)} of {known} notebooks could not be read: {', '.join(lost)}. The table says why.")
    if strange:
        found.append(f"Nobody set {', '.join(strange)}; --exercises FILE names your own file.")
    return found


def nothing_checked(grades: Sequence[Grade]) -> bool:
    """Whether no row is about an exercise that could be checked, for want of a notebook or of the exercise."""
    return all(row.status == UNKNOWN or (row.status == "unreadable" and not row.exercise) for row in grades)


def _printable(text: str) -> str:
    return "".join(letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in text)


def as_csv(grades: Sequence[Grade]) -> str:
    """The rows as CSV with a heading; text that a spreadsheet would take for a formula is quoted by an apostrophe."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(HEADINGS)
    for row in grades:
        writer.writerow([_harmless(value) for value in asdict(row).values()])
    return text.getvalue()


def _harmless(value: object) -> object:
    return f"'{value}" if isinstance(value, str) and value[:1] in ("=", "+", "-", "@", "\t") else value


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
