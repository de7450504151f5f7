"""All dependences of a part: who needs what from whom."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import islpy as isl

from polyviz.analysis.accesses import ArrayAccesses, accesses_by_array
from polyviz.analysis.dataflow import Times, memory_based, value_based
from polyviz.analysis.nesting import Nest, loop_nests
from polyviz.analysis.privatization import privatization_of, within_copies
from polyviz.analysis.reductions import Reduction, find_reductions, reduction_part
from polyviz.analysis.times import maps_of, times_by_statement, union_of
from polyviz.errors import OptionError
from polyviz.model.dependences import Dependence, Dependences, Privatization

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from polyviz.model.scop import Scop

_ANALYSES = {"value": value_based, "memory": memory_based}


def dependences(scop: Scop, *, kind: Literal["value", "memory"] = "value") -> Dependences:
    """The exact dependences of ``scop``, apart by kind, array and statement pair.

    ``kind="value"`` relates neighbours: the last write to a read (flow), a read or write to the next write (anti,
    output), a read to the next read (input). ``kind="memory"`` relates every ordered pair that touches one cell.
    The order that either imposes on a schedule is the same, may accesses included. Raises ``OptionError`` for
    another ``kind``.

    Scalars that :mod:`polyviz.analysis.privatization` gives a copy per iteration constrain a schedule only inside
    each copy. Reads of scalars are left out of ``proximity``: they sit in a register wherever they are.
    """
    if kind not in _ANALYSES:
        raise OptionError(f'Dependences are of kind "value" or "memory", not {kind!r}.')
    parameters = scop.context.get_space()
    times = Times.of(times_by_statement(scop.schedule.get_map()), parameters)
    nests = loop_nests(scop.schedule)
    accesses = accesses_by_array(scop)
    relations = [found for array in accesses for found in _of_array(array, kind, times)]
    privatizations = _privatizations(scop, accesses, times, nests)
    kept = list(_after_privatization(relations, privatizations, nests))
    validity_relations = tuple(found for found in kept if found.kind != "input")
    validity = _union(validity_relations, parameters)
    return Dependences(
        kind=kind,
        relations=(*relations, *_reduction_relations(find_reductions(scop), relations)),
        privatizations=tuple(privatizations.values()),
        validity=validity,
        proximity=_union(_close_pairs(scop, kept), parameters),
        coincidence=validity,
        validity_relations=validity_relations,
    )


def _of_array(accesses: ArrayAccesses, kind: str, times: Times) -> Iterator[Dependence]:
    for name, union in _ANALYSES[kind](accesses, times).items():
        for relation in maps_of(union.coalesce()):
            source = relation.get_tuple_name(isl.dim_type.in_)
            sink = relation.get_tuple_name(isl.dim_type.out)
            yield Dependence(name, accesses.array, source, sink, relation)


def _privatizations(
    scop: Scop, accesses: Iterable[ArrayAccesses], times: Times, nests: Mapping[str, Nest]
) -> dict[str, Privatization]:
    found = (privatization_of(scop.array(array.array), array, times.forward, nests) for array in accesses)
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
    for dependence in relations:
        reused = dependence.kind == "input" and scop.array(dependence.array).rank > 0
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
        yield Dependence("reduction", reduction.array, name, name, relation.coalesce())


def _union(relations: Iterable[Dependence], parameters: isl.Space) -> isl.UnionMap:
    return union_of((dependence.relation for dependence in relations), parameters).coalesce()
