"""What the tests of the front end need, or the reason why it is not here."""

import os
import shutil
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FRONT_END = ROOT / "labextension"
BUILT = ROOT / "polyviz" / "labextension"
WIDGET = ROOT / "polyviz" / "static" / "widget.js"


def node():
    """The path of Node.js; skips where it, or what it needs, is missing."""
    found = shutil.which("node")
    if found is None:
        pytest.skip("Node.js is not installed")
    if not (FRONT_END / "node_modules" / "vitest").is_dir():
        pytest.skip("the front end's packages are not installed: make labextension")
    return found


def chromium():
    """The path of a Chromium; skips where there is none."""
    for name in ("chromium", "chromium-browser", "google-chrome"):
        found = shutil.which(name)
        if found is not None:
            return found
    pytest.skip("no Chromium is installed")


def built():
    """Skips where the front end was not built."""
    if not (BUILT / "package.json").is_file() or not WIDGET.is_file():
        pytest.skip("the front end is not built: make labextension")


def screenshots(otherwise):
    """Where screenshots are kept for a person to look at."""
    folder = Path(os.environ.get("POLYVIZ_SCREENSHOTS", otherwise))
    folder.mkdir(parents=True, exist_ok=True)
    return folder
