"""All dependences of a part: who needs what from whom."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal
from weakref import WeakKeyDictionary

import islpy as isl

from polyviz.analysis.accesses import ArrayAccesses, accesses_by_array, all_accesses, told_apart
from polyviz.analysis.dataflow import Found, memory_based, value_based
from polyviz.analysis.nesting import Nest, loop_nests
from polyviz.analysis.order import Order
from polyviz.analysis.privatization import privatization_of, within_copies
from polyviz.analysis.reductions import Reduction, find_reductions, reduction_part
from polyviz.analysis.times import maps_of, times_by_statement, union_of
from polyviz.errors import OptionError
from polyviz.model.dependences import Dependence, DependenceKind, Dependences, Privatization
from polyviz.model.exclusion import exclusive
from polyviz.model.isl_limits import Allowance, coalesced
from polyviz.model.scop import insist_on_part

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from polyviz.model.scop import Scop

_ANALYSES = {"value": value_based, "memory": memory_based}
# Input dependences only say what is close: they come last, when others may have used up the allowance.
_ORDERING: tuple[DependenceKind, ...] = ("flow", "anti", "output")
_BY_IMPORTANCE: tuple[DependenceKind, ...] = (*_ORDERING, "input")
_OPERATIONS = 4_000_000
_OPERATIONS_PER_REFERENCE = 20_000

FoundByArray = dict[tuple[str, DependenceKind], Found]

_analysed: WeakKeyDictionary[Scop, dict[str, _Analysis]] = WeakKeyDictionary()
"""Nobody repairs a part after it was made, and its analysis may take seconds: each is analysed once per kind."""


@exclusive
def dependences(
    scop: Scop, *, kind: Literal["value", "memory"] = "value", reuse: bool = True
) -> Dependences:
    """The exact dependences of ``scop``, apart by kind, array and statement pair.

    ``kind="value"`` relates neighbours: the last write to a read (flow), a read or write to the next write (anti,
    output), a read to the next read (input). ``kind="memory"`` relates every ordered pair that touches one cell.
    The order that either imposes on a schedule is the same, may accesses included. Raises ``OptionError`` for
    another ``kind``.

    The analysis has an allowance of isl operations. Where it ends, ``notes`` says which arrays keep more pairs than
    the neighbours; the order imposed is still the same.

    Scalars that :mod:`polyviz.analysis.privatization` gives a copy per iteration constrain a schedule only inside
    each copy. Reads of scalars are left out of ``proximity``: they sit in a register wherever they are.

    ``reuse=False`` is for who asks what orders the part and for nothing else: input dependences, which take most of
    the time, are found when somebody wants them.

    The answer is kept as long as ``scop`` lives, and given again to whoever asks for the same.
    """
    insist_on_part(scop, "dependences")
    if kind not in _ANALYSES:
        raise OptionError(f'Dependences are of kind "value" or "memory", not {kind!r}.')
    known = _analysed.setdefault(scop, {})
    if kind not in known:
        known[kind] = _Analysis.begun(scop, kind)
    return known[kind].answer(scop, reuse=reuse)


@dataclass(slots=True)
class _Analysis:
    """The analysis of one part, kind by kind of dependence; nothing here keeps the part alive."""

    kind: Literal["value", "memory"]
    order: Order
    nests: Mapping[str, Nest]
    accesses: tuple[ArrayAccesses, ...]
    allowance: Allowance
    privatizations: Mapping[str, Privatization]
    found: FoundByArray = field(default_factory=dict, init=False)
    answers: dict[bool, Dependences] = field(default_factory=dict, init=False)

    @classmethod
    def begun(cls, scop: Scop, kind: Literal["value", "memory"]) -> _Analysis:
        order = Order(times_by_statement(scop.schedule.get_map()), scop.context.get_space())
        nests = loop_nests(scop.schedule)
        accesses = tuple(accesses_by_array(told_apart(scop)))
        privatizations = _privatizations(scop, accesses, order, nests)
        return cls(kind, order, nests, accesses, allowance_for(accesses), privatizations)

    def answer(self, scop: Scop, *, reuse: bool) -> Dependences:
        """What is wanted, or more where more is known."""
        if True not in self.answers and reuse not in self.answers:
            self._find(_BY_IMPORTANCE if reuse else _ORDERING)
            self.answers[reuse] = self._told(scop)
        return self.answers.get(True) or self.answers[reuse]

    def _find(self, kinds: Iterable[DependenceKind]) -> None:
        analyse = _ANALYSES[self.kind]
        for name in kinds:
            for array in self.accesses:
                if (array.array, name) not in self.found:
                    self.found[array.array, name] = analyse(name, array, self.order, self.allowance)

    def _told(self, scop: Scop) -> Dependences:
        found, privatizations, parameters = self.found, self.privatizations, self.order.parameters
        relations = [dependence for array in self.accesses for dependence in _of_array(array.array, found)]
        kept = list(_after_privatization(relations, privatizations, self.nests))
        validity_relations = tuple(dependence for dependence in kept if dependence.kind != "input")
        validity = _union(validity_relations, parameters)
        return Dependences(
            kind=self.kind,
            relations=(*relations, *_reduction_relations(find_reductions(scop), relations)),
            privatizations=tuple(privatizations.values()),
            validity=validity,
            proximity=_union(_close_pairs(scop, kept), parameters),
            coincidence=validity,
            validity_relations=validity_relations,
            notes=tuple(_notes(found)),
        )


def allowance_for(accesses: Iterable[ArrayAccesses]) -> Allowance:
    """What an analysis of ``accesses`` may spend: about two seconds for a part of ordinary size."""
    references = sum(len(array.read_references) + len(array.write_references) for array in accesses)
    return Allowance(_OPERATIONS + references * _OPERATIONS_PER_REFERENCE)


def _of_array(array: str, found: FoundByArray) -> Iterator[Dependence]:
    for name in _BY_IMPORTANCE:
        if (array, name) not in found:
            continue
        for relation in maps_of(found[array, name].relation):
            source = relation.get_tuple_name(isl.dim_type.in_)
            sink = relation.get_tuple_name(isl.dim_type.out)
            tidy = coalesced(relation)
            if not tidy.plain_is_empty():
                yield Dependence(name, array, source, sink, tidy)


def _notes(found: FoundByArray) -> Iterator[str]:
    ordered = _inexact(found, _ORDERING)
    if ordered:
        yield (
            f"The exact analysis of {ordered} would take too long: some pairs of accesses stay ordered although a "
            "write between them already orders both; what is legal does not change."
        )
    reused = _inexact(found, ("input",))
    if reused:
        yield f"Not every reuse of values read from {reused} is known: the exact analysis would take too long."


def _inexact(found: FoundByArray, kinds: tuple[DependenceKind, ...]) -> str:
    names = dict.fromkeys(
        f"`{array}`" for (array, kind), part in found.items() if kind in kinds and not part.exact
    )
    return ", ".join(names)


def _privatizations(
    scop: Scop,
    accesses: Iterable[ArrayAccesses],
    order: Order,
    nests: Mapping[str, Nest],
) -> dict[str, Privatization]:
    scalars = [array for array in accesses if scop.array(array.array).rank == 0]
    allowance = allowance_for(scalars)
    found = (privatization_of(scop.array(array.array), array, order, nests, allowance) for array in scalars)
    return {privatization.array: privatization for privatization in found if privatization is not None}


def _after_privatization(
    relations: Iterable[Dependence], privatizations: Mapping[str, Privatization], nests: Mapping[str, Nest]
) -> Iterator[Dependence]:
    for dependence in relations:
        privatization = privatizations.get(dependence.array)
        kept = dependence if privatization is None else within_copies(dependence, privatization, nests)
        if kept is not None:
            yield kept


def _close_pairs(scop: Scop, relations: Iterable[Dependence]) -> Iterator[Dependence]:
    # How linearised subscripts walk through memory no schedule is told: reuse of what is read would outweigh it.
    blind = {statement.name for statement, one in all_accesses(scop) if one.apart is not None and not one.exact}
    for dependence in relations:
        reused = dependence.kind == "input" and scop.array(dependence.array).rank > 0
        reused = reused and dependence.sink not in blind
        if dependence.kind == "flow" or reused:
            yield dependence


def _reduction_relations(
    reductions: Iterable[Reduction], relations: Iterable[Dependence]
) -> Iterator[Dependence]:
    """The steps of each reduction; a copy of what the other kinds hold, so that it can be relaxed by name."""
    for reduction in reductions:
        parts = [reduction_part(reduction, dependence) for dependence in relations]
        steps = [part for part in parts if part is not None]
        if not steps:
            continue
        relation = steps[0]
        for step in steps[1:]:
            relation = relation.union(step)
        name = reduction.statement
        yield Dependence("reduction", reduction.array, name, name, coalesced(relation))


def _union(relations: Iterable[Dependence], parameters: isl.Space) -> isl.UnionMap:
    return coalesced(union_of((dependence.relation for dependence in relations), parameters))
