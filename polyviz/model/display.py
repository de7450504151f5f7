"""How values show themselves without knowing the views: the room above asks a table that the views fill.

The model must not import the views (they read the model). A value that wants to be shown derives from
``Displayable``; ``polyviz.views.bundles`` registers one function per type when it is first needed.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

Bundle = dict[str, Any]
Shown = Bundle | tuple[Bundle, Bundle]
"""What IPython takes: a MIME bundle, or one with metadata for some of its types."""
_renderers: dict[type, Callable[[Any], Shown]] = {}


def register_renderer(kind: type, renderer: Callable[[Any], Shown]) -> None:
    """Let ``renderer`` produce the MIME bundle of every value of ``kind``."""
    _renderers[kind] = renderer


def mime_bundle(value: object) -> Bundle:
    """The MIME bundle of ``value`` from the nearest registered type; raises ``LookupError`` when there is none."""
    rendered = _rendered(value)
    return rendered[0] if isinstance(rendered, tuple) else rendered


def _rendered(value: object) -> Shown:
    import_module("polyviz.views.bundles")
    if _has_front_end():
        import_module("polyviz.notebook.live").register()
    for kind in type(value).__mro__:
        if kind in _renderers:
            return _renderers[kind](value)
    raise LookupError(f"nothing is registered that can show a {type(value).__name__}")


def _has_front_end() -> bool:
    """Whether this process is the kernel of a notebook, where a view can be live."""
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    return getattr(shell, "kernel", None) is not None


class Displayable:
    """Base of values with a picture: notebooks get the MIME bundle, terminals its ``text/plain``."""

    __slots__ = ()

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> Shown:
        return _rendered(self)

    def __repr__(self) -> str:
        return str(mime_bundle(self)["text/plain"])


class Lines(str):
    """Text that a notebook shows line by line, where it would show the ``\\n`` of another string.

    >>> print(Lines("one\\ntwo"))
    one
    two
    """

    __slots__ = ()

    def _repr_pretty_(self, printer: Any, _is_cycle: bool) -> None:
        printer.text(str(self))
