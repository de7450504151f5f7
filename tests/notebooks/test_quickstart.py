"""The notebooks run from top to bottom, and what they show is true."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

from polyviz.views.schema import MIME

NOTEBOOKS = Path(__file__).parent.parent.parent / "notebooks"

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def executed() -> Any:
    notebook = nbformat.read(NOTEBOOKS / "quickstart.ipynb", as_version=4)
    return NotebookClient(notebook, timeout=250, kernel_name="python3", store_widget_state=False).execute()


def outputs(notebook: Any, beginning: str) -> dict[str, Any]:
    """The data that the code cell with this beginning gave back."""
    for cell in notebook.cells:
        if cell.cell_type == "code" and beginning in cell.source:
            return next(
                dict(output.data) for output in cell.outputs if output.output_type == "execute_result"
            )
    raise LookupError(beginning)


@pytest.mark.parametrize(
    ("beginning", "variants"),
    [
        ("--name product", ("original/c", "isl/c", "pluto/c")),
        ("race = pv.compare(jacobi_2d", ("original/c", "isl/c", "pluto/c")),
        ("--name own", ("original/c", "pluto/c")),
    ],
)
def test_every_variant_is_verified(executed: Any, beginning: str, variants: tuple[str, ...]) -> None:
    shown = outputs(executed, beginning)
    table = [line for line in shown["text/plain"].splitlines() if "  ok  " in line]
    assert len(table) == len(variants) + 1
    for variant in variants:
        assert any(variant in line and "✓" in line for line in table), shown["text/plain"]


def test_the_product_is_right(executed: Any) -> None:
    assert outputs(executed, "np.allclose")["text/plain"] == "True"


@pytest.mark.parametrize(
    "beginning", ["--name product", "--name stencil", "race =", "%polyinspect", "--name own"]
)
def test_results_come_in_all_forms(executed: Any, beginning: str) -> None:
    assert {MIME, "text/html", "text/plain"} <= set(outputs(executed, beginning))


def test_the_refused_cell_shows_its_construct(executed: Any) -> None:
    [cell] = [cell for cell in executed.cells if "raises-exception" in cell.metadata.get("tags", ())]
    [output] = [output for output in cell.outputs if output.output_type == "error"]
    assert "while C[i, 0] > 1.0:" in output.traceback[0]


def test_the_executed_notebook_stays_small(executed: Any) -> None:
    assert len(nbformat.writes(executed)) < 2_000_000
