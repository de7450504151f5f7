"""How an inspector shows itself in a notebook that runs: the static forms, and the live widget beside them."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

from polyviz.api import Inspector
from polyviz.api.shown import inspector_bundle
from polyviz.model.display import register_renderer
from polyviz.notebook.widget import InspectorWidget
from polyviz.views.front_end import ADVICE, widget_script
from polyviz.views.html import paragraph

if TYPE_CHECKING:
    from polyviz.model.display import Shown

_VIEW = "application/vnd.jupyter.widget-view+json"
_STATIC = f"This view is static, since polyviz was installed without the live ones. To get them, {ADVICE}."


def live_bundle(inspector: Inspector) -> Shown:
    """The bundle of ``inspector`` with a widget where its front end is installed, else with one hint.

    A widget may bring metadata: Google Colab finds the code that draws widgets of others through it. Where nobody
    watches there is no widget: a page exported from there would show it, empty, in place of the static forms.
    """
    if not _is_watched():
        return inspector_bundle(inspector)
    if widget_script() is None:
        forms = inspector_bundle(inspector)
        return {**forms, "text/html": forms["text/html"] + paragraph(_STATIC)}
    # Only the widget knows the name of its view; its other forms are those of any widget.
    widget = InspectorWidget(inspector)
    shown: Any = widget._repr_mimebundle_()
    data, metadata = shown if isinstance(shown, tuple) else (shown, {})
    forms = {_VIEW: data[_VIEW], **inspector_bundle(inspector, widget.model)}
    return (forms, metadata) if metadata else forms


def _is_watched() -> bool:
    """Whether the cell that runs was sent by a front end, as far as that can be told; ``jupyter execute`` is none.

    Front ends for people tell the kernel which cell a request belongs to, in its metadata.
    """
    if "google.colab" in sys.modules or any(name.startswith("VSCODE_") for name in os.environ):
        return True
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    parent = getattr(getattr(shell, "kernel", None), "get_parent", None)
    request = parent("shell") if callable(parent) else {}
    return request.get("msg_type") != "execute_request" or bool(request.get("metadata"))


def register() -> None:
    """From now on inspectors are live."""
    register_renderer(Inspector, live_bundle)
