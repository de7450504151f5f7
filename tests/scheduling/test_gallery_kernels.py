"""Every kernel of the gallery under every scheduler: legal, and for some the very bands on record."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import pytest

from polyviz.analysis import check, dependences
from polyviz.frontend import extract
from polyviz.gallery import polybench
from polyviz.scheduling import schedule
from tests.scheduling.bands import bands_text

if TYPE_CHECKING:
    from collections.abc import Callable

    from polyviz.model.dependences import Dependences
    from polyviz.model.schedule import Schedule
    from polyviz.model.scop import Scop

KERNELS = {kernel.name: kernel.function for kernel in polybench()}


@cache
def analysed(kernel: str) -> tuple[Scop, Dependences]:
    part = extract(KERNELS[kernel])
    return part, dependences(part)


def test_all_thirty_are_there() -> None:
    assert len(KERNELS) == 30


# isl takes seconds for the cones of the one, the other has many clusters that might belong together.
SLOW = {("heat-3d", "isl"), ("adi", "spatial")}


def cases(*schedulers: str) -> list[Any]:
    return [
        pytest.param(kernel, scheduler, marks=[pytest.mark.slow] if (kernel, scheduler) in SLOW else [])
        for kernel in KERNELS
        for scheduler in schedulers
    ]


def legal_schedule(kernel: str, scheduler: str) -> Schedule:
    """What the scheduler finds for the kernel, by itself and legal."""
    part, known = analysed(kernel)
    sizes = {parameter.name: 20 + number for number, parameter in enumerate(part.parameters)}
    options = {"sizes": sizes} if scheduler == "adaptive" else {}
    result = schedule(part, scheduler, dependences=known, **options)
    assert check(part, result.map, known=known)
    assert not [
        decision.text
        for decision in result.decisions
        if decision.step == "fallback" and "order of the source" in decision.text
    ]
    return result


@pytest.mark.thinned(5)
@pytest.mark.parametrize(("kernel", "scheduler"), cases("original", "isl", "feautrier", "adaptive"))
def test_every_scheduler_is_legal(kernel: str, scheduler: str) -> None:
    legal_schedule(kernel, scheduler)


@pytest.mark.thinned(5)
@pytest.mark.parametrize(("kernel", "scheduler"), cases("pluto", "spatial"))
def test_legal_bands(kernel: str, scheduler: str, golden: Callable[[str], None]) -> None:
    golden("\n".join(bands_text(legal_schedule(kernel, scheduler))))
