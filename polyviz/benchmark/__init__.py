"""The benchmark: kernels of the gallery against the installed peers, verified, interleaved, with versions and machine.

``polyviz bench`` calls `main` with its options; the results go to a JSON file, one record per kernel, and a table.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark; the exit status is 0, or 1 when a variant of polyviz computed something wrong."""
    from polyviz.benchmark.command import run

    return run(arguments)
