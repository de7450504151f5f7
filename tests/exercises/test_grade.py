"""`polyviz grade`: the notebooks of a class, checked again."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from polyviz.cli import main
from polyviz.commands import grade
from polyviz.exercises import find
from polyviz.exercises.record import MIME
from tests.exercises.solutions import SOLUTIONS


def notebook(path, *cells, outputs=()):
    """A notebook file with code cells."""
    found = [
        {"cell_type": "code", "metadata": {}, "source": source, "outputs": list(outputs)} for source in cells
    ]
    path.write_text(json.dumps({"cells": found, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}))
    return path


def recorded(**words):
    return {"output_type": "execute_result", "data": {MIME: {"version": 1, **words}}}


def rows(path):
    with path.open() as file:
        return list(csv.DictReader(file))


@pytest.mark.slow
def test_a_class(tmp_path, capsys) -> None:
    good = notebook(tmp_path / "ada.ipynb", "x = 1", "%%polycheck inner-loop\n" + SOLUTIONS["inner-loop"])
    bad = notebook(
        tmp_path / "bob.ipynb",
        "%%polycheck inner-loop --hint\n{ S0[i, j] -> [j, i] }",
        outputs=[recorded(exercise="inner-loop", solved=True, hints=1, attempts=3, answer="")],
    )
    table = tmp_path / "class.csv"
    assert main(["grade", str(good), str(bad), "--output", str(table)]) == 0
    assert [(row["notebook"], row["status"], row["met"], row["hints"]) for row in rows(table)] == [
        (str(good), "solved", "2", "0"),
        (str(bad), "open", "1", "1"),
    ]
    assert "ada.ipynb" in capsys.readouterr().out


@pytest.mark.slow
def test_of_several_answers_the_best_one_counts(tmp_path) -> None:
    cell = "%%polycheck inner-loop\n"
    worse = cell + "{ S0[i, j] -> [j, i] }"
    path = notebook(tmp_path / "zoe.ipynb", worse, cell + SOLUTIONS["inner-loop"], worse, cell + "nonsense")
    [row] = grade.grade([path])
    assert (row.status, row.met, row.note) == ("solved", 2, "answer 2 of 4, better than the last")
    [equal] = grade.grade([notebook(tmp_path / "tom.ipynb", worse, worse)])
    assert (equal.status, equal.met, equal.note) == ("open", 1, "")


@pytest.mark.slow
def test_the_answer_that_a_name_stood_for(tmp_path) -> None:
    output = recorded(exercise="columns", answer=SOLUTIONS["columns"], hints=0, attempts=1)
    path = notebook(tmp_path / "eve.ipynb", "%%polycheck columns\nmine", outputs=[output])
    assert main(["grade", str(path), "--output", str(tmp_path / "all.json")]) == 0
    [row] = json.loads((tmp_path / "all.json").read_text())
    assert (row["status"], row["note"]) == ("solved", "from the recorded answer")


@pytest.mark.slow
def test_nothing_of_a_notebook_is_executed(tmp_path) -> None:
    path = notebook(tmp_path / "mal.ipynb", f"%%polycheck columns\nopen({str(tmp_path / 'made')!r}, 'w')")
    main(["grade", str(path)])
    assert not (tmp_path / "made").exists()


@pytest.mark.slow
def test_a_hint_asked_for_later_takes_nothing_back(tmp_path) -> None:
    path = notebook(
        tmp_path / "kim.ipynb", "%%polycheck columns\n" + SOLUTIONS["columns"], "%%polycheck columns --hint\n"
    )
    main(["grade", str(path), "--output", str(tmp_path / "all.csv")])
    assert [row["status"] for row in rows(tmp_path / "all.csv")] == ["solved"]


@pytest.mark.slow
def test_exercises_of_a_teachers_file(tmp_path, capsys) -> None:
    file = tmp_path / "sheet.py"
    file.write_text(
        "import polyviz as pv\nfrom polyviz.exercises import legal\n"
        "pv.exercise('sheet-1', 'for i in range(n):\\n    A[i] = 0.0', [legal()])\n"
    )
    path = notebook(tmp_path / "una.ipynb", '%%polycheck sheet-1\nreversal(at="i")', "%%polycheck gone\nx")
    assert main(["grade", str(path), "--exercises", str(file), "--output", str(tmp_path / "all.csv")]) == 1
    assert "Nobody set gone; --exercises FILE names your own file." in capsys.readouterr().err
    assert [row["status"] for row in rows(tmp_path / "all.csv")] == ["solved", "unknown"]


@pytest.mark.slow
def test_every_notebook_has_a_row_for_every_exercise_of_the_sheet(tmp_path) -> None:
    file = tmp_path / "sheet.py"
    loops = "'for i in range(n):\\n    A[i] = 0.0'"
    file.write_text(
        "import polyviz as pv\nfrom polyviz.exercises import legal\n"
        f"pv.exercise('one', {loops}, [legal()])\npv.exercise('two', {loops}, [legal()])\n"
    )
    some = notebook(tmp_path / "ann.ipynb", '%%polycheck two\nreversal(at="i")')
    none = notebook(tmp_path / "bob.ipynb", "x = 1")
    graded = grade.grade([some, none], file)
    found = [(Path(row.notebook).name, row.exercise, row.status, row.goals, row.note) for row in graded]
    assert found == [
        ("ann.ipynb", "two", "solved", 1, ""),
        ("ann.ipynb", "one", "empty", 1, "no cell %%polycheck one"),
        ("bob.ipynb", "one", "empty", 1, "no cell %%polycheck one"),
        ("bob.ipynb", "two", "empty", 1, "no cell %%polycheck two"),
    ]


@pytest.mark.slow
def test_a_bad_goal_of_the_teacher_costs_its_own_row_only(tmp_path) -> None:
    file = tmp_path / "sheet.py"
    loops = "'for i in range(n):\\n    A[i] = 0.0'"
    file.write_text(
        "import polyviz as pv\nfrom polyviz.exercises import Goal, legal\n"
        f"pv.exercise('none', {loops}, [legal(), Goal('mine', lambda answer: None)])\n"
        f"pv.exercise('fine', {loops}, [legal()])\n"
        f"pv.exercise('ends', {loops}, [Goal('ends', lambda answer: exit())])\n"
    )
    cells = [f'%%polycheck {name}\nreversal(at="i")' for name in ("none", "ends", "fine")]
    [none, ends, fine] = grade.grade([notebook(tmp_path / "ann.ipynb", *cells)], file)
    assert (none.status, none.met, none.goals) == ("open", 1, 2)
    assert none.note.startswith("mine: This goal gave None where a Verdict is asked for")
    assert (ends.status, fine.status) == ("unreadable", "solved")


@pytest.mark.thinned(4)
@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("sheet.ipynb", "{}", "is no Python file"),
        ("sheet.py", "1 / 0", "stopped with ZeroDivisionError"),
        ("sheet.py", "x = 1", "sets no exercise"),
        ("lost.py", None, "There is no file"),
    ],
)
def test_a_sheet_that_sets_nothing(tmp_path, capsys, name: str, text: str | None, words: str) -> None:
    path = notebook(tmp_path / "ann.ipynb", "%%polycheck columns\n")
    if text is not None:
        (tmp_path / name).write_text(text)
    assert main(["grade", str(path), "--exercises", str(tmp_path / name)]) == 2
    assert words in capsys.readouterr().err


@pytest.mark.slow
def test_counts_edited_by_hand_are_no_less_than_nothing(tmp_path) -> None:
    output = recorded(exercise="columns", answer="", hints=-5, attempts="many", solved=True)
    path = notebook(tmp_path / "eve.ipynb", "%%polycheck columns\nreversal(at='j')", outputs=[output])
    [row] = grade.grade([path])
    assert (row.status, row.hints, row.attempts) == ("open", 0, 0)


def test_a_file_that_does_not_exist(tmp_path, capsys) -> None:
    assert main(["grade", str(tmp_path / "lost.ipynb")]) == 2
    shown = capsys.readouterr()
    assert "There is no file" in shown.out
    assert "1 of 1 notebooks could not be read" in shown.err


@pytest.mark.slow
def test_a_file_that_does_not_exist_costs_its_own_row_only(tmp_path) -> None:
    here = notebook(tmp_path / "ada.ipynb", "%%polycheck columns\n" + SOLUTIONS["columns"])
    lost, found = grade.grade([tmp_path / "lost.ipynb", here])
    assert (lost.status, lost.exercise, found.status) == ("unreadable", "", "solved")
    assert not grade.nothing_checked([lost, found])


@pytest.mark.slow
def test_a_class_without_the_file_that_sets_its_exercises(tmp_path, capsys) -> None:
    path = notebook(tmp_path / "ann.ipynb", "%%polycheck sheet-1\nx")
    assert main(["grade", str(path)]) == 2
    shown = capsys.readouterr()
    assert "unknown" in shown.out
    assert "Nobody set sheet-1; --exercises FILE names your own file." in shown.err


BROKEN = {
    "list": b"[1]",
    "half": b'{"cells": [{"cell_type": "code", "source": "%%poly',
    "none": b'{"cells": null}',
    "deep": b"[" * 200_000,
    "bytes": b"\xff\xfe\x00",
    "nothing": b"",
}


@pytest.mark.slow
def test_a_class_with_every_kind_of_file(tmp_path, capsys) -> None:
    for name, content in BROKEN.items():
        (tmp_path / f"{name}.ipynb").write_bytes(content)
    (tmp_path / "folder.ipynb").mkdir()
    notebook(tmp_path / "empty.ipynb")
    notebook(
        tmp_path / "odd.ipynb",
        3,
        None,
        ["%%polycheck ", "columns\n"],
        "%%polycheck\n",
        "%%polycheck --hint\n",
    )
    picture = {"output_type": "display_data", "data": {"image/png": "A" * 5_000_000}}
    notebook(tmp_path / "large.ipynb", "%%polycheck columns\n" + SOLUTIONS["columns"], outputs=[picture])
    table = tmp_path / "class.csv"
    assert main(["grade", *map(str, sorted(tmp_path.glob("*.ipynb"))), "--output", str(table)]) == 1
    assert "7 of 10 notebooks could not be read: " in capsys.readouterr().err
    found = {(Path(row["notebook"]).stem, row["exercise"]): row for row in rows(table)}
    assert {name for (name, _), row in found.items() if "is no notebook" in row["note"]} == {
        *BROKEN,
        "folder",
    }
    assert found["empty", ""]["note"] == "no cell %%polycheck"
    assert {key: row["status"] for key, row in found.items() if key[0] in ("empty", "odd", "large")} == {
        ("empty", ""): "empty",
        ("odd", "columns"): "empty",
        ("large", "columns"): "solved",
    }


@pytest.mark.slow
def test_an_answer_that_never_ends_costs_its_own_row_only(tmp_path, monkeypatch) -> None:
    endless = "{ S0[i, j] -> [" + ", ".join(f"floor((i + j)/{k})" for k in range(2, 99)) + "] }"
    first = notebook(tmp_path / "a.ipynb", f"%%polycheck columns\n{endless}")
    second = notebook(tmp_path / "b.ipynb", "%%polycheck columns\n" + SOLUTIONS["columns"])
    monkeypatch.setattr(grade, "SECONDS", 8.0)
    [one, other] = grade.grade([first, second])
    assert (one.status, other.status) == ("unreadable", "solved")
    assert "longer than" in one.note


def test_a_tuple_of_thousands_of_numbers_is_refused_at_once() -> None:
    for answer in ("{ S0[i, j] -> [" + ", ".join(["i"] * 3000) + "] }", "domain: \"{ S0[" + "0, " * 3000 + "0] }\""):
        attempt = find("columns").attempt(answer)
        assert "and 100 are the most that are read" in attempt.problem


@pytest.mark.slow
def test_an_answer_of_megabytes_leaves_a_short_note(tmp_path) -> None:
    path = notebook(tmp_path / "big.ipynb", "%%polycheck columns\n" + "x" * 2_000_000 + "()")
    table = tmp_path / "all.csv"
    assert main(["grade", str(path), "--output", str(table)]) == 0
    [row] = rows(table)
    assert row["status"] == "unreadable"
    assert "There is no move `xxx" in row["note"]
    assert table.stat().st_size < 1000


def test_what_a_student_writes_steers_neither_terminal_nor_spreadsheet(tmp_path, capsys) -> None:
    path = notebook(tmp_path / "mal.ipynb", "%%polycheck =cmd|'/c\x1b[2J'!A0\nx")
    table = tmp_path / "all.csv"
    assert main(["grade", str(path), "--output", str(table)]) == 2
    assert "\x1b" not in "".join(capsys.readouterr())
    assert rows(table)[0]["exercise"].startswith("'=")


@pytest.mark.slow
def test_a_sheet_of_another_kind(tmp_path, capsys) -> None:
    path = notebook(tmp_path / "ada.ipynb", "%%polycheck columns\n")
    assert main(["grade", str(path), "--output", str(tmp_path / "all.xlsx")]) == 2
    assert ".csv or .json" in capsys.readouterr().err
