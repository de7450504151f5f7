"""A shell of its own for every test, without history, and a way to see what a cell shows."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@pytest.fixture
def shell() -> Iterator[InteractiveShell]:
    """A fresh in-process shell in which nothing is loaded."""
    config = Config()
    config.HistoryManager.enabled = False
    config.InteractiveShell.colors = "nocolor"
    config.InteractiveShell.xmode = "Plain"
    config.IPCompleter.use_jedi = False
    InteractiveShell.clear_instance()
    yield InteractiveShell.instance(config=config)
    InteractiveShell.clear_instance()


class Notebook:
    """A shell with the extension loaded and a few arrays."""

    def __init__(self, shell: InteractiveShell, read: Callable[[], str]) -> None:
        self.shell = shell
        self.namespace: dict[str, Any] = shell.user_ns
        self._read = read
        shell.run_line_magic("load_ext", "polyviz")
        random = np.random.default_rng(1)
        arrays = {name: random.random((12, 12)) for name in "ABC"}
        self.namespace.update(arrays, np=np, N=12)

    def __getitem__(self, name: str) -> Any:
        return self.namespace[name]

    def run(self, code: str) -> Any:
        """The value of a cell that must work."""
        outcome = self.shell.run_cell(code)
        outcome.raise_error()
        return outcome.result

    def error(self, code: str) -> str:
        """What a cell that must fail shows; the error itself is in ``namespace['_error']``."""
        self._read()
        outcome = self.shell.run_cell(code)
        assert outcome.error_in_exec is not None, "the cell did not fail"
        self.namespace["_error"] = outcome.error_in_exec
        return self._read().strip()


@pytest.fixture
def notebook(shell: InteractiveShell, capsys: pytest.CaptureFixture[str]) -> Notebook:
    """A notebook with the extension loaded, arrays A, B, C of 12 x 12 and N = 12."""
    return Notebook(shell, lambda: "".join(capsys.readouterr()))


@pytest.fixture
def steady() -> Callable[[str], str]:
    """Text without what differs from run to run: durations and the machine."""

    def scrub(text: str) -> str:
        without_machine = re.sub(r"Machine: (?:.*\n){3}", "Machine: …\n", text)
        return re.sub(r"\d+(?:\.\d+)? (?:ns|µs|ms|s)\b", "… s", without_machine)

    return scrub
