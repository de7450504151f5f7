"""What a run on a device or in its emulator has to tell."""

from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace

from polyviz.model.device_program import AccessCount
from polyviz.model.measurement import Measurement, VariantRow
from polyviz.model.transfers import DeviceTimes
from polyviz.runtime.device_notes import KernelClock, counts_text, run_notes
from polyviz.runtime.emulator import EmulationReport
from polyviz.views.verdict import median_text


@dataclass
class Device:
    times: DeviceTimes | None = None


def test_a_run_on_a_device_tells_kernels_and_transfers():
    assert run_notes(Device(DeviceTimes(1.0, 2.5, 0.5, 10))) == ("kernels 2.5 ms, transfers 1.5 ms",)
    assert run_notes(Device()) == run_notes(None) == ()


def test_the_median_of_the_kernels_alone():
    device = Device()
    spent = iter([3.0, 1.0, 2.0])

    def call(_values):
        device.times = DeviceTimes(9.0, next(spent), 9.0, 0)

    clock = KernelClock(call, device)
    assert clock.median is None
    for _ in range(3):
        clock({})
    assert clock.median == 0.002


def test_an_emulated_run_tells_its_counts():
    counts = (AccessCount(0, False, 10, 320, 320, 1280, 0), AccessCount(1, True, 10, 0, 320, 1280, 7))
    text = counts_text(EmulationReport(counts, 4, 1))
    assert text == (
        "32.00 transactions per request (320 in all), barriers passed by all blocks: 4, launches: 1, "
        "7 rounds lost to bank conflicts"
    )
    assert run_notes(SimpleNamespace(report=EmulationReport(counts, 4, 1))) == (text,)


def test_a_row_shows_the_kernels_beside_the_time_with_transfers():
    row = VariantRow("isl", "cuda", "ok", True, Measurement((0.01,) * 6, 0.01, (0.01, 0.01), kernels=0.002))
    assert median_text(row).startswith("10.0 ms (")
    assert median_text(row).endswith(", kernels 2.00 ms")
