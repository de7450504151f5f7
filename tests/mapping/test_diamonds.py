"""Stencils that nobody chose, as diamonds: the generated loops compute what the source does."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np
import pytest

import polyviz as pv

DIAMONDS = (5, 10, 16, 18, 21, 38)
OTHERS = (0, 1, 2)


def stencil(seed: int) -> str:
    """Up to three sweeps over lines or planes per time step, each reading its neighbours in any arrays."""
    random = Random(seed)
    iterators = "ij"[: random.choice([1, 1, 2])]
    arrays = [f"A{number}" for number in range(random.choice([2, 2, 3]))]
    lines = [f"def sweeps({', '.join(arrays)}, steps, n):", "    for t in range(steps):"]
    for number, target in enumerate(arrays[: random.choice([1, len(arrays)])]):
        indent = "        "
        for iterator in iterators:
            lines.append(f"{indent}for {iterator} in range(2, n - 2):")
            indent += "    "
        sources = [arrays[number - 1], arrays[number - 1], random.choice(arrays)]
        terms = [
            f"{random.choice(sources)}[{', '.join(f'{name} + {random.randint(-2, 2)}' for name in iterators)}]"
            for _ in range(random.randint(1, 4))
        ]
        lines.append(f"{indent}{target}[{', '.join(iterators)}] = 0.3 * ({' + '.join(terms)})")
    return "\n".join(lines)


def diamonds(seed: int) -> pv.Kernel:
    tile: Any = Random(seed).choice([(3, 3, 2), (4, 2, 3), False])
    tile = tile and tile[: 3 if "for j" in stencil(seed) else 2]
    return pv.compile(stencil(seed), schedule="pluto", target="python", tile=tile, concurrent_start=True)


def has_diamonds(kernel: pv.Kernel) -> bool:
    return any(decision.text.startswith("Tiles of the first two") for decision in kernel.schedule.decisions)


def function(text: str) -> Any:
    names: dict[str, Any] = {}
    exec(text, names)
    return names["sweeps"]


@pytest.mark.thinned(2)
@pytest.mark.parametrize("seed", [*DIAMONDS, *OTHERS])
def test_random_stencils_compute_the_same(seed: int) -> None:
    kernel, original = diamonds(seed), function(stencil(seed))
    for steps, size in ((5, 11), (0, 9), (7, 14)):
        shape = (size,) * (2 if "for j" in stencil(seed) else 1)
        count = stencil(seed).split("steps")[0].count("A")
        arrays = [np.random.default_rng(number).random(shape) for number in range(count)]
        expected = [array.copy() for array in arrays]
        original(*expected, steps, size)
        kernel(*arrays, steps, size)
        np.testing.assert_allclose(arrays, expected)
    assert has_diamonds(kernel) is (seed in DIAMONDS)
