"""Loops over constants: which are written out, which stay loops, and what a table around the program may be."""

from __future__ import annotations

import numpy as np
import pytest

import polyviz as pv
from polyviz.errors import ExtractionError
from polyviz.frontend import extract
from tests.frontend.agreement import agree
from tests.frontend.compiled import same_compiled
from tests.running import function_of

LOOKED_UP = """
def f(A, B):
    for i in range(len(A) - 3):
        for d in {values}:
            B[i] += {weight} * A[i + d]
"""


def statements(values: str, weight: str = "1.0", **around: object) -> list[str]:
    scop = extract(function_of(LOOKED_UP.format(values=values, weight=weight)), namespace=around)
    return [str(statement.domain.n_dim()) for statement in scop.statements]


def test_steps_of_equal_size_stay_a_loop() -> None:
    assert statements("(0, 1, 2)") == ["2"]
    assert statements("[3, 1, -1]") == ["2"]


def test_other_values_are_written_out() -> None:
    assert statements("(0, 1, 3)") == ["1", "1", "1"]


def test_a_loop_that_looks_up_a_table_is_written_out() -> None:
    assert statements("range(3)", "W[d]", W=(0.5, 1.0, 0.5)) == ["1", "1", "1"]


def test_a_tuple_around_the_program_is_a_table_and_a_list_is_none() -> None:
    assert statements("STEPS", STEPS=(0, 2, 3)) == ["1", "1", "1"]
    with pytest.raises(ExtractionError, match="`STEPS` is a list, which a loop nest cannot work with"):
        statements("STEPS", STEPS=[0, 2, 3])


def test_an_argument_hides_a_tuple_around_the_program() -> None:
    scop = extract("def f(A, W):\n    for i in range(len(A)):\n        A[i] = W[i]", namespace={"W": (1.0, 2.0)})
    assert {array.name for array in scop.arrays} == {"A", "W"}


def test_more_iterations_than_can_be_written_out_are_refused() -> None:
    with pytest.raises(ExtractionError, match="This loop over a tuple is not supported"):
        statements(str(tuple(d * d for d in range(65))))


def test_the_variable_after_a_loop_in_a_cell_has_its_last_value() -> None:
    scop = extract("for d in (1, 4, 2): A[d] = 0.0", namespace=None)
    assert "d" in scop.result.names or any(one.name == "d" for one in scop.arrays)


PERIODIC = """
def f(A, B, n):
    for i in range(n):
        for d in {values}:
            {line}
"""


@pytest.mark.parametrize("values", ["range(-1, 2)", "(-1, 0, 1)"])
@pytest.mark.parametrize("line", ["B[i] += A[(i + d) % n]", "k = (i + d) % n; B[i] += A[k]"])
def test_loops_that_move_what_a_remainder_is_taken_of_are_written_out(values: str, line: str) -> None:
    text = PERIODIC.format(values=values, line=line)
    scop = agree(text, A=np.arange(5.0), B=np.zeros(5), n=5)
    assert [statement.domain.n_dim() for statement in scop.statements] == [1, 1, 1]


@pytest.mark.parametrize("line", ["B[i] += A[(i + d) % 4]", "B[i] += (i + d) % n", "B[i] += A[i % n] * d"])
def test_other_remainders_leave_the_loop(line: str) -> None:
    scop = agree(PERIODIC.format(values="range(-1, 2)", line=line), A=np.arange(5.0), B=np.zeros(5), n=5)
    assert [statement.domain.n_dim() for statement in scop.statements] == [2]


def test_subscripts_with_numbers_put_in_are_written_as_by_hand() -> None:
    text = "def f(A):\n    for d in (-2, 0, 1):\n        for i in range(2, 4):\n            A[i + d] = A[i - d]"
    kernel = pv.compile(function_of(text), schedule="original", target="python")
    assert [line.strip().partition(" =")[0] for line in kernel.source.splitlines() if "A[i" in line] == [
        "A[i - 2]", "A[i]", "A[i + 1]"
    ]  # fmt: skip


@pytest.mark.parametrize(
    "test", ["x in (3, 4, 7)", "x not in [3.0, 5]", "x in {n}", "i in KEPT", "x in OWN", "i not in KEPT"]
)
@pytest.mark.parametrize("target", ["c", "numba"])
def test_one_of_several_numbers(test: str, target: str) -> None:
    text = f"""
def f(A, n):
    OWN = (1, 9)
    count = 0
    for i in range(len(A)):
        x = A[i]
        if {test}:
            count += i
            A[i] = -1
    return count
"""
    function = function_of(text)
    function.__globals__["KEPT"] = (0, 2, 5)
    one, other = np.arange(10) % 5, np.arange(10) % 5
    assert pv.compile(function, target=target)(one, 4) == function(other, 4)
    assert one.tolist() == other.tolist()


@pytest.mark.parametrize(
    "loop",
    [
        "for k, d in enumerate((0, 2, 3)): A[d] += k",
        "for k, d in enumerate(STEPS, 1): A[d] += k",
        "for d, w in zip(steps, (0.5, 1.5, 2.5)): A[d] += w",
        "for k, (d, w) in enumerate(pairs): A[d + k] += w",
        "for (d, w), e in zip(pairs, STEPS): A[d] += w * e",
    ],
)
def test_tables_that_are_counted_or_go_together_are_written_out(loop: str) -> None:
    text = f"def f(A):\n steps = (4, 1, 2)\n pairs = ((0, 0.5), (3, 1.5))\n {loop}"
    function = function_of(text.replace("STEPS", "(0, 2, 3)"))
    scop = extract(text, namespace={"STEPS": (0, 2, 3)})
    assert len(scop.statements) in (2, 3) and not any(statement.iterators for statement in scop.statements)
    same_compiled(function, {"A": np.zeros(6)}, "c", "strict")
