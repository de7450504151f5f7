"""The options of ``%%polyopt``: from the words of the magic line to checked values, every mistake in one line."""

from __future__ import annotations

import keyword
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, Literal

from polyviz.api.sizes import sizes_of_words
from polyviz.api.tuning import DEFAULT_SECONDS
from polyviz.errors import OptionError
from polyviz.model.program import CONTRACTS
from polyviz.model.techniques import switched_off, techniques
from polyviz.notebook.schedules import read_schedules

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable, Mapping

    from polyviz.api.building import ScheduleChoice
    from polyviz.model.program import FloatingPoint
    from polyviz.model.techniques import Off

Show = Literal["source", "schedule", "tree", "device", "teaching"]
SHOWN: tuple[Show, ...] = ("source", "schedule", "tree", "device", "teaching")
DEFAULT_SCHEDULE = "pluto"
COMPARED_SCHEDULES = ("original", "isl", "pluto")
DEFAULT_REPEATS = 7


@dataclass(frozen=True, slots=True)
class Options:
    """What a ``%%polyopt`` line asks for, checked.

    ``schedules`` holds each choice under its name in tables: a scheduler under its own, a schedule of the notebook
    under the variable's, isl text as ``user``. ``tile`` is None for the target's own choice and False for none;
    ``sizes`` are the known values of ``--set``.
    """

    schedules: Mapping[str, ScheduleChoice] = field(
        default_factory=lambda: {DEFAULT_SCHEDULE: DEFAULT_SCHEDULE}
    )
    targets: tuple[str, ...] = ("auto",)
    tile: tuple[int, ...] | Literal[False] | None = None
    threads: int | None = None
    without: Mapping[str, Off] = field(default_factory=dict)
    contract: FloatingPoint = "reassociate"
    tune: float | None = None
    compare: bool = False
    inspect: bool = False
    sizes: Mapping[str, int] = field(default_factory=dict)
    name: str | None = None
    repeats: int = DEFAULT_REPEATS
    verify: bool = True
    show: Show | None = None

    @property
    def building(self) -> dict[str, Any]:
        """The keywords of ``pv.compile`` that every variant gets."""
        sizes = {name: value for name in ("tile", "threads") if (value := getattr(self, name)) is not None}
        return {"contract": self.contract, **self.without, **sizes}


def read_options(words: argparse.Namespace, namespace: Mapping[str, Any]) -> Options:
    """The options behind the parsed words of the line; raises OptionError, always one line.

    ``namespace`` is the notebook's, whose schedules ``-s`` may name.
    """
    schedules = {} if words.schedule is None else read_schedules(words.schedule, namespace)
    targets = _targets(words.target)
    several = len(schedules) > 1 or len(targets) > 1
    _check_effects(words, compares=words.compare or several)
    if words.compare and not words.schedule:
        schedules = {name: name for name in COMPARED_SCHEDULES}
    return Options(
        schedules=schedules or {DEFAULT_SCHEDULE: DEFAULT_SCHEDULE},
        targets=targets or ("auto",),
        tile=_tile(words.tile),
        threads=None if words.threads is None else _positive("--threads", words.threads),
        without=_without(words.without),
        contract=_contract(words.contract),
        tune=_seconds(words.tune),
        compare=bool(words.compare) or several,
        inspect=bool(words.inspect),
        sizes=sizes_of_words(words.set or ()),
        name=_identifier(words.name),
        repeats=_positive("--repeats", words.repeats) if words.repeats is not None else DEFAULT_REPEATS,
        verify=not words.no_verify,
        show=_show(words.show),
    )


def _check_effects(words: argparse.Namespace, *, compares: bool) -> None:
    """Refuse what would have no effect, so that nobody believes it had."""
    if words.inspect:
        given = [name for name in _OF_A_RUN if getattr(words, name)] + ["tune"] * (words.tune is not None)
        if given:
            raise OptionError(
                f"--{given[0].replace('_', '-')} has no effect with --inspect, which runs no loop."
            )
    if words.threads is not None and "threads" in _without(words.without):
        raise OptionError("--threads has no effect beside --without threads, which stands for one.")
    if words.tune is not None and compares:
        raise OptionError(
            "--tune looks around one variant: name one schedule and one target, and leave --compare out."
        )
    if words.repeats is not None and not compares:
        raise OptionError(
            "--repeats counts the timings of a comparison: add --compare, or more than one variant."
        )


_OF_A_RUN = ("target", "tile", "threads", "without", "contract", "compare", "repeats", "no_verify", "show")
"""The options that say how to run or what to show of a run."""


def unknown(what: str, given: str, known: Iterable[str]) -> OptionError:
    """The error for a value that does not exist, with the nearest one that does.

    >>> unknown("schedule", "plutoo", ["isl", "pluto"]).message
    "Unknown schedule 'plutoo': did you mean 'pluto'?"
    >>> unknown("view", "graph", ["source", "tree"]).message
    "Unknown view 'graph': there are source, tree."
    """
    names = list(known)
    near = get_close_matches(given, names, 1)
    hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(names)}."
    return OptionError(f"Unknown {what} {given!r}: {hint}")


def split_list(text: str) -> tuple[str, ...]:
    """The parts of a comma-separated list.

    >>> split_list("isl, pluto")
    ('isl', 'pluto')
    """
    return tuple(part.strip() for part in text.split(",") if part.strip())


def _targets(text: str | None) -> tuple[str, ...]:
    if text is None:
        return ()
    from polyviz.api.targets import targets, unknown_target

    names = ("auto", *targets())
    chosen = split_list(text)
    if not chosen:
        raise OptionError(f"--target needs a name: one of {', '.join(names)}.")
    for name in chosen:
        if name not in names:
            raise OptionError(unknown_target(name, names))
    return tuple(dict.fromkeys(chosen))


def _tile(text: str | None) -> tuple[int, ...] | Literal[False] | None:
    if text is None:
        return None
    if text == "off":
        return False
    return tuple(_positive("--tile", part) for part in split_list(text)) or _no_tile(text)


def _without(text: str | None) -> dict[str, Off]:
    if text is None:
        return {}
    names = split_list(text)
    if not names:
        raise OptionError(f"--without needs a technique: one of {', '.join(techniques())}.")
    return switched_off(names)


def _contract(text: str | None) -> FloatingPoint:
    for contract in CONTRACTS:
        if contract == (text or "reassociate"):
            return contract
    raise unknown("contract", str(text), CONTRACTS)


def _seconds(text: str | None) -> float | None:
    """The time for ``--tune``; empty for the default."""
    if text is None:
        return None
    if not text:
        return DEFAULT_SECONDS
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0.0 < seconds < float("inf"):
        raise OptionError(f"--tune takes a number of seconds such as 30, not {text!r}.")
    return seconds


def _no_tile(text: str) -> Literal[False]:
    raise OptionError(f"--tile takes sizes such as 32,32,32, or off; not {text!r}.")


def _positive(option: str, text: str) -> int:
    if not (text.isdecimal() and int(text) > 0):
        raise OptionError(f"{option} takes whole numbers from 1 on, not {text!r}.")
    return int(text)


def _identifier(text: str | None) -> str | None:
    if text is not None and (not text.isidentifier() or keyword.iskeyword(text)):
        raise OptionError(f"--name takes the name of a variable, not {text!r}.")
    return text


def _show(text: str | None) -> Show | None:
    if text is None:
        return None
    for kind in SHOWN:
        if kind == text:
            return kind
    raise unknown("view", text, SHOWN)
