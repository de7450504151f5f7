"""The programs of one kernel: generated for the types of a call, with another plan where the first one does not fit."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from polyviz.codegen.generate import all_types, generate, largest_cell
from polyviz.codegen.scan import EndlessLoopsError
from polyviz.mapping import for_cells, in_source_order, without_tiles

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from polyviz.model.dependences import Dependences
    from polyviz.model.plan import Plan
    from polyviz.model.program import ArrayType, FloatingPoint, Program
    from polyviz.model.scop import Scop


class Specialiser:
    """Generates programs by ``plan``.

    ``plain`` makes the plan without register tiles for a target: tiles that the types of a call rule out leave loops
    behind that were arranged around them.
    """

    def __init__(
        self,
        scop: Scop,
        dependences: Dependences,
        plan: Plan,
        floating_point: FloatingPoint,
        plain: Callable[[str], Plan] | None,
    ) -> None:
        self.scop = scop
        self.dependences = dependences
        self.floating_point = floating_point
        self.plain = plain
        self.plan = plan

    def plan_of(self, program: Program | None) -> Plan:
        """The plan that ``program`` was made by; that of others for None."""
        if program is None or self.plain is None or not self._lost_tiles(program):
            return self.plan
        return self.plain(self.plan.target)

    def _lost_tiles(self, program: Program) -> bool:
        """Whether the types rule out all register tiles of the plan."""
        return 0 < len(self.plan.register_tiles) <= len(program.untiled)

    def program(self, types: Mapping[str, ArrayType], *, untested: bool) -> Program:
        """The program for argument ``types``.

        Where its loops would take isl too long, the plan goes on without tiles, then in the source's order. Raises
        CodegenError.
        """
        ways = iter((without_tiles, in_source_order))
        while True:
            try:
                return self._fitting(types, untested=untested)
            except EndlessLoopsError:
                plans = (way(self.scop, self.dependences, self.plan, self.floating_point) for way in ways)
                plan = next(filter(None, plans), None)
                if plan is None:
                    raise
                self.plan = plan

    def _fitting(self, types: Mapping[str, ArrayType], *, untested: bool) -> Program:
        cell = largest_cell(all_types(self.scop, types))
        self.plan = for_cells(self.scop, self.plan, cell)
        program = self._generated(self.plan, types, untested=untested)
        if self.plain is None or not self._lost_tiles(program):
            return program
        other = self._generated(self.plain(self.plan.target), types, untested=untested)
        reasons = (note for note in program.notes if note not in other.notes)
        return replace(other, notes=(*reasons, *other.notes), untiled=program.untiled)

    def _generated(self, plan: Plan, types: Mapping[str, ArrayType], *, untested: bool) -> Program:
        given = replace(plan, untested=True) if untested else plan
        return generate(self.scop, given, types, self.floating_point)
