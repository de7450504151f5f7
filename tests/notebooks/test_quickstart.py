"""The quickstart runs from top to bottom, and a newcomer sees what it promises."""

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
    client = NotebookClient(
        notebook, timeout=800, startup_timeout=800, kernel_name="python3", store_widget_state=False
    )
    return client.execute()


def outputs(notebook: Any, beginning: str) -> dict[str, Any]:
    """The data that the code cell with this beginning gave back."""
    for cell in notebook.cells:
        if cell.cell_type == "code" and beginning in cell.source:
            return next(
                dict(output.data) for output in cell.outputs if output.output_type == "execute_result"
            )
    raise LookupError(beginning)


def printed(notebook: Any, beginning: str) -> str:
    """What the code cell with this beginning printed."""
    [cell] = [cell for cell in notebook.cells if cell.cell_type == "code" and beginning in cell.source]
    return "".join(output.text for output in cell.outputs if output.output_type == "stream")


@pytest.mark.parametrize(
    ("beginning", "variants"),
    [
        ("--name product", ("original/c", "isl/c", "pluto/c")),
        ("race = pv.compare(crooked", ("original/c", "mine/c")),
    ],
)
def test_every_variant_is_verified(executed: Any, beginning: str, variants: tuple[str, ...]) -> None:
    shown = outputs(executed, beginning)
    table = [line for line in shown["text/plain"].splitlines() if "  ok  " in line]
    assert len(table) == len(variants) + 1
    for variant in variants:
        assert any(variant in line and "✓" in line for line in table), shown["text/plain"]


@pytest.mark.parametrize("beginning", ["np.allclose(C", "fast = pv.compile", "script = better.script()"])
def test_what_is_claimed_to_be_equal_is(executed: Any, beginning: str) -> None:
    assert outputs(executed, beginning)["text/plain"] == "True"


@pytest.mark.parametrize("beginning", ["--name product", "part = pv.extract", "view = pv.inspect", "race ="])
def test_results_come_in_all_forms(executed: Any, beginning: str) -> None:
    assert {MIME, "text/html", "text/plain"} <= set(outputs(executed, beginning))


def test_the_loops_are_extracted_with_their_distance(executed: Any) -> None:
    assert "(1, -1)" in outputs(executed, "part = pv.extract")["text/plain"]


def test_the_forbidden_move_is_refused_with_its_pair_drawn(executed: Any) -> None:
    pair = "S0[1, 1] writes A[1, 1], which S0[2, 0] reads"
    assert pair in printed(executed, "why_not")
    shown = outputs(executed, "%%polycheck crooked")
    assert pair in shown["text/plain"]
    assert "data:image/svg+xml" in shown["text/html"]


def test_the_menu_offers_the_better_move_and_the_script_keeps_it(executed: Any) -> None:
    assert 'reversal(at="j")\n' in printed(executed, 'edit.choices("j")')
    assert "legal: every dependence" in printed(executed, "better = ")
    script = printed(executed, "script = better.script()")
    assert script.startswith('schedule("original")\nreversal(at="j")\ninterchange(order=("j", "i"))\n')


def test_the_refused_cell_shows_its_construct(executed: Any) -> None:
    [cell] = [cell for cell in executed.cells if "raises-exception" in cell.metadata.get("tags", ())]
    [output] = [output for output in cell.outputs if output.output_type == "error"]
    assert "np.sort(C[i, :])[0]" in output.traceback[0]


def test_the_executed_notebook_stays_small(executed: Any) -> None:
    assert len(nbformat.writes(executed)) < 2_000_000
