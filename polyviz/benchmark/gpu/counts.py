"""What can be said of a kernel without a device: a verified run in the emulator with its counts, and its resources."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from polyviz.benchmark.gpu.subjects import built, disagreement, fresh, outputs
from polyviz.runtime.nvrtc import ARCHITECTURES, nvrtc_availability

if TYPE_CHECKING:
    from collections.abc import Mapping

    from polyviz.model.device_program import DeviceProgram
    from polyviz.runtime.emulator import EmulationReport
    from polyviz.runtime.kernel import Kernel


@dataclass(frozen=True, slots=True)
class Resources:
    """What the kernels of a program need on one architecture: the most registers, bytes of shared memory and spills of
    one of them, and the lowest estimated occupancy."""

    architecture: str
    registers: int
    shared: int
    spilled: int
    occupancy: float


@dataclass(frozen=True, slots=True)
class Counted:
    """One schedule on one kernel.

    ``requests`` and ``transactions`` are those of global memory, ``asked`` the bytes that threads read and wrote there;
    ``conflicts`` rounds lost to banks of shared memory. ``remark`` tells why there are no counts, or what is wrong.
    """

    kernel: str
    schedule: str
    verified: bool
    kernels: int = 0
    launches: int = 0
    barriers: int = 0
    requests: int = 0
    transactions: int = 0
    asked: int = 0
    conflicts: int = 0
    resources: tuple[Resources, ...] = ()
    remark: str = ""

    @property
    def per_request(self) -> float | None:
        """Transactions per request.

        >>> Counted("k", "isl", True, requests=2, transactions=64).per_request
        32.0
        """
        return self.transactions / self.requests if self.requests else None

    @property
    def text(self) -> str:
        """What came out, in a line."""
        if not self.verified:
            return self.remark
        average = "–" if self.per_request is None else f"{self.per_request:.2f}"
        return f"verified, {average} transactions per request, {self.barriers} barriers"

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Counted:
        """The counts from their fields as plain data."""
        return cls(**{**data, "resources": tuple(Resources(**one) for one in data["resources"])})


def count(kernel: str, schedule: str, size: str, dtype: str) -> Counted:
    """Run a kernel of the gallery in the emulator, verified; a job."""
    made = built(kernel, schedule, size, dtype, "emulated")
    arguments = fresh(kernel, size, dtype)
    wrong = disagreement(kernel, size, dtype, outputs(arguments, made(*arguments)))
    report, device = made.emulation, made.program.device
    assert report is not None
    assert device is not None
    found = _global(report, device)
    return Counted(
        kernel,
        schedule,
        not wrong,
        kernels=len(device.kernels),
        launches=report.launches,
        barriers=report.barriers,
        requests=sum(one.requests for one in found),
        transactions=sum(one.transactions for one in found),
        asked=sum(one.moved for one in found),
        conflicts=sum(one.conflicts for one in report.counts),
        resources=resources(made),
        remark=wrong,
    )


def _global(report: EmulationReport, device: DeviceProgram) -> list[Any]:
    """The counts of accesses to global memory."""
    sites = {site.number for kernel in device.kernels for site in kernel.sites if site.memory == "global"}
    return [one for one in report.counts if one.site in sites]


def resources(kernel: Kernel) -> tuple[Resources, ...]:
    """What the compiler reports per architecture; nothing where NVRTC is missing."""
    device = kernel.program.device
    if device is None or not nvrtc_availability()[0]:
        return ()
    threads = {one.name: one.block[0] * one.block[1] * one.block[2] for one in device.kernels}
    rows = []
    for architecture in ARCHITECTURES:
        found = kernel.resources(architecture)
        rows.append(
            Resources(
                architecture,
                registers=max(one.registers for one in found),
                shared=max(one.shared for one in found),
                spilled=max(one.spill_stores + one.spill_loads for one in found),
                occupancy=min(one.occupancy(architecture, threads[one.name]) for one in found),
            )
        )
    return tuple(rows)
