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
    from collections.abc import Callable, Iterable, Iterator

_DEVICE_WORDS = ("gpu", "nvidia", "device", "ptx")
"""What people call a device; the target has another name."""
AUTOMATIC = ("c", "numba")
"""What the target ``auto`` stands for: the first of them that can be used."""

SECOND_CHOICE = "target"
"""The step of the decision that says why ``auto`` is not the first of them."""

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
    return {name: found() for name, found in _looked_for().items()}


def resolve_target(name: str) -> str:
    """The target meant by ``name``; ``auto`` is ``c`` where a compiler is found, else ``numba``.

    Only this target is looked for: to ask the driver of a device takes longer than to compile for the processor.
    Raises OptionError for an unknown name and ToolchainError for a target that cannot run here.
    """
    looked_for = _looked_for()
    if name == "auto":
        first, otherwise = AUTOMATIC
        return first if looked_for[first]().available else otherwise
    if not isinstance(name, str) or name not in looked_for:
        raise OptionError(unknown_target(name, (*looked_for, "auto")))
    found = looked_for[name]()
    if not found.available:
        others = " or ".join(repr(other) for other, found in targets().items() if found.available)
        raise ToolchainError(
            f"The target {name!r} cannot run here.",
            reason=found.reason,
            hint=f"Use the target {others} instead.",
        )
    return name


def second_choice(name: str, resolved: str) -> Iterator[Decision]:
    """What is said where ``auto`` was asked for and ``resolved`` is not the first that it stands for."""
    first = AUTOMATIC[0]
    if name != "auto" or resolved not in AUTOMATIC[1:]:
        return
    found = _looked_for()[first]()
    if not found.available:  # else it refused the program, which the kernel says itself
        yield Decision(SECOND_CHOICE, f"{resolved} instead of {first}: {found.reason}")


def unknown_target(name: object, known: Iterable[str]) -> str:
    """What is said of a target that does not exist, with the one that is probably meant.

    >>> unknown_target("numa", ["c", "numba"])
    "Unknown target 'numa': did you mean 'numba'?"
    >>> unknown_target("C", ["c", "numba"])
    "Unknown target 'C': did you mean 'c'?"
    >>> unknown_target(None, ["c", "numba"])
    'A target is a name, not None; known: c, numba.'
    """
    names = list(known)
    if not isinstance(name, str):
        return f"A target is a name, not {name!r}; known: {', '.join(names)}."
    if name.lower() in _DEVICE_WORDS:
        return (
            f"Unknown target {name!r}: did you mean 'cuda', which needs a GPU, or 'emulated', which runs the same "
            "kernels on the processor?"
        )
    near = get_close_matches(name.lower(), names, 1)
    return f"Unknown target {name!r}" + (f": did you mean {near[0]!r}?" if near else f"; known: {', '.join(names)}.")


def _looked_for() -> dict[str, Callable[[], Availability]]:
    """How each target is looked for."""
    return {"c": _c, "numba": _numba, "python": _python, "cuda": _cuda, "emulated": _emulated}


def _c() -> Availability:
    return Availability(*toolchain_availability())


@lru_cache(maxsize=1)
def _cuda() -> Availability:
    return Availability(*cuda_availability())


def _emulated() -> Availability:
    if find_cxx_toolchain() is None:
        return Availability(False, "no C++ compiler with ucontext.h was found; on Debian: apt-get install g++")
    return Availability(True, "CUDA text on the processor, every access watched; slow, for small sizes")


def _python() -> Availability:
    return Availability(True, "readable loops under this Python")


@lru_cache(maxsize=1)
def _numba() -> Availability:
    if find_spec("numba") is None:
        return Availability(False, "numba is not installed: pip install numba")
    return Availability(True, "numba compiles in this process")
