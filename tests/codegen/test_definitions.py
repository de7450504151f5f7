"""Variables without a value: printed so that every target accepts them, and told where they may be handed back."""

from __future__ import annotations

import numpy as np
import pytest

import polyviz as pv
from polyviz.codegen.definitions import read_first, unsure_results
from polyviz.codegen.loops import Block, For, Instance
from polyviz.model.expression import Assign, Compare, Conditional, Constant, Element, Name
from tests.running import TARGETS, agree, function_of

T, CELL = Element("t"), Element("A", (Name("i"),))
BODIES = {
    "write": (Assign(T, Constant(0.0)),),
    "read": (Assign(CELL, Conditional(Compare(("<",), (Name("i"), Constant(0))), T, Constant(1.0))),),
    "add": (Assign(T, CELL, "+"),),
}


@pytest.mark.parametrize(
    ("order", "expected"), [("read write", {"t"}), ("write read", set()), ("add", {"t"}), ("write add read", set())]
)
def test_what_the_text_mentions_before_it_assigns_it(order: str, expected: set[str]) -> None:
    inside = Block(tuple(Instance(name, (Name("i"),)) for name in order.split()))
    assert read_first(For("i", Constant(0), Name("n"), 1, inside), BODIES) == expected


LAST = """
    def last(A):
        for i in range(A.shape[0]):
            s = A[i]
        return s
"""
SEARCH = """
    def search(A):
        found = False
        for i in range(A.shape[0]):
            if A[i] > 3:
                found = True
                place = i
                value = A[i]
        return found, place, value
"""


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(
    ("text", "note"),
    [(LAST, "`s` is 0 (or False) where no"), (SEARCH, "`place` and `value` are 0 (or False) where no")],
)
def test_results_that_nothing_assigns(target: str, text: str, note: str) -> None:
    agree(text, np.zeros(0), target=target)
    kernel = agree(text, np.array([1.0, 5.0, 2.0], dtype=np.float32), target=target)
    assert note in kernel.report()


def test_results_that_something_assigns_for_certain() -> None:
    certain = pv.extract(
        function_of("""
            def certain(A):
                s = 0.0
                for i in range(A.shape[0]):
                    if A[i] > 0:
                        s = A[i]
                return s
        """)
    )
    assert unsure_results(certain) == ()


def test_names_of_a_cell() -> None:
    known = {"A": np.ones(3), "n": 3}
    maybe = pv.extract("for i in range(n):\n    if A[i] > 0:\n        hit = i\n    s = A[i]\n", namespace=known)
    assert unsure_results(maybe) == ("hit",)
    empty = pv.extract("for i in range(n):\n    s = A[i]\n", namespace=known)
    assert unsure_results(empty) == ()
