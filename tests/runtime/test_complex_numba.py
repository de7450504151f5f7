"""What numba compiled before does not change the bits of a complex quotient."""

from __future__ import annotations

import subprocess
import sys

import pytest

PROGRAM = """
import numpy as np
import polyviz as pv

divide = "def divide(a, b, c):\\n    for i in range(a.shape[0]):\\n        c[i] = a[i] / b[i]"
random = np.random.default_rng(0)
a, b = (random.normal(size=500) + 1j * random.normal(size=500) for _ in range(2))
results = []
for contract in {contracts}:
    c = np.zeros_like(a)
    pv.compile(divide, target="numba", contract=contract)(a, b, c)
    results.append(c.tobytes().hex())
print(results[-1])
"""


@pytest.mark.slow
def test_strict_results_are_the_same_after_a_kernel_with_fast_mathematics() -> None:
    alone, after = (
        subprocess.run(
            [sys.executable, "-c", PROGRAM.format(contracts=contracts)],
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for contracts in (("strict",), ("reassociate", "strict"))
    )
    assert alone == after
