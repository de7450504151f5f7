"""Build hook: the JupyterLab extension goes into the wheel where it was built, to the place where JupyterLab looks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

_PLACE = "share/jupyter/labextensions/polyviz-lab"


class FrontEndHook(BuildHookInterface):
    """Adds ``polyviz/labextension`` as shared data; `make labextension` builds it."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """What was not built is left out, which is said."""
        root = Path(self.root)
        if not (root / "polyviz" / "static" / "widget.js").is_file():
            self.app.display_info("No widget was built (make labextension, with Node.js): views are static.")
        if not (root / "polyviz" / "labextension" / "package.json").is_file():
            self.app.display_info(
                "No JupyterLab extension was built: no side panel, and saved views are static."
            )
            return
        build_data["shared_data"].update(
            {
                str(root / "polyviz" / "labextension"): _PLACE,
                str(root / "labextension" / "install.json"): f"{_PLACE}/install.json",
            }
        )
