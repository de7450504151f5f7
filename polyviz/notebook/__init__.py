"""The notebook side: magics, completion and progress. Loading it is quick: the phases come with the first cell."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

_MAGICS = {"cell": ("polyopt", "polycheck"), "line": ("polycheck", "polyinspect", "polyschedulers", "polydoctor")}


def load_ipython_extension(shell: InteractiveShell) -> None:
    """Register the magics and their completion in ``shell``; doing it twice changes nothing."""
    from polyviz.notebook import completion, inspection, preparation, progress
    from polyviz.notebook.magics import PolyvizMagics

    shell.register_magics(PolyvizMagics(shell))
    completion.install(shell)
    inspection.install(shell)
    preparation.install(shell)
    progress.watch(shell)


def unload_ipython_extension(shell: InteractiveShell) -> None:
    """Take the magics and their completion out of ``shell`` again."""
    from polyviz.notebook import completion, inspection, preparation, progress

    for kind, names in _MAGICS.items():
        for name in names:
            shell.magics_manager.magics[kind].pop(name, None)
    shell.magics_manager.registry.pop("PolyvizMagics", None)
    completion.uninstall(shell)
    inspection.uninstall(shell)
    preparation.uninstall(shell)
    progress.watch_no_longer()
