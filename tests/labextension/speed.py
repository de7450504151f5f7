"""How long a person waits for the linked views: ``python -m tests.labextension.speed`` measures, prints and keeps it.

Nothing is asserted: the figures belong to the machine that made them. See benchmarks/inspector.md for the method.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import nbformat

from polyviz.runtime.machine import this_machine
from tests.labextension.front_end import FRONT_END, ROOT, chromium, node
from tests.labextension.test_page import jupyterlab, notebook

KERNELS = (
    "gemm",
    "jacobi-2d",
    "lu",
    "fdtd-2d",
    "correlation",
    "adi",
    "deriche",
    "gramschmidt",
    "heat-3d",
    "ludcmp",
)
SETUP = "%load_ext polyviz\nimport polyviz as pv\nfrom polyviz import gallery"
ANALYSIS = """kernel = next(one for one in gallery.kernels() if one.name == {name!r})
found = pv.inspect(kernel.function, *kernel.arguments("small"), schedules=("original", "pluto"))"""
METHOD = """# How long a person waits for the linked views

Made by `python -m tests.labextension.speed` in a real JupyterLab with a headless Chromium that draws without a GPU, on
{machine}.

- *first paint*: from running the cell that shows a finished analysis until the views stand in the page and the next
  frame is painted; the static forms, the transfer and the widget are in it. Goal: 1000 ms.
- *repaint*: from a click until the second frame after it, the middle one of five; the worst of
  {options}. Goal: 200 ms.
- *new schedule*: from asking for the schedule of `isl` until it is shown. Goal: 1000 ms.
- *menu*: from asking for the moves at the outermost loop until their menu is there; *moves*: until it lists all of
  them, the forbidden ones with their reason; *effects*: until it also says what each of them would change;
  *move*: from picking the first legal one until its order is shown.

| kernel | first paint | slowest repaint | new schedule | menu | moves | effects | move |
|---|---:|---:|---:|---:|---:|---:|---:|
{rows}

All in milliseconds, one run each, one kernel after the other in one notebook; the first paint of the first of them
loads the widget.
"""


def main() -> None:
    """Measure every kernel, and write the table."""
    with tempfile.TemporaryDirectory() as name:
        root, folder = Path(name) / "root", Path(name) / "jupyter"
        root.mkdir()
        folder.mkdir()
        kernels = tuple(sys.argv[1:]) or KERNELS
        cells = [SETUP, *(cell for kernel in kernels for cell in (ANALYSIS.format(name=kernel), "found"))]
        nbformat.write(notebook([nbformat.v4.new_code_cell(cell) for cell in cells]), root / "speed.ipynb")
        with jupyterlab(root, folder) as address:
            script = [
                node(),
                str(FRONT_END / "tests" / "page" / "speed.mjs"),
                address,
                chromium(),
                "speed.ipynb",
            ]
            run = [*script, *kernels]
            done = subprocess.run(run, capture_output=True, text=True, check=True, timeout=900)
    print(done.stdout)
    found = [json.loads(line) for line in done.stdout.splitlines()]
    rows = "\n".join(_row(one) for one in found)
    text = METHOD.format(
        machine=this_machine().describe().splitlines()[0], options=", ".join(found[0]["repaints"]), rows=rows
    )
    if kernels == KERNELS:
        (ROOT / "benchmarks" / "inspector.md").write_text(text, encoding="utf-8")


def _row(one: dict) -> str:
    slowest = max(one["repaints"], key=one["repaints"].get)
    cells = [
        one["first"],
        f"{one['repaints'][slowest]} ({slowest})",
        one["schedule"],
        one["menu"],
        one["moves"],
        one["effects"],
        one["move"],
    ]
    return f"| {one['name']} | " + " | ".join("–" if cell is None else str(cell) for cell in cells) + " |"


if __name__ == "__main__":
    main()
