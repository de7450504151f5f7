"""Stages that may take seconds where nobody expects it, such as a compilation: told to whoever shows progress."""

from __future__ import annotations

from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Audience = Callable[[str], AbstractContextManager[object]]
    Report = Callable[[str, int, int], None]


class _Listener:
    """Who is told; nobody in a script and in the worker."""

    def __init__(self) -> None:
        self.audience: Audience | None = None


_listener = _Listener()


def told(stage: str) -> AbstractContextManager[object]:
    """A context in which ``stage`` goes on.

    >>> from contextlib import contextmanager
    >>> @contextmanager
    ... def show(stage):
    ...     print("begins:", stage)
    ...     yield
    ...     print("ends:", stage)
    >>> with telling(show), told("compiling f"):
    ...     print("working")
    begins: compiling f
    working
    ends: compiling f
    """
    return nullcontext() if _listener.audience is None else _listener.audience(stage)


def tell(audience: Audience | None) -> Audience | None:
    """Tell ``audience`` from now on; returns who was told before."""
    before, _listener.audience = _listener.audience, audience
    return before


@contextmanager
def telling(audience: Audience) -> Iterator[None]:
    """A context in which ``audience`` is told."""
    before = tell(audience)
    try:
        yield
    finally:
        tell(before)


@contextmanager
def reporting(job: str, report: Report | None) -> Iterator[Report]:
    """How a long ``job`` says where it is: through ``report``, else to whoever is told of stages and can show them.

    >>> with reporting("race", None) as say:
    ...     say("timing", 0, 3)
    """
    if report is not None:
        yield report
        return
    with told(job) as shown:
        yield getattr(shown, "report", _nobody)


def _nobody(_stage: str, _done: int, _total: int) -> None:
    """Nobody watches."""
