"""`polyviz grade`: the notebooks of a class, checked again."""

from __future__ import annotations

import csv
import json

import pytest

from polyviz.cli import main
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


def test_a_class(tmp_path, capsys) -> None:
    good = notebook(tmp_path / "ada.ipynb", "x = 1", "%%polycheck wavefront\n" + SOLUTIONS["wavefront"])
    bad = notebook(
        tmp_path / "bob.ipynb",
        "%%polycheck wavefront --hint\n{ S0[i, j] -> [j, i] }",
        outputs=[recorded(exercise="wavefront", solved=True, hints=1, attempts=3, answer="")],
    )
    table = tmp_path / "class.csv"
    assert main(["grade", str(good), str(bad), "--output", str(table)]) == 0
    assert [(row["notebook"], row["status"], row["met"], row["hints"]) for row in rows(table)] == [
        (str(good), "solved", "2", "0"),
        (str(bad), "open", "1", "1"),
    ]
    assert "ada.ipynb" in capsys.readouterr().out


def test_the_answer_that_a_name_stood_for(tmp_path) -> None:
    output = recorded(exercise="columns", answer=SOLUTIONS["columns"], hints=0, attempts=1)
    path = notebook(tmp_path / "eve.ipynb", "%%polycheck columns\nmine", outputs=[output])
    assert main(["grade", str(path), "--output", str(tmp_path / "all.json")]) == 0
    [row] = json.loads((tmp_path / "all.json").read_text())
    assert (row["status"], row["note"]) == ("solved", "from the recorded answer")


def test_nothing_of_a_notebook_is_executed(tmp_path) -> None:
    path = notebook(tmp_path / "mal.ipynb", f"%%polycheck columns\nopen({str(tmp_path / 'made')!r}, 'w')")
    main(["grade", str(path)])
    assert not (tmp_path / "made").exists()


def test_a_hint_asked_for_later_takes_nothing_back(tmp_path) -> None:
    path = notebook(
        tmp_path / "kim.ipynb", "%%polycheck columns\n" + SOLUTIONS["columns"], "%%polycheck columns --hint\n"
    )
    main(["grade", str(path), "--output", str(tmp_path / "all.csv")])
    assert [row["status"] for row in rows(tmp_path / "all.csv")] == ["solved"]


def test_exercises_of_a_teachers_file(tmp_path) -> None:
    file = tmp_path / "sheet.py"
    file.write_text(
        "import polyviz as pv\nfrom polyviz.exercises import legal\n"
        "pv.exercise('sheet-1', 'for i in range(n):\\n    A[i] = 0.0', [legal()])\n"
    )
    path = notebook(tmp_path / "una.ipynb", '%%polycheck sheet-1\nreversal(at="i")', "%%polycheck gone\nx")
    main(["grade", str(path), "--exercises", str(file), "--output", str(tmp_path / "all.csv")])
    assert [row["status"] for row in rows(tmp_path / "all.csv")] == ["solved", "unreadable"]


@pytest.mark.parametrize(
    ("content", "words"), [(None, "There is no file"), ("[1]", "is no notebook"), ("{", "is no notebook")]
)
def test_a_file_that_is_no_notebook(tmp_path, capsys, content, words) -> None:
    path = tmp_path / "lost.ipynb"
    if content is not None:
        path.write_text(content)
    assert main(["grade", str(path)]) == 2
    assert words in capsys.readouterr().err


def test_a_sheet_of_another_kind(tmp_path, capsys) -> None:
    path = notebook(tmp_path / "ada.ipynb", "%%polycheck columns\n")
    assert main(["grade", str(path), "--output", str(tmp_path / "all.xlsx")]) == 2
    assert ".csv or .json" in capsys.readouterr().err
