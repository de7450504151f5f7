"""The schedulers that the guide builds work as they stand there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import polyviz as pv
from polyviz import gallery
from polyviz.scheduling.registry import unregister_scheduler

GUIDE = Path(__file__).parent.parent.parent / "CONTRIBUTING.md"
PROGRAMS = [
    text
    for text in re.findall(r"```python\n(.*?)```", GUIDE.read_text(encoding="utf-8"), re.DOTALL)
    if "@register_scheduler" in text
]


@pytest.mark.parametrize("text", PROGRAMS, ids=["smallest", "own rule"])
@pytest.mark.parametrize("kernel", ["gemm", "jacobi-1d", "trisolv"])
def test_schedulers_of_the_guide(text: str, kernel: str) -> None:
    found = re.search(r'@register_scheduler\("(.*)"\)', text)
    assert found is not None
    name = found[1]
    exec(compile(text, str(GUIDE), "exec"), {})
    try:
        part = pv.extract(gallery.kernel(kernel).function)
        order = pv.schedule(part, name)
        assert order.scheduler == name
        assert pv.check(part, order)
    finally:
        unregister_scheduler(name)


def test_one_with_a_rule_of_its_own_takes_less_than_thirty_lines() -> None:
    assert len(PROGRAMS[1].splitlines()) < 30
    assert "chosen_row" in PROGRAMS[1]
