"""The programs of one kernel: generated for the types of a call, with another plan where the first one does not fit."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from polyviz.analysis import transposable
from polyviz.codegen.generate import all_types, generate, largest_cell
from polyviz.codegen.scan import EndlessLoopsError
from polyviz.mapping import for_cells, in_source_order, without_tiles

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from polyviz.model.dependences import Dependences
    from polyviz.model.plan import Plan
    from polyviz.model.program import ArrayType, FloatingPoint, Program
    from polyviz.model.scop import Scop
    from polyviz.runtime.few_steps import FewSteps
    from polyviz.runtime.kernel import Kernel

TURNING = ("c", "numba")
"""The targets that get loops of their own for arrays in Fortran order: text in Python is for reading."""


@dataclass(frozen=True, slots=True)
class Turned:
    """A part for the transposes of arrays that lie in Fortran order, with all that its programs need."""

    scop: Scop
    dependences: Dependences
    plan: Plan
    others: OtherPlans


@dataclass(frozen=True, slots=True)
class OtherPlans:
    """Makes what a kernel goes on with where its own plan does not suit what a call brings.

    ``substitute``: the plan for another target, where its program cannot be compiled here; None where there is none.
    ``plain``: for a target, the plan without register tiles, since tiles that the types of a call rule out leave loops
    behind that were arranged around them. ``turned``: for the names of some of the ``turnable`` arrays, which lie in
    Fortran order, and a target. ``for_sizes``: the kernel for calls with short sizes, to which these are known; None
    where there is none but the one for any sizes. ``in_one_dimension``: the kernel for calls whose arrays hold no whole
    number of the rows in which the loops look at them. ``few_steps``: makes those for calls with few steps over time.
    """

    substitute: Callable[[], Plan] | None
    plain: Callable[[str], Plan]
    turned: Callable[[frozenset[str], str], Turned] | None = None
    turnable: frozenset[str] = frozenset()
    for_sizes: Callable[[Mapping[str, int]], Kernel] | None = None
    in_one_dimension: Callable[[], Kernel] | None = None
    few_steps: FewSteps | None = None


class Specialiser:
    """Generates programs by ``plan``, or by one of the ``others``."""

    def __init__(
        self,
        scop: Scop,
        dependences: Dependences,
        plan: Plan,
        floating_point: FloatingPoint,
        others: OtherPlans | None,
    ) -> None:
        self.scop = scop
        self.dependences = dependences
        self.floating_point = floating_point
        self.others = others
        self.plan = plan
        self._turned: dict[tuple[frozenset[str], str], Specialiser] = {}

    def plan_of(self, program: Program | None) -> Plan:
        """The plan that ``program`` was made by; that of others for None."""
        if program is not None and program.transposed:
            others = self._turned[frozenset(program.transposed), program.target]
            return others.plan_of(replace(program, transposed=()))
        if program is None or self.others is None or not self._lost_tiles(program):
            return self.plan
        return self.others.plain(self.plan.target)

    def _lost_tiles(self, program: Program) -> bool:
        """Whether the types rule out all register tiles of the plan."""
        return 0 < len(self.plan.register_tiles) <= len(program.untiled)

    def program(self, types: Mapping[str, ArrayType], *, untested: bool) -> Program:
        """The program for argument ``types``.

        What lies in Fortran order is read by loops for its transpose, where that can be. Where the loops would take
        isl too long, the plan goes on without tiles, then in the source's order. Raises CodegenError.
        """
        types = {name: self._in_rows(name, kind) for name, kind in types.items()}
        fortran = {name for name, kind in types.items() if kind.layout == "F"}
        turned = frozenset(fortran & self._turnable())
        types = {**types, **{name: _known(types[name], turned=name in turned) for name in fortran}}
        if turned:
            return self._for_transposes(turned).program(types, untested=untested)
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

    def _in_rows(self, name: str, kind: ArrayType) -> ArrayType:
        """``kind`` of an array that the loops know in rows, where it was told in one dimension."""
        rows = next((one.rows for one in self.scop.arrays if one.name == name), ())
        return replace(kind, rank=len(rows) + 1, short=()) if rows and kind.rank == 1 else kind

    def _turnable(self) -> frozenset[str]:
        """The arrays that may be handed over as their transposes."""
        return self.others.turnable if self.others is not None and self.plan.target in TURNING else frozenset()

    def _for_transposes(self, names: frozenset[str]) -> Specialiser:
        key = names, self.plan.target
        if key not in self._turned:
            assert self.others is not None
            assert self.others.turned is not None
            found = self.others.turned(*key)
            self._turned[key] = Specialiser(
                found.scop, found.dependences, found.plan, self.floating_point, found.others
            )
        return self._turned[key]

    def _fitting(self, types: Mapping[str, ArrayType], *, untested: bool) -> Program:
        cell = largest_cell(all_types(self.scop, types))
        self.plan = for_cells(self.scop, self.plan, cell)
        program = self._generated(self.plan, types, untested=untested)
        if self.others is None or not self._lost_tiles(program):
            return program
        other = self._generated(self.others.plain(self.plan.target), types, untested=untested)
        reasons = (note for note in program.notes if note not in other.notes)
        return replace(other, notes=(*reasons, *other.notes), untiled=program.untiled)

    def _generated(self, plan: Plan, types: Mapping[str, ArrayType], *, untested: bool) -> Program:
        given = replace(plan, untested=True) if untested else plan
        return generate(self.scop, given, types, self.floating_point)


def turned_on(targets: Iterable[str], scop: Scop) -> frozenset[str]:
    """The arguments of ``scop`` that all kernels for ``targets`` get as their transposes, where in Fortran order."""
    return transposable(scop) if {*targets}.issubset(TURNING) else frozenset()


def _known(kind: ArrayType, *, turned: bool) -> ArrayType:
    """``kind``, of an array in Fortran order, as generated code knows it."""
    return replace(kind, layout="C" if turned else "A")
