"""The loop as written under Pythran, which compiles Python ahead of time through C++."""

from __future__ import annotations

import hashlib
import importlib.util
import sys
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

import numpy as np

from polyviz.api.targets import Availability
from polyviz.benchmark.peers.protocol import Candidate
from polyviz.runtime.storage import cache_directory

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import ModuleType

    from polyviz.benchmark.session import Call
    from polyviz.benchmark.subject import Subject
    from polyviz.runtime.original import Original

FLAGS = ("-O3", "-march=native", "-ffast-math", "-DUSE_XSIMD")


@dataclass(frozen=True, slots=True)
class LoopUnderPythran:
    """The user's text with an export line for the types of the arguments."""

    original: Original

    def prepare(self, example: Mapping[str, Any], _parameters: Mapping[str, int]) -> Call:
        """Compile, or load what an earlier run compiled from the same text by the same version."""
        types = ", ".join(_type(value) for value in example.values())
        export = f"#pythran export {self.original.name}({types})"
        function = getattr(
            _module("\n".join([export, *self.original.imports, self.original.text])), self.original.name
        )
        return lambda values, _: function(*values.values())


class Pythran:
    """Pythran on one core."""

    name = "Pythran"

    def available(self) -> Availability:
        """Whether Pythran is installed."""
        try:
            return Availability(True, f"Pythran {version('pythran')}")
        except PackageNotFoundError:
            return Availability(False, "Pythran is not installed: pip install pythran")

    def candidates(self, subject: Subject) -> tuple[Candidate, ...]:
        """The text as it is."""
        return (Candidate(self.name, " ".join(FLAGS), LoopUnderPythran(subject.original)),)


def _type(value: Any) -> str:
    """A value's type in Pythran's notation.

    >>> _type(np.zeros((2, 3))), _type(7), _type(np.float32(1))
    ('float64[:,:]', 'int', 'float32')
    """
    if isinstance(value, np.ndarray):
        return f"{value.dtype.name}[{','.join(':' * value.ndim)}]"
    return str(value.dtype.name) if isinstance(value, np.generic) else type(value).__name__


def _module(text: str) -> ModuleType:
    pythran: Any = import_module("pythran")
    key = hashlib.sha256(repr((text, FLAGS, version("pythran"), sys.version)).encode()).hexdigest()
    name = f"pythran_{key[:32]}"
    path = cache_directory() / "pythran" / f"{name}.so"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        pythran.compile_pythrancode(
            name, text, output_file=str(path), extra_compile_args=list(FLAGS), extra_link_args=[]
        )
    specification = importlib.util.spec_from_file_location(name, path)
    if specification is None or specification.loader is None:
        raise ImportError(f"the module that Pythran built cannot be loaded from {path}")
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module
