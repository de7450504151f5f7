"""Analysis: exact dependences, reductions, footprints and the legality of any schedule."""

from __future__ import annotations

from polyviz.analysis.dependences import dependences
from polyviz.analysis.legality import check

__all__ = ["check", "dependences"]
