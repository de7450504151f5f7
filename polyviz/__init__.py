"""polyviz: see, reshape, verify and time the loops of a notebook cell.

The names of the public contract live here and are imported on first use (PEP 562), so that ``import polyviz`` and
``%load_ext polyviz`` stay quick: no compiler, plotting library or GPU package is loaded before it is needed.

>>> import polyviz as pv
>>> "extract" in dir(pv)
True
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

    from polyviz.analysis import check, check_superposition, dependences
    from polyviz.api import (
        Comparison,
        Inspector,
        Tuning,
        ablation,
        compare,
        compile,
        edit,
        extract,
        inspect,
        optimize,
        replay,
        steps,
        targets,
        techniques,
        tune,
    )
    from polyviz.editing import Difference, Edit, Steps, difference
    from polyviz.errors import (
        ArgumentError,
        CodegenError,
        DeviceWarning,
        EvaluationError,
        ExtractionError,
        LegalityError,
        NotAffineError,
        OptionError,
        OutOfBoundsError,
        OverlapError,
        OverlapWarning,
        PolyvizError,
        SchedulingError,
        Span,
        ToolchainError,
        UnknownNameError,
        UnsupportedSyntaxError,
        VerificationError,
        WorkerError,
    )
    from polyviz.exercises import exercise
    from polyviz.model.dependences import Dependences, Legality, Violation
    from polyviz.model.schedule import Band, Schedule
    from polyviz.model.scop import Scop, Statement
    from polyviz.model.superposition import Superposition
    from polyviz.runtime.kernel import Kernel
    from polyviz.runtime.residency import device, resident
    from polyviz.scheduling import register_scheduler, schedule, schedulers, superpose
    from polyviz.transform.registry import moves, register_move

__version__ = "0.1.0"

__all__ = [
    "ArgumentError",
    "Band",
    "CodegenError",
    "Comparison",
    "Dependences",
    "DeviceWarning",
    "Difference",
    "Edit",
    "EvaluationError",
    "ExtractionError",
    "Inspector",
    "Kernel",
    "Legality",
    "LegalityError",
    "NotAffineError",
    "OptionError",
    "OutOfBoundsError",
    "OverlapError",
    "OverlapWarning",
    "PolyvizError",
    "Schedule",
    "SchedulingError",
    "Scop",
    "Span",
    "Statement",
    "Steps",
    "Superposition",
    "ToolchainError",
    "Tuning",
    "UnknownNameError",
    "UnsupportedSyntaxError",
    "VerificationError",
    "Violation",
    "WorkerError",
    "__version__",
    "ablation",
    "check",
    "check_superposition",
    "compare",
    "compile",
    "dependences",
    "device",
    "difference",
    "edit",
    "exercise",
    "extract",
    "inspect",
    "moves",
    "optimize",
    "register_move",
    "register_scheduler",
    "replay",
    "resident",
    "schedule",
    "schedulers",
    "steps",
    "superpose",
    "targets",
    "techniques",
    "tune",
]

_HOMES = {
    "polyviz.analysis": ("check", "check_superposition", "dependences"),
    "polyviz.api": (
        "Comparison",
        "Inspector",
        "Tuning",
        "ablation",
        "compare",
        "compile",
        "edit",
        "extract",
        "inspect",
        "optimize",
        "replay",
        "steps",
        "targets",
        "techniques",
        "tune",
    ),
    "polyviz.editing": ("Difference", "Edit", "Steps", "difference"),
    "polyviz.errors": (
        "ArgumentError",
        "CodegenError",
        "DeviceWarning",
        "EvaluationError",
        "ExtractionError",
        "LegalityError",
        "NotAffineError",
        "OptionError",
        "OutOfBoundsError",
        "OverlapError",
        "OverlapWarning",
        "PolyvizError",
        "SchedulingError",
        "Span",
        "ToolchainError",
        "UnknownNameError",
        "UnsupportedSyntaxError",
        "VerificationError",
        "WorkerError",
    ),
    "polyviz.exercises": ("exercise",),
    "polyviz.model.dependences": ("Dependences", "Legality", "Violation"),
    "polyviz.model.schedule": ("Band", "Schedule"),
    "polyviz.model.scop": ("Scop", "Statement"),
    "polyviz.model.superposition": ("Superposition",),
    "polyviz.runtime.kernel": ("Kernel",),
    "polyviz.runtime.residency": ("device", "resident"),
    "polyviz.scheduling": ("register_scheduler", "schedule", "schedulers", "superpose"),
    "polyviz.transform.registry": ("moves", "register_move"),
}
_ROOMS = frozenset({"exercises", "gallery"})
"""Modules that people look for behind ``import polyviz as pv``."""
_LAZY = {name: f"{module}:{name}" for module, names in _HOMES.items() for name in names}


def _load(reference: str) -> Any:
    """The object behind ``module:attribute``."""
    module, _, attribute = reference.partition(":")
    return getattr(import_module(module), attribute)


def __getattr__(name: str) -> Any:
    if name in _ROOMS:
        return import_module(f"polyviz.{name}")
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = _load(_LAZY[name])
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_ROOMS})


def load_ipython_extension(shell: InteractiveShell) -> None:
    """Make the magics of polyviz known to ``shell``: what ``%load_ext polyviz`` calls."""
    _load("polyviz.notebook:load_ipython_extension")(shell)


def unload_ipython_extension(shell: InteractiveShell) -> None:
    """Take everything back that :func:`load_ipython_extension` registered."""
    _load("polyviz.notebook:unload_ipython_extension")(shell)
