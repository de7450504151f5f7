"""Which targets can run here, and why not."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches
from functools import lru_cache
from importlib.util import find_spec
from typing import TYPE_CHECKING

from polyviz.errors import OptionError, ToolchainError
from polyviz.model.schedule import Decision
from polyviz.runtime.cuda import cuda_availability
from polyviz.runtime.toolchain import find_cxx_toolchain, toolchain_availability
from polyviz.views.html import paragraph

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_DEVICE_WORDS = ("gpu", "nvidia", "device", "ptx")
"""What people call a device; the target has another name."""
AUTOMATIC = ("c", "numba")
"""What the target ``auto`` stands for: the first of them that can be used."""

SECOND_CHOICE = "target"
"""The step of the decision that says why ``auto`` is not the first of them."""

PYTHON = "python"
"""The target that is always there: nothing has to be looked for, which takes a while for the others."""


@dataclass(frozen=True, slots=True)
class Availability:
    """Whether a target can be used here, and what it runs on or what is missing."""

    available: bool
    reason: str

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        told = f"{'can' if self.available else 'cannot'} be used here: {self.reason}"
        return {"text/plain": told, "text/html": paragraph(told)}


def targets() -> dict[str, Availability]:
    """Every target by name.

    >>> targets()["python"].available
    True
    """
    return {
        "c": _c(),
        "numba": _numba(),
        PYTHON: Availability(True, "readable loops under this Python"),
        "cuda": _cuda(),
        "emulated": _emulated(),
    }


def resolve_target(name: str) -> str:
    """The target meant by ``name``; ``auto`` is ``c`` where a compiler is found, else ``numba``.

    Raises OptionError for an unknown name and ToolchainError for a target that cannot run here.
    """
    if name == PYTHON:
        return name
    known = targets()
    if name == "auto":
        first, otherwise = AUTOMATIC
        return first if known[first].available else otherwise
    if name not in known:
        raise OptionError(unknown_target(name, (*known, "auto")))
    if not known[name].available:
        others = " or ".join(repr(other) for other, found in known.items() if found.available)
        raise ToolchainError(
            f"The target {name!r} cannot run here.",
            reason=known[name].reason,
            hint=f"Use the target {others} instead.",
        )
    return name


def second_choice(name: str, resolved: str) -> Iterator[Decision]:
    """What is said where ``auto`` was asked for and ``resolved`` is not the first that it stands for."""
    first = AUTOMATIC[0]
    if name != "auto" or resolved not in AUTOMATIC[1:]:
        return
    found = targets()[first]
    if not found.available:  # else it refused the program, which the kernel says itself
        yield Decision(SECOND_CHOICE, f"{resolved} instead of {first}: {found.reason}")


def unknown_target(name: str, known: Iterable[str]) -> str:
    """What is said of a target that does not exist, with the one that is probably meant.

    >>> unknown_target("numa", ["c", "numba"])
    "Unknown target 'numa': did you mean 'numba'?"
    """
    names = list(known)
    if name.lower() in _DEVICE_WORDS:
        return (
            f"Unknown target {name!r}: did you mean 'cuda', which needs a GPU, or 'emulated', which runs the same "
            "kernels on the processor?"
        )
    near = get_close_matches(name, names, 1)
    return f"Unknown target {name!r}" + (f": did you mean {near[0]!r}?" if near else f"; known: {', '.join(names)}.")


def _c() -> Availability:
    return Availability(*toolchain_availability())


@lru_cache(maxsize=1)
def _cuda() -> Availability:
    return Availability(*cuda_availability())


def _emulated() -> Availability:
    if find_cxx_toolchain() is None:
        return Availability(False, "no C++ compiler with ucontext.h was found; on Debian: apt-get install g++")
    return Availability(True, "CUDA text on the processor, every access watched; slow, for small sizes")


@lru_cache(maxsize=1)
def _numba() -> Availability:
    if find_spec("numba") is None:
        return Availability(False, "numba is not installed: pip install numba")
    return Availability(True, "numba compiles in this process")
