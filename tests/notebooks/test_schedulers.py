"""The notebooks on the schedulers run, and what their text claims stands in their outputs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

FOLDER = Path(__file__).parent.parent.parent / "notebooks" / "schedulers"

CLAIMS = {
    "adaptive": [
        "extent {(5, 9): 'j', (9, 5): 'i'}",
        "retained {(5, 9): 'i', (9, 5): 'j'}",
        "not every size is known, give them as sizes=",
        "batch 1: u x y z",
        "batch 32: z u x y",
        "S0: i 9, j 5",
    ],
    "feautrier": ["[i + j, i]", "S1[i, j] -> [2j, 1, i", "relations not carried 4", "relations not carried 0"],
    "isl": [
        "[['parallel', 'sequential'], ['parallel', 'sequential']]",
        "[4t + 2i + j, t, t + i]",
        "isl found no schedule within 0.01 s",
        "live ranges in any order",
    ],
    "own-scheduler": [
        "S0: 2t + i; S1: 2t + i + 1",
        "simplest/numba ok ✓",
        "The scheduler `backwards` proposed an order that would change the result.",
        "S0[0, 1, 1] writes A[1, 1], which S0[0, 1, 2] reads",
    ],
    "pluto": [
        "illegal: S0[0, 1, 4] writes A[1, 4]",
        "[t, t + i, 2t + i + j]",
        "legal: every dependence is respected",
        "S0: 2t + i; S1: 2t + i + 1",
        "S0 and S1 stay apart",
    ],
    "spatial": [
        "S1[i, j, k] -> [i, k, j, 1]",
        "S1[i, j] -> [i, j, j, 1]",
        "C[i, j] (rank 2, 3 references)",
        "True",
    ],
    "superposition": [
        "S1: (0, floor(i/32)_x, 0, t, 1, i_y, j_x, 0)",
        "S2: (0, floor(r/4)_y, floor(q/4)_x, 1, r_z, q_y, p_x, 0)",
        "a barrier, since S0[0, 1, 1] reads A[1, 2], which S1[0, 1, 2] writes",
    ],
}


@pytest.mark.slow
@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.ipynb")), ids=lambda path: path.stem)
def test_claims(path: Path) -> None:
    notebook = nbformat.read(path, as_version=4)
    executed = NotebookClient(
        notebook, timeout=800, startup_timeout=800, kernel_name="python3", store_widget_state=False
    ).execute()

    shown = _text(executed).replace(" ★", "")  # who is fastest is no claim

    assert [claim for claim in CLAIMS[path.stem] if claim not in shown] == []


def _text(notebook: Any) -> str:
    """Everything the cells printed or gave back, with long lines of the log joined."""
    parts = []
    for cell in notebook.cells:
        for output in cell.get("outputs", ()):
            shown = output.get("data", {}).get("text/plain", "") or "\n".join(output.get("traceback", ()))
            parts.append(output.get("text") or shown)
    return " ".join("\n".join(parts).split())
