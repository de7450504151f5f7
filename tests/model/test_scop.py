"""What takes a part of a program says so to whoever hands over something else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import polyviz as pv
from tests.running import function_of

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.mark.parametrize(
    "ask",
    [
        lambda given: pv.schedule(given, "pluto"),
        pv.dependences,
        lambda given: pv.check(given, "{ S0[i] -> [i] }"),
    ],
    ids=["schedule", "dependences", "check"],
)
def test_others_than_parts_are_refused(ask: Callable[[Any], object]) -> None:
    function = function_of("def f(x):\n    for i in range(len(x)):\n        x[i] = 0.0")
    with pytest.raises(pv.OptionError, match="takes a part of a program, not a function"):
        ask(function)
    with pytest.raises(pv.OptionError, match="not 'pluto'"):
        ask("pluto")
    with pytest.raises(pv.OptionError, match=r"not a RereadKernel.*\n.*attribute `scop` is the part"):
        ask(pv.compile(function))
