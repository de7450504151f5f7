"""A cell is taken apart without moving anything: positions in errors are those of the cell."""

from __future__ import annotations

import ast

import pytest

from polyviz.errors import UnsupportedSyntaxError
from polyviz.notebook.cell import Cell, read_cell

LOOPS = """\
import numpy as np
N = 4
C = np.zeros((N, N))
s = 0.0
for i in range(N):
    s += C[i, i]
"""

FUNCTIONS = '''\
"""Two kernels."""
import math

SCALE = 2.0

def twice(x):
    return SCALE * x

@staticmethod
def first(A):
    for i in range(len(A)):
        A[i] = twice(A[i])

def second(A):
    for i in range(len(A)):
        A[i] = math.sqrt(A[i])
'''


def before(cell: Cell) -> list[str]:
    return [ast.unparse(node).split("\n")[0] for node in cell.before]


def test_the_magic_line_is_line_one() -> None:
    assert read_cell("-s isl", "for i in range(3):\n    A[i] = 0\n").loops.splitlines()[:2] == [
        "# %%polyopt -s isl",
        "for i in range(3):",
    ]


def test_what_makes_arrays_runs_before_the_loops_and_scalars_stay_with_them() -> None:
    cell = read_cell("", LOOPS)
    assert cell.is_loops
    assert before(cell) == ["import numpy as np", "N = 4", "C = np.zeros((N, N))"]
    assert cell.loops.splitlines() == ["# %%polyopt", "", "", "", *LOOPS.splitlines()[3:]]


def test_a_cell_without_calls_stays_whole() -> None:
    text = "s = 0.0\nfor i in range(3):\n    s += A[i]\n"
    cell = read_cell("", text)
    assert before(cell) == []
    assert cell.loops == "# %%polyopt\n" + text


def test_element_assignments_are_never_run_beforehand() -> None:
    cell = read_cell("", "A[0] = np.sqrt(2.0)\nB = np.zeros(3)\nfor i in range(3):\n    A[i] = B[i]\n")
    assert before(cell) == []


def test_statements_on_one_line_are_not_torn_apart() -> None:
    cell = read_cell("", "B = np.zeros(3); s = 0.0\nfor i in range(3):\n    s += B[i]\n")
    assert before(cell) == []


def test_functions_keep_their_lines_and_lose_the_rest() -> None:
    cell = read_cell("", FUNCTIONS)
    assert [function.name for function in cell.functions] == ["first", "second"]
    first = cell.functions[0].text.splitlines()
    assert first[8:13] == ["", *FUNCTIONS.splitlines()[8:12]]
    assert [line for line in first if line] == FUNCTIONS.splitlines()[8:12]


def test_helpers_run_as_plain_python() -> None:
    assert before(read_cell("", FUNCTIONS)) == ["'Two kernels.'", "import math", "SCALE = 2.0", "def twice(x):"]


@pytest.mark.parametrize(
    "statement",
    ["for i in range(3):\n    A[i] = 0", "print(A)\nM = 3", "A[0] = 1.0", "é = first(A)", "SCALE += 1"],
    ids=["loop", "call", "element", "use of a function", "augmented"],
)
def test_other_statements_beside_functions_are_refused(statement: str, golden) -> None:
    with pytest.raises(UnsupportedSyntaxError) as caught:
        read_cell("", f"def first(A):\n    for i in range(len(A)):\n        A[i] = 0\n\n{statement}\n")
    golden(str(caught.value))


def test_text_that_is_not_python_is_left_to_the_front_end() -> None:
    cell = read_cell("", "for i in range(3)\n    A[i] = 0\n")
    assert cell.loops == cell.text
    assert cell.before == ()


def after(cell: Cell) -> list[str]:
    return [ast.unparse(node) for node in cell.after]


def test_expressions_at_the_end_are_ordinary_python() -> None:
    cell = read_cell("", "s = 0.0\nfor i in range(3):\n    s += A[i]\nprint(s)\ns\n")
    assert after(cell) == ["print(s)", "s"]
    assert cell.loops.splitlines() == ["# %%polyopt", "s = 0.0", "for i in range(3):", "    s += A[i]", "", ""]


def test_expressions_behind_functions_too() -> None:
    cell = read_cell("", "def f(A):\n    for i in range(len(A)):\n        A[i] = 0\nf(A)\n")
    assert (after(cell), [function.name for function in cell.functions]) == (["f(A)"], ["f"])


@pytest.mark.parametrize("text", ["total = A.sum()\n", "A.sum()\n", "import numpy as np\nC = np.zeros(3)\nprint(C)\n"])
def test_a_cell_without_anything_to_optimise_runs_nothing(text: str) -> None:
    cell = read_cell("", text)
    assert after(cell) == []
    assert cell.loops.splitlines()[-1] == text.splitlines()[-1]
    assert all(line.startswith("import") for line in before(cell))
