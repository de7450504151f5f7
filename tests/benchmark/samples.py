"""Results made by hand, for the table and the files."""

from __future__ import annotations

from dataclasses import replace

from polyviz.benchmark.records import KernelRecord, PeerRecord, Results, Settings, VariantRecord
from polyviz.model.roofline import Peaks, Work

SETTINGS = Settings(
    suite="polybench",
    size="large",
    dtype="float64",
    seed=1,
    repeats=3,
    threads=2,
    schedules=("original", "pluto"),
    targets=("c",),
    machine="A CPU (x86_64), 2 usable cores\ncaches: L2 1 MiB",
)

GCC = VariantRecord("peer", "gcc", "gcc", "-O3", "ok", True, 2.2, (2.0, 2.2, 2.1), 0.3)
NUMBA = VariantRecord(
    "peer", "numba", "numba", "njit", "ok", True, 9.0, (), 1.5, note="run once only, too slow for the rounds"
)
ABSENT = VariantRecord("peer", "Pythran", "Pythran", "", "unavailable", note="it is not installed")
BLAS = VariantRecord("peer", "BLAS", "BLAS", "", "refused", note="no call does this loop")
PLUTO = VariantRecord(
    "polyviz",
    "polyviz",
    "pluto/c",
    "schedule='pluto'",
    "ok",
    True,
    1.1,
    (1.0, 1.1, 1.0),
    0.2,
    0.05,
    decisions=("the band is tiled by 32 x 32", "tile loop 0 runs on all threads"),
)
ORIGINAL = replace(PLUTO, label="original/c", samples=(2.0, 2.2, 2.0), decisions=())
WRONG = replace(
    ORIGINAL, status="wrong", verified=False, samples=(), note="A[0] is 1.0, the original loop gives 2.0"
)

FAST = KernelRecord("gemm", {"n": 1000}, (NUMBA, GCC, ABSENT, ORIGINAL, PLUTO), 0.1, 12.0)
SLOW = KernelRecord(
    "lu", {"n": 2000}, (GCC, BLAS, ABSENT, WRONG, replace(PLUTO, samples=(4.0, 4.4, 4.2))), 0.1, 20.0
)
BROKEN = KernelRecord("adi", {"n": 10}, (), notes=("nothing was run: the original loop itself fails",))

RESULTS = Results(
    SETTINGS,
    {"polyviz": "0.1.0", "Python": "3.11"},
    (PeerRecord("gcc", True, "gcc 12.2"), PeerRecord("Pythran", False, "it is not installed")),
    (BROKEN, FAST, SLOW),
)

PEAKS = Peaks({"float64": 4e9, "float32": 8e9}, 2e9, 8e9, 32 * 1024**2, 2)
MEASURED = replace(
    RESULTS,
    peaks=PEAKS,
    kernels=(
        BROKEN,
        replace(FAST, work=Work(2_000_000_000, 16_000_000, 8_000_000, 24_000_000)),
        replace(
            SLOW,
            work=Work(10_000_000, 4_000_000_000, 4_000_000_000, 4_000_000_000),
            variants=(
                *SLOW.variants[:-1],
                replace(SLOW.variants[-1], obstacles=("serial: Loop k is not parallel: it carries flow of A",)),
            ),
        ),
    ),
)
