"""A shell of its own for every test, without history."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def shell() -> Iterator[InteractiveShell]:
    """A fresh in-process shell in which nothing is loaded."""
    config = Config()
    config.HistoryManager.enabled = False
    config.InteractiveShell.colors = "nocolor"
    config.InteractiveShell.xmode = "Plain"
    config.IPCompleter.use_jedi = False
    InteractiveShell.clear_instance()
    created = InteractiveShell.instance(config=config)
    yield created
    InteractiveShell.clear_instance()
