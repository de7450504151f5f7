"""Runs a gallery kernel and hands back its arguments by name, as they were and as they are."""

import inspect
from collections.abc import Callable, Mapping
from copy import deepcopy
from types import SimpleNamespace
from typing import Any

import pytest
from numpy.typing import DTypeLike

from polyviz.gallery.entry import GalleryKernel

Outcome = tuple[SimpleNamespace, SimpleNamespace, Any]


@pytest.fixture
def run() -> Callable[..., Outcome]:
    """A function of entry, size, dtype and seed: the arguments before, those after, and the returned value."""

    def run_kernel(
        entry: GalleryKernel,
        size: str | Mapping[str, int] = "mini",
        dtype: DTypeLike = "float64",
        seed: int | None = None,
    ) -> Outcome:
        arguments = entry.arguments(size, dtype, seed)
        names = list(inspect.signature(entry.function).parameters)
        before = SimpleNamespace(**dict(zip(names, deepcopy(arguments), strict=True)))
        returned = entry.function(*arguments)
        return before, SimpleNamespace(**dict(zip(names, arguments, strict=True))), returned

    return run_kernel
