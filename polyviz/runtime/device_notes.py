"""What a run on a device, or in its emulator, has to tell beside its results."""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING, Any

from polyviz.model.device_view import DeviceRun
from polyviz.model.transfers import DeviceTimes

if TYPE_CHECKING:
    from collections.abc import Callable

    from polyviz.model.device_program import DeviceProgram
    from polyviz.runtime.emulator import EmulationReport
    from polyviz.runtime.execute import Runner


def times_of(runner: object) -> DeviceTimes | None:
    """The device's own times of the latest run; None where there was no device."""
    found = getattr(runner, "times", None)
    return found if isinstance(found, DeviceTimes) else None


class KernelClock:
    """Calls ``call`` and collects the seconds of the kernels alone, where ``runner`` knows them."""

    def __init__(self, call: Callable[[Any], Any], runner: Runner | None) -> None:
        self._call = call
        self._runner = runner
        self._seconds: list[float] = []

    def __call__(self, values: Any) -> Any:
        """The result of the call."""
        result = self._call(values)
        times = times_of(self._runner)
        if times is not None:
            self._seconds.append(times.kernels / 1000)
        return result

    @property
    def median(self) -> float | None:
        """The typical seconds of the kernels, or None when nothing ran on a device."""
        return statistics.median(self._seconds) if self._seconds else None


def run_notes(runner: Runner | None) -> tuple[str, ...]:
    """Sentences on the latest run: what moved to a device and back, or what the emulator counted."""
    times = times_of(runner)
    if times is not None:
        return (f"kernels {times.kernels:.3g} ms, transfers {times.to_device + times.from_device:.3g} ms",)
    report = getattr(runner, "report", None)
    return () if report is None else (counts_text(report),)


def emulated_run(
    program: DeviceProgram, report: EmulationReport, *, verified: bool | None = None
) -> DeviceRun:
    """The counts of a run of ``program`` in the emulator, all accesses together."""
    outside = {site.number for kernel in program.kernels for site in kernel.sites if site.memory == "global"}
    found = [count for count in report.counts if count.site in outside]
    return DeviceRun(
        sizes=dict(report.sizes),
        launches=report.launches,
        barriers=report.barriers,
        requests=sum(count.requests for count in found),
        transactions=sum(count.transactions for count in found),
        asked=sum(count.moved for count in found),
        conflicts=sum(count.conflicts for count in report.counts),
        verified=verified,
        uncounted=report.uncounted,
    )


def counts_text(report: EmulationReport) -> str:
    """The counts of an emulated run in one line."""
    requests = sum(count.requests for count in report.counts if count.transactions)
    transactions = sum(count.transactions for count in report.counts)
    conflicts = sum(count.conflicts for count in report.counts)
    average = f"{transactions / requests:.2f}" if requests else "no"
    lost = f", {conflicts} rounds lost to bank conflicts" if conflicts else ""
    return (
        f"{average} transactions per request ({transactions} in all), "
        f"barriers passed by all blocks: {report.barriers}, launches: {report.launches}{lost}"
    )
