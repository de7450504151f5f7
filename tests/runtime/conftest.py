"""A compiler, a worker, and a directory of job functions that the worker can import."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from polyviz.runtime.cache import BuildCache
from polyviz.runtime.toolchain import Toolchain, find_toolchain, toolchain_availability
from polyviz.runtime.worker import Worker

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@pytest.fixture
def toolchain() -> Toolchain:
    found = find_toolchain()
    if found is None:
        pytest.skip(toolchain_availability()[1])
    return found


@pytest.fixture
def worker(monkeypatch: pytest.MonkeyPatch) -> Iterator[Worker]:
    """A worker that can import the functions of worker_jobs.py."""
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    with Worker() as started:
        yield started


@pytest.fixture
def build(toolchain: Toolchain, cache_directory: Path) -> Callable[[str], str]:
    """Compiles C text; the path of the library."""
    return lambda source: str(BuildCache().library(source, toolchain).path)
