"""Which statements are recognised as reductions, and what of their dependences is one."""

from __future__ import annotations

import islpy as isl
import pytest

from polyviz.analysis import dependences, find_reductions
from polyviz.model.expression import Assign, Binary, Call, Constant, Element, Name
from tests.builders import loop, scop, statement

S = Element("s")
A = Element("A", (Name("i"),))


def part(body, reads="s A[i]", writes="s"):
    return scop("n", loop("i", "S0"), S0=statement("0 <= i < n", reads=reads, writes=writes, body=(body,)))


@pytest.mark.parametrize(
    ("body", "operator"),
    [
        (Assign(S, A, "+"), "+"),
        (Assign(S, A, "-"), "+"),
        (Assign(S, A, "*"), "*"),
        (Assign(S, A, "&"), "&"),
        (Assign(S, A, "|"), "|"),
        (Assign(S, A, "^"), "^"),
        (Assign(S, Binary("+", S, A)), "+"),
        (Assign(S, Binary("+", A, S)), "+"),
        (Assign(S, Binary("-", S, A)), "+"),
        (Assign(S, Binary("-", Binary("+", S, A), A)), "+"),
        (Assign(S, Binary("*", Binary("*", A, S), A)), "*"),
        (Assign(S, Call("max", (S, A))), "max"),
        (Assign(S, Call("numpy.minimum", (A, S))), "min"),
        (Assign(S, A, "/"), None),
        (Assign(S, A), None),
        (Assign(S, S, "+"), None),
        (Assign(S, Binary("-", A, S)), None),
        (Assign(S, Binary("-", A, Binary("-", A, S))), None),
        (Assign(S, Binary("+", Binary("*", S, A), A)), None),
        (Assign(S, Binary("*", S, S)), None),
        (Assign(S, Call("max", (S, S))), None),
        (Assign(S, Call("max", (A, Binary("+", S, Constant(1))))), None),
        (Assign(S, Call("abs", (S,))), None),
    ],
)
def test_form(body, operator):
    found = find_reductions(part(body))
    assert [reduction.operator for reduction in found] == ([operator] if operator else [])


def test_a_target_with_a_subscript_that_depends_on_data_is_none():
    target = Element("H", (Element("B", (Name("i"),)),), affine=False)
    assert find_reductions(part(Assign(target, A, "+"), reads="?H[*] B[i] A[i]", writes="?H[*]")) == ()


def test_a_write_that_may_hit_another_cell_is_none():
    assert find_reductions(part(Assign(S, A, "+"), reads="s A[i]", writes="?s")) == ()


def test_reading_the_cell_by_another_reference_is_none():
    # A[0] is the accumulating cell of the first iteration.
    body = Assign(A, Element("A", (Constant(0),)), "+")
    assert find_reductions(part(body, reads="A[i] A[0]", writes="A[i]")) == ()


def test_dependences_hold_the_steps_apart():
    found = dependences(part(Assign(S, A, "+")))
    steps = isl.UnionMap("[n] -> { S0[i] -> S0[i + 1] : 0 <= i < n - 1 }")
    assert found.reduction.is_equal(steps)
    assert found.flow.is_equal(steps)
    assert found.validity.is_equal(steps)


def test_a_statement_that_hits_no_cell_twice_has_no_steps():
    found = dependences(part(Assign(Element("B", (Name("i"),)), A, "+"), reads="B[i] A[i]", writes="B[i]"))
    assert found.reduction.is_empty()


def test_only_steps_through_the_target_are_reduction_dependences():
    # L[i, j] -= L[i, k] * L[j, k]: other iterations read what this one accumulates.
    target = Element("L", (Name("i"), Name("j")))
    body = (Assign(target, Element("L", (Name("i"), Name("k"))), "-"),)
    factor = scop(
        "n",
        loop("i", loop("j", loop("k", "S0"))),
        S0=statement("0 <= k < j and j < i and i < n", reads="L[i, j] L[i, k]", writes="L[i, j]", body=body),
    )
    found = dependences(factor)
    assert found.reduction.is_equal(
        isl.UnionMap("[n] -> { S0[i, j, k] -> S0[i, j, k + 1] : 0 <= k < j - 1 and j < i < n }")
    )
    assert not found.flow.is_subset(found.reduction)
