"""The notebooks of the course run from top to bottom, and what their text claims stands in their outputs."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import TYPE_CHECKING, Any

import nbformat
import pytest
from nbclient import NotebookClient

from polyviz.exercises import find
from polyviz.exercises.answer import is_blank
from polyviz.exercises.course import NAMES
from polyviz.exercises.record import MIME

if TYPE_CHECKING:
    from collections.abc import Iterator

FOLDER = Path(__file__).parent.parent.parent / "notebooks"
# The kernel of the last notebook is its exercise too, with a limit that nothing shown there meets.
REPEATED = {"jacobi-lines"}
COURSE = sorted(FOLDER.glob("0*.ipynb"))
EVERY = sorted(FOLDER.rglob("*.ipynb"))

CLAIMS = {
    "01-iteration-domains": [
        "[n] -> { S0[i, j] : i < n and 0 <= j <= i }",
        "10 55 100 5050 1000000 500000500000",
        "(i) mod 2 = 0",
        "S0 ('i', 'j') C[i, j] = 0.0 S1 ('i', 'j', 'k')",
        "`return` is supported at the end",
        "The condition `A[i] > 0.5` depends on data.",
    ],
    "02-dependences": [
        "flow A S0 → S0 (0, 1), (1, 0)",
        "flow A S0 → S0 (1, -1)",
        "anti A S0 → S0 (0, 1)",
        "output A S0 → S0 (1, 0)",
        "S0[i] → S1[i] when 0 <= i < n 7",
        "S0[i] → S1[i'] when i >= 0, i <= i' < n 28",
        "s is private to each iteration",
        "reduction s S0 → S0 (1)",
        "loop i is parallel as a reduction",
        "loop t is not parallel",
        "loop i is parallel: no dependence ties its iterations, since each has its own copy of s",
    ],
    "03-legality": [
        "illegal: S0[1, 1] writes A[1, 1], which S0[2, 0] reads",
        "((1, 1), (2, 0), {'n': 3})",
        "legal: every dependence is respected legal: every dependence is respected",
        "The move `interchange` would change the result.",
        'schedule("original") reversal(at="j") interchange(order=("j", "i"))',
        "The schedule is partial: S0[1, 0] has no time",
        "for j_reversed in range(2 - n, 1): for i in range(1, n):",
    ],
    "04-pluto-and-tiling": [
        "('i_tile', 'j_tile', 'k_tile', 'i', 'j', 'k')",
        "plain 33024 tiled 1152",
        "('i_tile', 'i', 'j_tile', 'j', 'k_tile', 'k') the same order: True",
        "The move `tile` would change the result.",
        "S0[t, i, j] -> [t, t + i, 2t + i + j]",
        "[(True, 3)]",
        "legal: every dependence is respected",
        "From the original order to pluto: 4 moves",
        '1. skew(at="S0.i", by="t", factor=2)',
        "Row 2, S0: 2t + i, S1: 2t + i + 1",
    ],
    "05-locality": [
        "{'ijk': 9260, 'ikj': 1320, 'jik': 9600, 'jki': 16400, 'kij': 1660, 'kji': 16060}",
        "S0[i, j, k] -> [i, j, k]",
        "S0[i, j, k] -> [i, k, j]",
        "cheapest: ikj",
        "apart 288 fused 216",
    ],
    "06-parallelism": [
        "('wave', 'j') loop i + j is not parallel",
        "loop j is parallel: no dependence ties its iterations",
        'wavefront(at="i_tile", degree=1) parallel(at="j_tile")',
        "The move `parallel` would change the result.",
        "S0[t, i] -> [t, t + i]",
        "S0[t, i] -> [t - i, t + i]",
        "== Tiles: waves of tiles == S0: 144 instances in 25 tiles",
        "== Tiles: diamonds ==",
        "loop i is parallel as a reduction",
    ],
    "07-gpu": [
        "S0: (0, floor(i/32)_y, floor(j/32)_x, 0, i_y, j_x, 0)",
        "B[i, j] = factor * (A[i, j] + A[i, j - 1] + A[i, j + 1]) A[i, j] = B[i, j]",
        "S0: (0, floor(i/32)_x, 0, t,",
        "// Kernel 0: blocks x: j / 32, y: i / 32",
        "True kernel_transpose_add_0",
        "double A_tile[32][33];",
        "A: shared, 1024 cells of a tile cost 64 transactions to copy, 1024 to read where they are",
        "S0 read A_tile[thread_x, thread_y]: strided, 0.00 bank conflicts per request",
        "contiguous, 2 expected, 2.00 counted",
        "a barrier, since S0[0, 1, 1] reads A[1, 2], which S1[0, 1, 2] writes",
    ],
    "08-your-own-scheduler": [
        "Try every order of a nest of one statement",
        "S0[i, j, k] -> [i, k, j]",
        "S0[i, j] -> [i, j] :",
        "The scheduler `backwards` proposed an order that would change the result.",
    ],
    "09-a-real-kernel": [
        "loop t is not parallel",
        "The move `fuse` would change the result.",
        'parallel(at="S0.i") vector(at="S0.j") parallel(at="S1.i") vector(at="S1.j")',
        "From the original order to pluto: 8 moves",
        "by hand/c ok ✓",
        "pluto/c ok ✓",
        "Tuning of jacobi_2d, pluto/c",
        "True",
    ],
}


@pytest.mark.slow
@pytest.mark.usefixtures("cache_directory")  # what `tune` finds in a notebook is remembered there
@pytest.mark.parametrize("path", COURSE, ids=lambda path: path.stem)
def test_claims(path: Path) -> None:
    executed = _executed(path)

    shown = _text(executed).replace(" ★", "")  # who is fastest is no claim

    assert [claim for claim in CLAIMS[path.stem] if claim not in shown] == []
    for cell in _exercise_cells(executed):
        assert any(MIME in output.get("data", {}) for output in cell.outputs), cell.source
        assert not any(output.get("data", {}).get(MIME, {}).get("solved") for output in cell.outputs)


@pytest.mark.parametrize("path", EVERY, ids=lambda path: path.stem)
def test_each_is_short_and_without_outputs(path: Path) -> None:
    code = [cell for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]
    assert sum(len([line for line in cell.source.splitlines() if line.strip()]) for cell in code) < 100
    assert all(not cell.outputs and cell.execution_count is None for cell in code)


def test_every_exercise_stands_in_the_course() -> None:
    notebooks = [FOLDER / "quickstart.ipynb", *COURSE]
    cells = [cell for path in notebooks for cell in _exercise_cells(nbformat.read(path, as_version=4))]
    assert {cell.source.split()[1] for cell in cells} == set(NAMES)


@pytest.mark.parametrize("path", COURSE, ids=lambda path: path.stem)
def test_no_solution_can_be_copied_from_the_text_above(path: Path) -> None:
    cells = nbformat.read(path, as_version=4).cells
    shown = "\n".join(cell.source for cell in cells if not cell.source.startswith("%%polycheck"))
    begun = [cell.source.partition("\n") for cell in cells if cell.source.startswith("%%polycheck")]
    asked = {first.split()[1] for first, _, answer in begun if is_blank(answer)}
    for name in asked - REPEATED:
        part = find(name).part
        lines = [] if part is None else [one.source for one in part.statements]
        assert [line for line in lines if line in shown] == [], name


@pytest.mark.slow
@pytest.mark.parametrize("path", COURSE, ids=lambda path: path.stem)
def test_no_loops_that_were_shown_before_solve_an_exercise(path: Path) -> None:
    """Somebody comes from the quickstart and every notebook before this one."""
    before = [FOLDER / "quickstart.ipynb", *COURSE[: COURSE.index(path) + 1]]
    shown = {text for one in before for text in _loops_in(nbformat.read(one, as_version=4))}
    assert len(shown) > 3
    for cell in _exercise_cells(nbformat.read(path, as_version=4)):
        exercise = find(cell.source.split()[1])
        assert [text for text in shown if exercise.attempt(text).solved] == [], exercise.name


def _loops_in(notebook: Any) -> Iterator[str]:
    """The loops of the code cells: below magics, as text for ``extract``, and as functions."""
    for cell in notebook.cells:
        if cell.cell_type != "code":
            continue
        body = "\n".join(line for line in cell.source.splitlines() if not line.startswith("%"))
        if cell.source.startswith("%%"):
            yield from [body] if "for " in body else []
            continue
        for node in ast.walk(ast.parse(body)):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.startswith("\nfor "):
                yield node.value
            if isinstance(node, ast.FunctionDef) and node.body and isinstance(node.body[-1], ast.For):
                yield ast.unparse(node)


def _exercise_cells(notebook: Any) -> list[Any]:
    return [cell for cell in notebook.cells if cell.source.startswith("%%polycheck")]


def _executed(path: Path) -> Any:
    notebook = nbformat.read(path, as_version=4)
    client = NotebookClient(
        notebook, timeout=800, startup_timeout=800, kernel_name="python3", store_widget_state=False
    )
    return client.execute()


def _text(notebook: Any) -> str:
    """Everything the cells printed or gave back, with every space alike."""
    parts = []
    for cell in notebook.cells:
        for output in cell.get("outputs", ()):
            shown = output.get("data", {}).get("text/plain", "") or "\n".join(output.get("traceback", ()))
            parts.append(output.get("text") or shown)
    return " ".join("\n".join(parts).split())
