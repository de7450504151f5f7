"""The distinct lines model against the figures of the literature study, exact to the printed digits."""

from __future__ import annotations

import pytest

from polyviz.analysis.distinct_lines import line_cost, reference_groups
from polyviz.frontend import extract
from polyviz.gallery import kernel
from tests.builders import loop, scop, statement

# Per kernel and statement: lines, cost per iteration, derivatives; all for 32 iterations per loop and 32 per line.
TABLE = [
    ("gemm", "S1", "189", "5.768e-03", {"j": "-1.192e-04", "k": "-8.965e-05", "i": "-6.008e-05"}),
    (
        "doitgen-expanded",
        "S1",
        "4095",
        "3.905e-03",
        {"p": "-9.057e-05", "s": "-8.965e-05", "r": "-1.878e-06", "q": "-1.878e-06"},
    ),
    ("doitgen-expanded", "S2", "4032", "1.230e-01", {"p": "-1.892e-03", "r": "0.000e+00", "q": "0.000e+00"}),
    ("jacobi-2d-alt", "S0", "128", "3.906e-03", {"t": "-1.221e-04", "j": "-6.104e-05", "i": "0.000e+00"}),
    ("jacobi-2d-alt", "S1", "126", "3.845e-03", {"t": "-1.202e-04", "j": "-5.913e-05", "i": "0.000e+00"}),
    ("gemver", "S1", "66.94", "6.537e-02", {"i": "-1.036e-03", "j": "-8.965e-05"}),
    ("gemver", "S3", "66.94", "6.537e-02", {"j": "-1.036e-03", "i": "-8.965e-05"}),
    ("syr2k", "S1", "315", "9.613e-03", {"k": "-1.783e-04", "j": "-1.497e-04", "i": "-1.202e-04"}),
]


@pytest.mark.parametrize(
    ("name", "statement_name", "lines", "per_iteration", "derivatives"),
    TABLE,
    ids=[f"{row[0]}-{row[1]}" for row in TABLE],
)
def test_costs_on_record(
    name: str, statement_name: str, lines: str, per_iteration: str, derivatives: dict[str, str]
) -> None:
    cost = line_cost(extract(kernel(name).function).statement(statement_name))
    assert f"{float(cost.lines):.4g}" == lines
    assert f"{float(cost.memory_cost):.3e}" == per_iteration
    assert {iterator: f"{float(value):.3e}" for iterator, value in cost.derivatives.items()} == derivatives


@pytest.mark.parametrize(
    ("name", "statement_name", "best"),
    [("gemm", "S1", "j"), ("syr2k", "S1", "k"), ("jacobi-2d-alt", "S0", "j"), ("gemver", "S1", "i")],
)
def test_accesses_coalesce_along_a_contiguous_loop(name: str, statement_name: str, best: str) -> None:
    """The time loop of a stencil saves most of all, but moves along no line."""
    assert line_cost(extract(kernel(name).function).statement(statement_name)).coalescing == best


def test_references_that_differ_in_constants_share_lines() -> None:
    part = scop(
        "n",
        loop("i", loop("j", "S")),
        S=statement("0 <= i, j < n", reads="A[i, j] A[i, j + 3] A[j, i] b", writes="A[i + 1, j]"),
    )
    groups, scattered = reference_groups(part.statements[0])
    assert [(group.coefficients, group.spread) for group in groups] == [
        (((1, 0), (0, 1)), (1, 3)),
        (((0, 1), (1, 0)), (0, 0)),
    ]
    assert scattered == 0


def test_a_reference_without_affine_subscripts_costs_a_line_each_time() -> None:
    part = scop("n", loop("i", "S"), S=statement("0 <= i < n", reads="?A[*]", writes="B[i]"))
    cost = line_cost(part.statements[0], tile=8, line_elements=8)
    assert cost.lines == 8 + (8 + 7) / 8


def test_a_statement_without_loops_has_no_loop_to_prefer() -> None:
    part = scop("n", "S", S=statement("n >= 0", writes="A[0]"))
    cost = line_cost(part.statements[0])
    assert (cost.lines, cost.derivatives, cost.coalescing) == (1, {}, None)
