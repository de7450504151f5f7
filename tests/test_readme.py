"""The Python in the README runs as it stands there, in order, as a newcomer would type it."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import numpy as np
import pytest
from IPython.core.interactiveshell import InteractiveShell

ROOT = Path(__file__).parent.parent
# What a search may take here, and sizes for which everything stays quick.
SMALLER = {"seconds=30": "seconds=1", "(400, 400)": "(96, 96)"}
# Needs a device; tests/runtime/test_residency.py runs it with a stand-in.
ON_A_DEVICE = "pv.resident"
OF_ANOTHER_TOOL = "jupyter nbconvert --to html"


def blocks() -> list[str]:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    for long, short in SMALLER.items():
        assert long in text
        text = text.replace(long, short)
    return re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


def cells(block: str) -> list[str]:
    """The cells of a block: each magic begins one."""
    return [part for part in re.split(r"^(?=%)", block, flags=re.MULTILINE) if part.strip()]


@pytest.mark.slow
def test_the_code_of_the_readme_runs(cache_directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shell = InteractiveShell()
    shell.history_manager.enabled = False
    data = np.random.default_rng(0)
    shell.user_ns.update(T=2, n=40, A=data.random((40, 40)), B=data.random((40, 40)), np=np)
    failed = []
    for block in blocks():
        if ON_A_DEVICE in block or ">>>" in block:
            continue
        for cell in cells(block):
            outcome = shell.run_cell(cell, store_history=False)
            failed += (
                [] if outcome.success else [f"{cell}\n{outcome.error_in_exec or outcome.error_before_exec}"]
            )
    assert failed == []


@pytest.mark.slow
def test_what_the_readme_prints_is_what_comes_out() -> None:
    gemm, mathematics = (next(block for block in blocks() if word in block) for word in ("def gemm", "pv.check"))
    shell = InteractiveShell()
    shell.history_manager.enabled = False
    shell.run_cell(gemm.partition("\nfast =")[0] + mathematics, store_history=False)
    own = mathematics.strip().splitlines()[-1]
    assert own.endswith("# an order of your own: legal")
    assert eval(own, dict(shell.user_ns))
    printed = "".join(block for block in blocks() if ">>>" in block).replace("\N{HORIZONTAL ELLIPSIS}", "...")
    examples = doctest.DocTestParser().get_doctest(printed, dict(shell.user_ns), "README.md", None, None)
    said: list[str] = []
    outcome = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(examples, out=said.append)
    assert (outcome.failed, outcome.attempted, "".join(said)) == (0, 3, "")


@pytest.mark.parametrize("document", ["README.md", "CONTRIBUTING.md", "docs/reference.md"])
def test_every_link_to_a_file_leads_somewhere(document: str) -> None:
    text = (ROOT / document).read_text(encoding="utf-8")
    links = [link for link in re.findall(r"\]\(([^)#]+)\)", text) if not link.startswith("http")]
    assert [link for link in links if not ((ROOT / document).parent / link).exists()] == []


def test_files_and_options_named_in_prose_exist() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    named = re.findall(r"`((?:notebooks|benchmarks|tests|docs)/[\w./-]*)`", text)
    assert [name for name in named if not (ROOT / name).exists()] == []
    reference = (ROOT / "docs" / "reference.md").read_text(encoding="utf-8")
    options = set(re.findall(r"(?<=[ `])--[a-z][a-z-]+", text.replace(OF_ANOTHER_TOOL, "")))
    assert sorted(option for option in options if option not in reference) == []
