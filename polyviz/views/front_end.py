"""The built front end of the live views: where it is, and how to get it where it is missing."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

ADVICE = (
    "run make labextension in the checkout (it needs Node.js 20.19 and npm) and install again, or install a wheel from "
    "make wheel, which needs neither"
)
_EXTENSION = "polyviz-lab"


def widget_script() -> Traversable | None:
    """The built front end; None where polyviz was installed without it."""
    script = files("polyviz").joinpath("static", "widget.js")
    return script if script.is_file() else None


def extension_folder() -> Path | None:
    """Where the JupyterLab of this environment finds the extension; None where it does not, or where there is none."""
    try:
        from jupyter_core.paths import jupyter_path
    except ModuleNotFoundError:
        return None

    folders = (Path(folder) / _EXTENSION for folder in jupyter_path("labextensions"))
    return next((folder for folder in folders if (folder / "package.json").is_file()), None)
