"""Scheduling: row problems, the schedulers built on them, and the registry that finds one by name."""

from __future__ import annotations

from polyviz.scheduling.adopted import adopt
from polyviz.scheduling.automatic import schedule
from polyviz.scheduling.problem import Proposal, Scheduler, SchedulingProblem
from polyviz.scheduling.registry import register_scheduler, scheduler_names, schedulers
from polyviz.scheduling.superposed.made import superpose

__all__ = [
    "Proposal",
    "Scheduler",
    "SchedulingProblem",
    "adopt",
    "register_scheduler",
    "schedule",
    "scheduler_names",
    "schedulers",
    "superpose",
]
