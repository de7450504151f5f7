"""The C of copies with aligned rows: one text for the array and its copy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import polyviz as pv
from polyviz.codegen.c import print_c
from polyviz.mapping import make_plan
from polyviz.model.processor import Processor
from polyviz.model.program import ArrayType
from tests.running import function_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from polyviz.model.program import Program

SMOOTHED = """
def smoothed(A, B, weights, steps, n):
    for t in range(steps):
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                B[i, j] = weights[i, j] * (A[i, j] + A[i, j - 1] + A[i, 1 + j] + A[1 + i, j] + A[i - 1, j])
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                A[i, j] = B[i, j]
"""


ALL_AROUND = """
def all_around(A, B, steps, n):
    for t in range(steps):
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                B[i, j] = (A[i - 1, j - 1] + A[i - 1, j] + A[i - 1, j + 1] + A[i, j - 1] - A[i, j]
                           + A[i, j + 1] - A[i + 1, j - 1] - A[i + 1, j] - A[i + 1, j + 1])
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                A[i, j] = (B[i - 1, j - 1] + B[i - 1, j] + B[i - 1, j + 1] + B[i, j - 1] - B[i, j]
                           + B[i, j + 1] - B[i + 1, j - 1] - B[i + 1, j] - B[i + 1, j + 1])
"""


def program_of(
    dtype: str = "float64", layout: Literal["C", "A"] = "C", source: str = SMOOTHED, *, align: bool = True
) -> Program:
    scop = pv.extract(function_of(source))
    dependences = pv.dependences(scop)
    schedule = pv.schedule(scop, "pluto", dependences=dependences)
    processor = Processor(16, 16, 32768, 262144, 2)
    plan = make_plan(
        scop, dependences, schedule, "c", processor=processor, tile=(4, 8, 64), align=align
    )
    types = {array.name: ArrayType(dtype, array.rank, layout if array.rank else "C") for array in scop.arrays}
    return print_c(scop, plan, types)


def without_loops(text: str) -> str:
    """What stands before the loops over tiles, and what comes behind the threads."""
    start, end = text.index("int64_t kernel_"), text.index("begin_row(own, t_tile)")
    behind = text[text.rindex("begin_row(own, INT64_MAX)") :]
    return f"{text[start:end]}…\n{behind}"


def test_loops_run_on_copies_where_the_steps_are_many(golden: Callable[..., None]) -> None:
    golden(without_loops(program_of().text), "c")


def test_loops_are_the_same_without_copies() -> None:
    first, last = "for (int64_t t_tile", "begin_row(own, INT64_MAX)"
    texts = [program_of(align=align).text for align in (True, False)]
    loops = [text[text.index(first) : text.index(last)].split() for text in texts]
    assert loops[0] == loops[1]


def test_a_line_holds_more_numbers_of_single_precision() -> None:
    text = program_of("float32").text
    assert "whole_lines(A_extent1, 16)" in text
    assert "(float *)first_line(copies) + 15" in text


def test_arrays_whose_rows_run_one_at_a_time_are_not_copied() -> None:
    for program in (program_of("int64"), program_of(layout="A")):
        assert "copy_rows" not in program.text
        note = "A and B and weights stay where they are: their vectors would not begin on cache lines"
        assert note in program.notes


def test_arithmetic_may_hide_vectors_across_lines() -> None:
    program = program_of(source=ALL_AROUND)
    assert "copy_rows" not in program.text
    assert "A and B stay where they are: arithmetic takes longer than vectors across cache lines" in program.notes
