from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING

import numpy as np
import pytest

import polyviz as pv
from polyviz.runtime import placement
from polyviz.runtime.placement import Placement, give_back
from tests.running import function_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

CORES = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
pytestmark = pytest.mark.skipif(len(CORES) < 2, reason="Linux and two cores are needed to tell where threads run")

TEAM = """
#include <omp.h>
int team(void)
{
    int threads = 0;
    #pragma omp parallel
    #pragma omp single
    threads = omp_get_num_threads();
    return threads;
}
void resize(int threads) { omp_set_num_threads(threads); }
"""
SCALE = "def scale(A):\n    for i in range(len(A)):\n        A[i] = 2.0 * A[i]\n"


@pytest.fixture(autouse=True)
def no_choice(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OMP_PROC_BIND", "OMP_PLACES", "GOMP_CPU_AFFINITY"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(autouse=True)
def own_thread() -> Iterator[None]:
    """No team of another test, and none for the next one."""
    before = placement._here.team
    placement._here.team = None
    yield
    give_back()
    placement._here.team = before


@pytest.fixture
def library(build: Callable[[str], str]) -> str:
    return build(TEAM)


def on_core(place: Placement, core: int) -> Placement:
    place._core = lambda: core
    return place


def placed(library: Path | str, core: int) -> Placement:
    return on_core(Placement(library), core)  # type: ignore[arg-type]


def others() -> list[set[int]]:
    team = placement._here.team
    assert team is not None
    return [os.sched_getaffinity(number) for number in team.others]


def test_the_others_stay_off_the_core_of_the_caller(library: str) -> None:
    for core in CORES[:2]:
        placed(library, core).before_call(2)
        assert others() == [set(CORES) - {core}]
        assert os.sched_getaffinity(0) == set(CORES)


def test_given_back_they_may_run_everywhere(library: str) -> None:
    place = placed(library, CORES[0])
    place.before_call(2)
    give_back()
    assert others() == [set(CORES)]
    place.before_call(2)
    assert others() == [set(CORES) - {CORES[0]}]


def test_every_thread_has_a_team_of_its_own(library: str) -> None:
    placed(library, CORES[0]).before_call(2)
    mine = placement._here.team
    found = []

    def elsewhere() -> None:
        placed(library, CORES[1]).before_call(2)
        found.extend(others())

    thread = threading.Thread(target=elsewhere)
    thread.start()
    thread.join()
    assert found == [set(CORES) - {CORES[1]}]
    assert placement._here.team is mine
    assert others() == [set(CORES) - {CORES[0]}]


def test_a_team_of_another_size_is_found_anew(library: str) -> None:
    place = placed(library, CORES[0])
    place.before_call(None)
    first = placement._here.team
    place.before_call(1)
    assert placement._here.team is not first


def test_threads_that_have_ended_are_forgotten(library: str) -> None:
    place = placed(library, CORES[0])
    place.before_call(2)
    team = placement._here.team
    assert team is not None
    team.others = (2**22 - 1,)
    on_core(place, CORES[1]).before_call(2)
    place.before_call(2)
    assert others() == [set(CORES) - {CORES[1]}]


def test_more_threads_than_cores_are_left_to_the_system(library: str, monkeypatch: pytest.MonkeyPatch) -> None:
    place = placed(library, CORES[0])
    team = (threading.get_native_id(),) * len(CORES)
    monkeypatch.setattr(place, "_others", lambda: team)
    place.before_call(2)
    assert others() == [set(CORES)] * len(CORES)


def test_the_choice_of_the_user_is_kept(library: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_PROC_BIND", "true")
    placed(library, CORES[0]).before_call(2)
    assert placement._here.team is None


def test_without_parallel_loops_there_is_no_team() -> None:
    kernel = pv.compile(function_of(SCALE), schedule="original", target="c", threads=1)
    kernel(np.ones(10))
    assert placement._here.team is None


def test_kernels_place_their_threads() -> None:
    kernel = pv.compile(function_of(SCALE), schedule="pluto", target="c")
    assert "#pragma omp parallel" in kernel.source
    kernel(np.ones(10))
    (cores,) = {frozenset(one) for one in others()} or {frozenset(CORES[1:])}
    assert len(cores) == len(CORES) - 1
