"""What a benchmark leaves behind: values that go to JSON and come back equal."""

from __future__ import annotations

import dataclasses
import statistics
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

from polyviz.model.measurement import Status
from polyviz.model.roofline import Peaks, Work
from polyviz.runtime.statistics import bounded_interval

if TYPE_CHECKING:
    from collections.abc import Mapping

SCHEMA_VERSION = 1

Side = Literal["peer", "polyviz"]


@dataclass(frozen=True, slots=True)
class VariantRecord:
    """One way to run one kernel.

    ``peer`` is the family it belongs to. ``first_seconds`` is the single run that was verified, ``samples`` the timed
    rounds, empty for a variant that did not take part in them, for the reason in ``note``. ``compile_seconds`` covers
    compiling and, for numba, one run on the smallest data; ``generate_seconds`` from analysed loops to program text.
    ``obstacles`` say what keeps it from the limits of the machine, as far as its plan tells.
    """

    side: Side
    peer: str
    label: str
    flags: str
    status: Status
    verified: bool | None = None
    first_seconds: float | None = None
    samples: tuple[float, ...] = ()
    compile_seconds: float | None = None
    generate_seconds: float | None = None
    note: str = ""
    decisions: tuple[str, ...] = ()
    obstacles: tuple[str, ...] = ()

    @property
    def median(self) -> float | None:
        """Seconds of the middle sample; None when it was not timed in the rounds."""
        return statistics.median(self.samples) if self.samples else None

    @property
    def shortest(self) -> float | None:
        """Seconds of the fastest sample; None when it was not timed in the rounds."""
        return min(self.samples, default=None)

    @property
    def interval(self) -> tuple[float, float] | None:
        """The 95 % interval of the median, where the samples tell one."""
        return bounded_interval(self.samples) if self.samples else None


@dataclass(frozen=True, slots=True)
class KernelRecord:
    """One kernel: its sizes and work, who ran it, how long everything took, and notes about the kernel as a whole."""

    kernel: str
    sizes: Mapping[str, int]
    variants: tuple[VariantRecord, ...]
    analysis_seconds: float | None = None
    wall_seconds: float = 0.0
    notes: tuple[str, ...] = ()
    work: Work | None = None

    @property
    def best_peer(self) -> VariantRecord | None:
        """The verified peer with the lowest median."""
        return _fastest([variant for variant in self.variants if variant.side == "peer"])

    @property
    def best_own(self) -> VariantRecord | None:
        """The verified variant of polyviz with the highest ratio to the best peer, or, where none has one, with the
        lowest median: medians of different rounds say less than ratios do, which are taken within a round."""
        own = [variant for variant in self.variants if variant.side == "polyviz" and variant.verified]
        peer = self.best_peer
        ratios = [ratio(peer, variant) if peer is not None else None for variant in own]
        known = [(-found.value, number) for number, found in enumerate(ratios) if found is not None]
        return own[min(known)[1]] if known else _fastest(own)


@dataclass(frozen=True, slots=True)
class PeerRecord:
    """A peer and its version, or why it is absent."""

    name: str
    available: bool
    reason: str


@dataclass(frozen=True, slots=True)
class Settings:
    """What has to be equal for two runs to belong to one table."""

    suite: str
    size: str
    dtype: str
    seed: int
    repeats: int
    threads: int
    schedules: tuple[str, ...]
    targets: tuple[str, ...]
    machine: str
    contract: str = "reassociate"


@dataclass(frozen=True, slots=True)
class Results:
    """Everything in one file; ``peaks`` is what the machine was measured to do, None where it was not."""

    settings: Settings
    versions: Mapping[str, str]
    peers: tuple[PeerRecord, ...]
    kernels: tuple[KernelRecord, ...] = ()
    peaks: Peaks | None = None

    def to_json(self) -> dict[str, Any]:
        """As plain JSON values, with what follows from the samples spelled out for other readers."""
        document = {"schema": SCHEMA_VERSION, **dataclasses.asdict(self)}
        for written, record in zip(document["kernels"], self.kernels, strict=True):
            _spell_out(written, record)
        return document

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> Results:
        """The inverse of `to_json`; raises ValueError, KeyError or TypeError for anything else."""
        if document["schema"] != SCHEMA_VERSION:
            raise ValueError(
                f"the file has schema {document['schema']}, this version writes {SCHEMA_VERSION}"
            )
        return cls(
            settings=Settings(**_tuples(document["settings"])),
            versions=dict(document["versions"]),
            peers=tuple(PeerRecord(**peer) for peer in document["peers"]),
            kernels=tuple(_kernel(kernel) for kernel in document["kernels"]),
            peaks=Peaks(**document["peaks"]) if document.get("peaks") else None,
        )


@dataclass(frozen=True, slots=True)
class Ratio:
    """How many times faster one variant is than another: the median over the rounds, and its 95 % interval."""

    value: float
    interval: tuple[float, float] | None


def ratio(slow: VariantRecord, fast: VariantRecord) -> Ratio | None:
    """Samples of the same round divided by each other; None when the two were not timed in the same rounds.

    >>> one = VariantRecord("peer", "gcc", "gcc", "", "ok", samples=(2.0, 4.0, 6.0))
    >>> ratio(one, dataclasses.replace(one, samples=(1.0, 2.0, 3.0))).value
    2.0
    """
    if not slow.samples or len(slow.samples) != len(fast.samples):
        return None
    quotients = [one / other for one, other in zip(slow.samples, fast.samples, strict=True)]
    return Ratio(statistics.median(quotients), bounded_interval(quotients))


def _fastest(variants: list[VariantRecord]) -> VariantRecord | None:
    timed = [(variant.median, number) for number, variant in enumerate(variants) if variant.verified]
    known = [(median, number) for median, number in timed if median is not None]
    return variants[min(known)[1]] if known else None


def _spell_out(written: dict[str, Any], record: KernelRecord) -> None:
    best = record.best_peer
    written["best_peer"] = None if best is None else best.label
    for row, variant in zip(written["variants"], record.variants, strict=True):
        found = ratio(best, variant) if best is not None and variant.side == "polyviz" else None
        row["median"], row["interval"] = variant.median, variant.interval
        row["ratio_to_best_peer"] = None if found is None else found.value
        row["ratio_interval"] = None if found is None else found.interval


def _kernel(document: Mapping[str, Any]) -> KernelRecord:
    fields = _known(KernelRecord, document)
    variants = tuple(_variant(variant) for variant in document["variants"])
    work = Work(**document["work"]) if document.get("work") else None
    return KernelRecord(**{**_tuples(fields), "variants": variants, "work": work})


def _variant(document: Mapping[str, Any]) -> VariantRecord:
    if document["status"] not in get_args(Status):
        raise ValueError(f"unknown status {document['status']!r}")
    return VariantRecord(**_tuples(_known(VariantRecord, document)))


def _known(kind: type[Any], document: Mapping[str, Any]) -> dict[str, Any]:
    """The entries that are fields; the others are derived from them."""
    return {field.name: document[field.name] for field in dataclasses.fields(kind) if field.name in document}


def _tuples(document: Mapping[str, Any]) -> dict[str, Any]:
    return {name: tuple(value) if isinstance(value, list) else value for name, value in document.items()}
