"""Mapping: a schedule bound to a target becomes a plan."""

from __future__ import annotations

from polyviz.mapping.cpu import make_plan

__all__ = ["make_plan"]
