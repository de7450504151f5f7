"""The versions that a figure depends on, beside those of the peers."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, version

import polyviz
from polyviz.runtime.toolchain import toolchain_availability

_PACKAGES = ("islpy", "numba", "llvmlite", "numpy", "scipy")


def versions() -> dict[str, str]:
    """Version texts by name.

    >>> list(versions())[:3]
    ['polyviz', 'Python', 'system']
    """
    found = {
        "polyviz": polyviz.__version__,
        "Python": platform.python_version(),
        "system": f"{platform.system()} {platform.release()}",
        "target c": toolchain_availability()[1],
    }
    return {**found, **{name: _version(name) for name in _PACKAGES}}


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"
