"""What loops carry is found out from constraints that are the same for every tree of a part."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polyviz as pv
from polyviz.analysis import carried

if TYPE_CHECKING:
    import pytest

SUMS = """
def sums(A, B, n, m):
    for i in range(n):
        s = 0.0
        t = 0.0
        for j in range(m):
            s += A[i, j]
            t += s * A[i, j]
        B[i] = s * t
"""


def counted(monkeypatch: pytest.MonkeyPatch, name: str) -> list[Any]:
    """Every call of the function ``name`` of the module, noted here."""
    calls, function = [], getattr(carried, name)

    def noted(*arguments: Any) -> Any:
        calls.append(arguments)
        return function(*arguments)

    monkeypatch.setattr(carried, name, noted)
    return calls


def test_constraints_are_found_once_for_all_trees_of_a_part(monkeypatch: pytest.MonkeyPatch) -> None:
    scop = pv.extract(SUMS)
    dependences = pv.dependences(scop)
    calls = counted(monkeypatch, "constraints_of")
    first, again = (list(carried.visits(scop, dependences, scop.schedule)) for _ in range(2))
    assert [one.constraints for one in first] == [one.constraints for one in again]
    assert len(calls) == 1
    list(carried.visits(scop, pv.dependences(scop, kind="memory"), scop.schedule))
    assert len(calls) == 2


def test_the_nests_of_a_part_are_found_once_for_all_its_sums(monkeypatch: pytest.MonkeyPatch) -> None:
    scop = pv.extract(SUMS)
    dependences = pv.dependences(scop)
    calls = counted(monkeypatch, "loop_nests")
    found = [one for one in carried.constraints_of(scop, dependences) if one.dependence is None]
    assert {one.reduction.array for one in found if one.reduction} == {"s", "t"}
    assert len(calls) == 1
