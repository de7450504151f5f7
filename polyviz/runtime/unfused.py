"""Does a library fuse products with sums although it was compiled not to?

gcc makes one instruction of products that neighbouring lanes add and subtract in turn (``vfmaddsub``), as in products
of complex numbers, whatever ``-ffp-contract=off`` says: the last bits are then not those of the written order. No
option forbids that alone, so such a library is compiled again without vectors.
"""

from __future__ import annotations

import re
import subprocess
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from polyviz.runtime.toolchain import Toolchain

WITHOUT_VECTORS = ("-fno-tree-loop-vectorize", "-fno-tree-slp-vectorize")
"""Both by name: loops with ``#pragma omp simd`` keep their vectors under ``-fno-tree-vectorize``."""
WITHOUT_VECTORS_OF_CLANG = ("-fno-vectorize", "-fno-slp-vectorize")
NOTE = (
    "Compiled without vectors: gcc would fuse products that are added and subtracted in turn, which the strict "
    "contract forbids."
)
_FUSED = re.compile(rb"\bvfm(addsub|subadd)")
_LIMIT = 60.0


def without_vectors(toolchain: Toolchain) -> tuple[str, ...]:
    """The options under which the compiler makes no vector instructions of loops or of neighbouring statements."""
    return WITHOUT_VECTORS_OF_CLANG if toolchain.is_clang else WITHOUT_VECTORS


def fuses_in_turn(library: Path, toolchain: Toolchain) -> bool:
    """Whether the machine code of ``library`` has such instructions, or may have, where nothing here can read it."""
    if toolchain.is_clang:
        return False
    try:
        listing = subprocess.run(
            ["objdump", "-d", "--no-show-raw-insn", str(library)],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_LIMIT,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return True
    return _FUSED.search(listing.stdout) is not None
