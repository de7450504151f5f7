"""The words that ``%%polyopt`` understands on its line, once for the parser, the help and the completion."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from IPython.core import magic_arguments

from polyviz.model.program import CONTRACTS
from polyviz.model.techniques import techniques

if TYPE_CHECKING:
    import argparse

_Magic = TypeVar("_Magic", bound=Callable[..., Any])

# IPython gives these no types.
_argument: Any = magic_arguments.argument
_magic_arguments: Any = magic_arguments.magic_arguments

OPTIONS: Mapping[str, Mapping[str, str]] = {
    "--schedule": {
        "metavar": "NAME[,NAME…]",
        "help": "schedulers, default pluto (%%polyschedulers lists them), schedules of the notebook by name, "
        'or an isl map in quotes: "{ S0[i, j] -> [j, i] }"',
    },
    "--target": {"metavar": "NAME[,NAME…]", "help": "auto (default), c, numba, python, cuda or emulated"},
    "--tile": {"metavar": "N[,N…]", "help": "tile sizes such as 32,32,32, or off"},
    "--threads": {"metavar": "N", "help": "how many threads share the loops at most, default one per core"},
    "--without": {
        "metavar": "NAME[,NAME…]",
        "help": "techniques to leave out: "
        + "; ".join(f"{name} ({what})" for name, what in techniques().items()),
    },
    "--contract": {
        "metavar": "NAME",
        "help": "of floating point: " + "; ".join(f"{name} ({what})" for name, what in CONTRACTS.items()),
    },
    "--tune": {
        "nargs": "?",
        "const": "",
        "metavar": "SECONDS",
        "help": "look for faster sizes and switches on copies of the arrays, default 20 seconds; what is found is "
        "remembered for later runs",
    },
    "--compare": {
        "action": "store_true",
        "help": "verify and time all variants, then run the best one in place",
    },
    "--inspect": {"action": "store_true", "help": "look at domains, dependences and schedules; run no loop"},
    "--set": {"action": "append", "metavar": "NAME=NUMBER", "help": "a size that the analysis may rely on"},
    "--name": {"metavar": "NAME", "help": "also keep the result under this name"},
    "--repeats": {"metavar": "K", "help": "timings per variant of a comparison, default 7"},
    "--no-verify": {"action": "store_true", "help": "do not compare with the loop as written first"},
    "--show": {"metavar": "VIEW", "help": "only one view of the result: source, schedule or tree; "
        "for a device also device (who runs what, and how it meets memory) or teaching (the kernels as Python)"},
    "--help": {"action": "store_true", "help": "show this help and run nothing"},
}
"""Every option by its long name, with what argparse needs to know of it."""

IN_QUOTES = 'an isl map stands in quotes: -s "{ S0[i, j] -> [j, i] }".'

SHORT: Mapping[str, str] = {"-s": "--schedule", "-t": "--target", "-h": "--help"}
"""The long name behind each short one."""


def with_options(magic: _Magic) -> _Magic:
    """Give a magic all options; its docstring becomes the help that ``%%polyopt?`` shows."""
    decorated: Any = magic
    shorts = {name: short for short, name in SHORT.items()}
    # The decorators of IPython stack: the first one listed has to be applied last.
    for name, settings in reversed(list(OPTIONS.items())):
        words = (shorts[name], name) if name in shorts else (name,)
        decorated = _argument(*words, **settings)(decorated)
    finished: _Magic = _magic_arguments()(decorated)
    return finished


def help_text(magic: Callable[..., Any]) -> str:
    """What a magic does and which options it has, for a terminal."""
    documentation = (magic.__doc__ or "").removeprefix("::").strip()
    return documentation.replace("%polyopt", "%%polyopt", 1)


def parse_words(magic: Callable[..., Any], line: str) -> argparse.Namespace:
    """What argparse makes of the line; raises UsageError, or ValueError for an unfinished quotation."""
    parser: Any = magic.parser  # type: ignore[attr-defined]  # IPython's decorator puts it there
    words: argparse.Namespace = parser.parse_args(shlex.split(line))
    return words
