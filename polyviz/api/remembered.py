"""What tuning found earlier, filled into the options of a kernel that leave it open."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from polyviz.errors import OptionError
from polyviz.mapping import DEVICE_TARGETS
from polyviz.model.schedule import Decision
from polyviz.scheduling.registry import make_scheduler
from polyviz.tuning.candidates import described
from polyviz.tuning.memory import Key, Memory, element_type, fingerprint, machine_identity
from polyviz.views.drawing import values_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from polyviz.api.options import BuildOptions
    from polyviz.model.program import ArrayType
    from polyviz.model.scop import Scop
    from polyviz.runtime.bound import Bound
    from polyviz.tuning.memory import Entry


@dataclass(frozen=True, slots=True)
class AtHand:
    """What is known of the run that comes next: values of parameters, types of arguments. None: nothing."""

    sizes: Mapping[str, int] | None = None
    types: Mapping[str, ArrayType] = field(default_factory=dict)

    @classmethod
    def of(cls, bound: Bound) -> AtHand:
        """Everything, from the values of a call."""
        return cls(bound.parameters, bound.types)


@dataclass(frozen=True, slots=True)
class Recalled:
    """Options with what was remembered filled in, and what is to be said of it."""

    options: BuildOptions
    decisions: tuple[Decision, ...] = ()


def memory_key(scop: Scop, schedule: str, target: str, contract: str) -> Key:
    """Under what the findings for a kernel are kept."""
    return Key(machine_identity(), fingerprint(scop), schedule, target, contract)


def recalled(scop: Scop, schedule: object, target: str, wanted: BuildOptions, at_hand: AtHand) -> Recalled:
    """``wanted`` with what tuning found for ``schedule`` (a scheduler's name, else nothing is looked for)."""
    memory = Memory()
    if (
        not (wanted.tuned and isinstance(schedule, str))
        or target in DEVICE_TARGETS
        or memory.is_empty
    ):
        return Recalled(wanted)
    key = memory_key(scop, schedule, target, wanted.contract)
    found = memory.recall(key, at_hand.sizes, element_type(at_hand.types))
    if found.note:
        return Recalled(wanted, (Decision("tuned", found.note),))
    return Recalled(wanted) if found.entry is None else _filled(found.entry, schedule, wanted)


def _filled(entry: Entry, schedule: str, wanted: BuildOptions) -> Recalled:
    try:
        options = wanted.filled(entry.options)
        make_scheduler(schedule, options.scheduler)
    except OptionError as error:
        text = f"what tuning remembered fits another version and is ignored: {error.message}"
        return Recalled(wanted, (Decision("tuned", text),))
    used = {name: value for name, value in entry.options.items() if _is_open(name, wanted)}
    where = f"on {entry.day}" + (f" for {values_text(entry.sizes)}" if entry.sizes else "")
    if not entry.options:
        text = f"tuning found nothing better than the defaults among {entry.tried} candidates {where}"
        return Recalled(wanted, (Decision("tuned", text),))
    if not used:
        return Recalled(wanted)
    text = (
        f"{described(used)}: found by tuning {where}, {entry.speedup:.2f} times as fast as the defaults then; "
        "tuned=False leaves it out"
    )
    return Recalled(options, (Decision("tuned", text),))


def _is_open(name: str, wanted: BuildOptions) -> bool:
    given: dict[str, Any] = {
        "tile": wanted.tile,
        "threads": wanted.threads,
        **wanted.switches,
        **wanted.scheduler,
    }
    return given.get(name) is None
