"""Text for ``numba.cuda`` in numba's simulator: every thread of a block is a thread of Python, in a process of its own.

The simulator has to be chosen before numba is imported, by ``NUMBA_ENABLE_CUDASIM``; only a fresh process can do that.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np

from polyviz.runtime.execute import load_function
from polyviz.runtime.variants import Outcome
from polyviz.runtime.worker import Worker

if TYPE_CHECKING:
    from collections.abc import Mapping

    from polyviz.model.program import Program

TIME_LIMIT = 300.0
"""Seconds; the simulator runs about ten thousand iterations in one."""


def simulate(program: Program, given: Mapping[str, Any], *, time_limit: float = TIME_LIMIT) -> Outcome:
    """Run the teaching text on copies of ``given``: the arrays that it writes, and its result.

    Raises WorkerError when it does not come to an end, and what the text raises.
    """
    with Worker() as worker:
        outcome: Outcome = worker.run(
            "polyviz.runtime.simulator:run_simulated",
            program,
            dict(given),
            time_limit=time_limit,
            label="The simulator of numba",
        )
    return outcome


def run_simulated(program: Program, given: Mapping[str, Any]) -> Outcome:
    """The job behind :func:`simulate`; for a process that has not imported numba yet."""
    os.environ["NUMBA_ENABLE_CUDASIM"] = "1"
    function = load_function(program.text, program.name, f"<polyviz {program.target} {program.name}>")
    with np.errstate(all="ignore"):
        result = function(*given.values())
    return Outcome({name: given[name] for name in program.written}, result, 0.0)
