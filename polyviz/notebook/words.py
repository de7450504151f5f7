"""The words that ``%%polyopt`` understands on its line, once for the parser, the help and the completion."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from IPython.core import magic_arguments

if TYPE_CHECKING:
    import argparse

_Magic = TypeVar("_Magic", bound=Callable[..., Any])

# IPython gives these no types.
_argument: Any = magic_arguments.argument
_magic_arguments: Any = magic_arguments.magic_arguments
_parse_argstring: Any = magic_arguments.parse_argstring

OPTIONS: Mapping[str, Mapping[str, str]] = {
    "--schedule": {"metavar": "NAME[,NAME…]", "help": "schedulers, default pluto; see %%polyschedulers"},
    "--target": {"metavar": "NAME[,NAME…]", "help": "auto (default), c, numba or python"},
    "--tile": {"metavar": "N[,N…]", "help": "tile sizes such as 32,32,32, or off"},
    "--compare": {"action": "store_true", "help": "verify and time all variants, then run the best one in place"},
    "--inspect": {"action": "store_true", "help": "look at domains, dependences and schedules; run no loop"},
    "--set": {"action": "append", "metavar": "NAME=NUMBER", "help": "a size that the analysis may rely on"},
    "--name": {"metavar": "NAME", "help": "also keep the result under this name"},
    "--repeats": {"metavar": "K", "help": "timings per variant of a comparison, default 7"},
    "--no-verify": {"action": "store_true", "help": "do not compare with the loop as written first"},
    "--show": {"metavar": "VIEW", "help": "only one view of the result: source, schedule or tree"},
}
"""Every option by its long name, with what argparse needs to know of it."""

SHORT: Mapping[str, str] = {"-s": "--schedule", "-t": "--target"}
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


def parse_words(magic: Callable[..., Any], line: str) -> argparse.Namespace:
    """What argparse makes of the line; raises UsageError, or ValueError for an unfinished quotation."""
    words: argparse.Namespace = _parse_argstring(magic, line)
    return words
