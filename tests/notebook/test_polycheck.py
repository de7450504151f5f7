"""The cell %%polycheck in a shell: hints by degrees, attempts counted, nothing ever raised."""

from __future__ import annotations

import pytest


@pytest.mark.parametrize(
    ("cell", "words"),
    [
        ("%%polycheck\nx", "takes the name of an exercise"),
        ("%%polycheck inner-lop\nx", "did you mean `inner-loop`"),
        ("%%polycheck inner-loop --hnit\nx", "'--hnit'"),
        ("%%polycheck inner-loop columns\nx", "'columns'"),
        ('%%polycheck "inner-loop\nx', "cannot be read"),
    ],
)
def test_a_mistake_on_the_line_is_said_and_the_notebook_goes_on(
    notebook, capsys, cell: str, words: str
) -> None:
    assert notebook.run(cell) is None
    assert words in capsys.readouterr().out


def test_an_empty_answer_shows_the_task(notebook) -> None:
    shown = notebook.run("%%polycheck inner-loop\n# your answer")
    assert shown.is_blank
    assert "make the inner loop parallel" in str(shown)
    assert "□ legal" in str(shown)
    counted = notebook.run("%%polycheck tile-stencil\n# your answer")
    assert "Counted and compared for " in str(counted)


@pytest.mark.parametrize("cell", ["%%polycheck inner-loop", "%%polycheck inner-loop\n", "%%polycheck inner-loop\n\n"])
def test_a_cell_whose_comment_was_deleted_shows_the_task_too(notebook, cell: str) -> None:
    assert "make the inner loop parallel" in str(notebook.run(cell))


def test_hints_and_attempts_are_counted(notebook) -> None:
    assert notebook.run("%%polycheck inner-loop\n{ S0[i, j] -> [j, i] }").hints == 0
    assert notebook.run("%%polycheck inner-loop --hint\n# nothing yet").hints == 1
    notebook.run("%polycheck inner-loop --hint")
    last = notebook.run("%%polycheck inner-loop --hint\n{ S0[i, j] -> [i + j, i] }")
    assert (last.hints, last.number, last.solved) == (2, 2, True)


def test_a_value_of_the_notebook_is_an_answer(notebook) -> None:
    notebook.run("import polyviz as pv\nfrom polyviz.exercises import find")
    notebook.run('mine = pv.edit(find("tile-sweep").part).apply("tile", at="i", sizes=(4, 4))')
    assert notebook.run("%%polycheck tile-sweep\nmine").solved


def test_an_exercise_of_the_notebook(notebook) -> None:
    notebook.run(
        "import polyviz as pv\nfrom polyviz.exercises import legal, parallel\n"
        "pv.exercise('own', 'for i in range(n):\\n    A[i] = 0.0', [legal(), parallel()])"
    )
    assert notebook.run('%%polycheck own\nreversal(at="i")').solved


@pytest.mark.parametrize("asked", ["--help", "-h"])
def test_help_lists_the_exercises(notebook, capsys, asked: str) -> None:
    notebook.run(f"%polycheck {asked}")
    told = capsys.readouterr().out
    assert told.startswith("%%polycheck takes the name of an exercise")
    assert "first-interchange" in told
