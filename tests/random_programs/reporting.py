"""A failure as a person wants it: a small program and a script that shows it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polyviz as pv
from tests.random_programs.oracle import EXTRACTION, Outcome, Variant, tile_of
from tests.random_programs.shrinking import shrink

if TYPE_CHECKING:
    from tests.random_programs.program import Program
    from tests.random_programs.runner import Runner

DEFECTS = ("wrong", "error", "crash", "timeout", "invalid")
"""Outcomes that are somebody's mistake."""

SCRIPT = '''\
"""{title}"""

import math

import numba
import numpy as np

import polyviz as pv

SOURCE = """
{source}"""


def arguments():
    return [
{values}
    ]


module = {{"np": np, "math": math, "numba": numba}}
exec(SOURCE, module)
expected, actual = arguments(), arguments()
with np.errstate(all="ignore"):
    print("expected result:", {reference}(*expected))
kernel = pv.compile(SOURCE, schedule={schedule!r}, target={target!r}, tile={tile})
print("actual result:  ", kernel(*actual))
for first, second in zip(expected, actual):
    if isinstance(first, np.ndarray):
        np.testing.assert_allclose(second, first, rtol=1e-9, equal_nan=True)
'''


def smallest(program: Program, outcome: Outcome, runner: Runner, budget: int = 150) -> Program:
    """The smallest program found that has the same kind of outcome for the same reason."""
    variants = variants_of(outcome)

    def fails(candidate: Program) -> bool:
        return any(
            found.kind == outcome.kind and found.key == outcome.key
            for found in runner.judge(candidate, variants)
        )

    return shrink(program, fails, budget)


def variants_of(outcome: Outcome) -> list[Variant]:
    """The variant that an outcome is about; none for the extraction."""
    return [] if outcome.variant == EXTRACTION else [Variant(*outcome.variant.split("/"))]


def script(program: Program, outcome: Outcome) -> str:
    """A file of its own that shows the failure for the program's last case."""
    schedule, _, target = outcome.variant.partition("/")
    case = program.cases[-1]
    values = "\n".join(f"        {_literal(value)}," for value in program.values(case))
    return SCRIPT.format(
        title=f"{outcome.kind}: {outcome.variant}: {outcome.detail.splitlines()[0] if outcome.detail else ''}",
        source=program.source,
        values=values,
        reference='module["program"]'
        if program.plain
        else 'numba.njit(error_model="numpy")(module["program"])',
        schedule=schedule if target else "original",
        target=target or "python",
        tile=tile_of(program, pv.extract(program.source)) if target and schedule != "original" else None,
    )


def _literal(value: object) -> str:
    import numpy as np

    if not isinstance(value, np.ndarray):
        return repr(value)
    text = repr(value.tolist()).replace("nan", "np.nan").replace("inf", "np.inf")
    plain = f"np.array({text}, dtype=np.{value.dtype.name}).reshape({value.shape})"
    return (
        f"np.asfortranarray({plain})" if value.flags.f_contiguous and not value.flags.c_contiguous else plain
    )
