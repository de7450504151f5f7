"""What is available on this machine, and what to install for the rest."""

from __future__ import annotations

import platform
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING

import polyviz
from polyviz.runtime.machine import this_machine, thread_count
from polyviz.runtime.storage import cache_directory
from polyviz.runtime.toolchain import INSTALL_HINT, toolchain_availability
from polyviz.views.html import table
from polyviz.views.tables import columns

if TYPE_CHECKING:
    from collections.abc import Iterator

GPU_WHEEL = "cupy-cuda13x"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing looked for: is it there, what was found, and what to do when it is not."""

    what: str
    found: bool
    detail: str
    advice: str = ""


@dataclass(frozen=True, slots=True, repr=False)
class Diagnosis:
    """All findings, as a table in a notebook and as text elsewhere."""

    findings: tuple[Finding, ...]

    def __repr__(self) -> str:
        rows = [(_mark(finding), finding.what, finding.detail) for finding in self.findings]
        lines = [columns(rows)]
        advice = [f"  {finding.what}: {finding.advice}" for finding in self.findings if finding.advice]
        if advice:
            lines += ["", "To get more:", *advice]
        return "\n".join(lines)

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        rows = [(finding.what, _mark(finding), finding.detail, finding.advice) for finding in self.findings]
        return {"text/plain": repr(self), "text/html": table(rows, ("", "found", "what", "to get more"))}


def _mark(finding: Finding) -> str:
    return "yes" if finding.found else "no"


def diagnose() -> Diagnosis:
    """Look at this machine; nothing is changed, and nothing raises.

    >>> [finding.what for finding in diagnose().findings][:2]
    ['polyviz', 'Python']
    """
    return Diagnosis((*_python(), *_processor(), *_compilers(), _gpu(), *_notebook()))


def _python() -> Iterator[Finding]:
    yield Finding("polyviz", True, polyviz.__version__)
    yield Finding("Python", True, f"{platform.python_version()} ({platform.python_implementation()})")
    yield _package("islpy", "sets, maps and schedules")
    yield _package("numpy", "arrays")


def _processor() -> Iterator[Finding]:
    machine = this_machine()
    first, *rest = machine.describe().splitlines()
    yield Finding("processor", True, first)
    for line in rest:
        what, _, detail = line.partition(": ")
        yield Finding(what, what != "note", detail)
    threads = thread_count()
    yield Finding("threads", True, f"{threads.count} ({threads.reason})")


def _compilers() -> Iterator[Finding]:
    available, reason = toolchain_availability()
    if available:
        yield Finding("C compiler", True, reason)
    else:
        yield Finding("C compiler", False, reason.removesuffix(INSTALL_HINT).strip(), INSTALL_HINT)
    yield _package("numba", "the target that needs no C compiler")
    yield Finding("build cache", True, str(cache_directory()))


def _gpu() -> Finding:
    try:
        import cupy
    except Exception as error:  # a broken CUDA installation fails in many ways
        reason = "CuPy is not installed" if isinstance(error, ImportError) else f"CuPy does not load ({error})"
        return Finding("GPU", False, reason, f"pip install {GPU_WHEEL}")
    if not cupy.is_available():
        detail = f"CuPy {cupy.__version__} finds no CUDA device"
        return Finding("GPU", False, detail, "an NVIDIA GPU with its driver; everything else works without")
    name = cupy.cuda.runtime.getDeviceProperties(0)["name"].decode()
    return Finding("GPU", True, f"{name}, through CuPy {cupy.__version__}")


def _notebook() -> Iterator[Finding]:
    yield _package("jupyterlab", "the notebook")
    yield _package("ipywidgets", "live views")
    yield _package("anywidget", "live views")
    yield _package("plotly", "charts")


def _package(name: str, purpose: str) -> Finding:
    try:
        return Finding(name, True, f"{version(name)}, {purpose}")
    except PackageNotFoundError:
        return Finding(name, False, f"not installed: {purpose}", f"pip install {name}")
