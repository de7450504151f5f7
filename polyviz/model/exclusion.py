"""One thread at a time in the polyhedral library.

All isl objects share one context, and its settings (how tiles are counted, how many operations a scheduler may spend)
hold for everybody who uses it. Between two calls into the library Python may switch threads, so whatever depends on a
setting, or can fail because of one, runs under this lock.
"""

from __future__ import annotations

import threading
from functools import wraps
from typing import TYPE_CHECKING, ParamSpec, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")
POLYHEDRAL_LIBRARY = threading.RLock()


def exclusive(function: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """``function``, which no two threads run at the same time; it may call others of its kind."""

    @wraps(function)
    def alone(*arguments: Arguments.args, **keywords: Arguments.kwargs) -> Result:
        with POLYHEDRAL_LIBRARY:
            return function(*arguments, **keywords)

    return alone
