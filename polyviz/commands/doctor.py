"""What is available on this machine, and what to install for the rest."""

from __future__ import annotations

import platform
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING

import polyviz
from polyviz.api.targets import targets
from polyviz.errors import PolyvizError
from polyviz.model.words import plural
from polyviz.runtime.cuda import cuda_availability
from polyviz.runtime.machine import this_machine, thread_count
from polyviz.runtime.nvrtc import INSTALL_HINT as NVRTC_HINT
from polyviz.runtime.nvrtc import nvrtc_availability
from polyviz.runtime.peaks import MEASURE_LIMIT, keep_peaks
from polyviz.runtime.storage import cache_directory
from polyviz.runtime.toolchain import INSTALL_HINT, toolchain_availability
from polyviz.runtime.worker import shared_worker
from polyviz.views.front_end import ADVICE, extension_folder, widget_script
from polyviz.views.html import table
from polyviz.views.roofline_chart import DISTURBED
from polyviz.views.tables import columns

if TYPE_CHECKING:
    from collections.abc import Iterator

    from polyviz.model.roofline import Peaks


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


def diagnose(*, measure: bool = False) -> Diagnosis:
    """Look at this machine; nothing is changed, and nothing raises. ``measure`` takes a few seconds for its speed, too.

    >>> [finding.what for finding in diagnose().findings][:2]
    ['polyviz', 'Python']
    """
    peaks = _peaks() if measure else ()
    return Diagnosis((*_python(), *_processor(), *peaks, *_compilers(), *_device(), *_notebook()))


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


def _peaks() -> Iterator[Finding]:
    """What the processor was seen to do, measured in the worker process."""
    try:
        peaks: Peaks = shared_worker().run(
            "polyviz.runtime.peaks:measure_peaks", time_limit=MEASURE_LIMIT, label="The measurement"
        )
    except PolyvizError as error:
        yield Finding("measurement", False, error.message, error.hint)
        return
    keep_peaks(peaks)
    rates = ", ".join(f"{rate / 1e9:.0f} GFLOP/s in {dtype}" for dtype, rate in peaks.multiply_add.items())
    yield Finding("multiply-add peak", True, f"{rates}, on {plural(peaks.threads, 'thread')}")
    inside = f"{peaks.cached_copy / 1e9:.1f} GB/s within the last cache"
    bandwidth = f"{peaks.copy / 1e9:.1f} GB/s in memory, {inside}, read and written together"
    yield Finding("copy bandwidth", peaks.consistent, bandwidth, "" if peaks.consistent else DISTURBED)


def _compilers() -> Iterator[Finding]:
    available, reason = toolchain_availability()
    if available:
        yield Finding("C compiler", True, reason)
    else:
        yield Finding("C compiler", False, reason.removesuffix(INSTALL_HINT).strip(), INSTALL_HINT)
    yield _package("numba", "the target that needs no C compiler")
    yield Finding("build cache", True, str(cache_directory()))


def _device() -> Iterator[Finding]:
    """A GPU, and what stands in for it: the emulator, the compiler that needs no device, numba's simulator."""
    found, reason = cuda_availability()
    yield Finding("GPU", found, *_advised(reason, found))
    emulated = targets()["emulated"]
    advice = "" if emulated.available else "apt-get install g++ (on Debian)"
    yield Finding("target emulated", emulated.available, emulated.reason, advice)
    compiles, compiler = nvrtc_availability()
    detail = f"{compiler}, registers and occupancy of CUDA text" if compiles else compiler
    yield Finding("NVRTC", compiles, detail, "" if compiles else NVRTC_HINT)


def _advised(reason: str, found: bool) -> tuple[str, str]:
    """What was found apart from what to do about it."""
    if found:
        return reason, ""
    what, _, advice = reason.partition(": ")
    return what, advice or "an NVIDIA GPU with its driver; everything else works without"


def _notebook() -> Iterator[Finding]:
    yield _package("jupyterlab", "the notebook")
    yield _package("ipywidgets", "live views")
    yield _package("anywidget", "live views")
    yield _package("plotly", "charts")
    built = widget_script() is not None
    detail = "the widget is built" if built else "the widget was not built: pictures and tables are static"
    yield Finding("live views", built, detail, "" if built else ADVICE)
    place = extension_folder()
    absent = "not where the JupyterLab of this environment looks: no side panel, saved views are static"
    yield Finding("JupyterLab extension", place is not None, str(place or absent), "" if place else ADVICE)


def _package(name: str, purpose: str) -> Finding:
    try:
        return Finding(name, True, f"{version(name)}, {purpose}")
    except PackageNotFoundError:
        return Finding(name, False, f"not installed: {purpose}", f"pip install {name}")
