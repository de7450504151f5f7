"""One level of either search: test the rows of a component, keep its parallel loops and one sequential loop.

Steps a to e of Algorithm 2 of Shirako, Hayashi, Sarkar (CC 2017), which Algorithm 3 shares. Every test is logged.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from polyviz.analysis.loop_kinds import distance_of, row_maps, row_texts, witness_of
from polyviz.model.schedule import Decision
from polyviz.model.superposition import LoopVerdict
from polyviz.scheduling.superposed.parts import ParallelLoop, Scene
from polyviz.scheduling.superposed.rows import MOST_VISITS, Candidate, RowSearch

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from polyviz.analysis.loop_kinds import Distances, Term
    from polyviz.model.dependences import Violation
    from polyviz.model.scop import Scop
    from polyviz.model.superposition import Level, LineCost, LoopKind

EXPLAINED = 12
"""So many combinations of one component are logged with a pair of instances; of the rest only the numbers are."""
_SAYS: Mapping[LoopKind, str] = {
    "forall": "forall (no dependence ties its iterations)",
    "reduction": "a reduction",
    "sequential": "sequential",
    "violation": "a violation",
}


@dataclass(frozen=True, slots=True)
class Kept:
    """What one level keeps: the parallel loops in their priority, and the sequential loop if there is one."""

    parallel: tuple[ParallelLoop, ...]
    serial: Mapping[str, Term] | None

    @property
    def foralls(self) -> tuple[ParallelLoop, ...]:
        """The parallel loops that are no reductions."""
        return tuple(loop for loop in self.parallel if loop.kind == "forall")

    def serialized(self) -> Kept:
        """The same with a reduction as the sequential loop where there is no other."""
        ordered = [loop for loop in self.parallel if loop.kind == "reduction" and loop.ordered]
        if self.serial is not None or not ordered:
            return self
        return Kept(tuple(loop for loop in self.parallel if loop is not ordered[0]), ordered[0].terms)


@dataclass(slots=True)
class Workbench:
    """What a search works on, and its log; sentences ``known`` from another log are not written out again."""

    scop: Scop
    level: Level
    costs: Mapping[str, LineCost]
    known: frozenset[str] = frozenset()
    decisions: list[Decision] = field(default_factory=list)
    verdicts: list[LoopVerdict] = field(default_factory=list)

    def log(self, step: str, text: str, names: Sequence[str]) -> None:
        """Add one sentence about some statements."""
        self.decisions.append(Decision(step, f"{self.level.capitalize()} level: {text}", tuple(names)))

    def sentences(self) -> frozenset[str]:
        """What the log says of combinations, without the level."""
        prefix = f"{self.level.capitalize()} level: "
        return frozenset(one.text.removeprefix(prefix) for one in self.decisions if one.step == "combination")

    def withdraw(self, step: str, names: Sequence[str]) -> None:
        """Forget what was logged as ``step`` about some of the statements: a later decision replaces it."""
        self.decisions = [
            one for one in self.decisions if one.step != step or not set(one.statements) <= set(names)
        ]

    def rows_text(self, terms: Mapping[str, Term]) -> str:
        """A row as a person writes it: one iterator when all statements agree, else all of them."""
        texts = row_texts(self.scop, terms)
        if len(set(texts.values())) == 1:
            return next(iter(texts.values()))
        return ", ".join(f"{name}: {text}" for name, text in texts.items())

    def find_loops(self, scene: Scene) -> Kept:
        """The loops that a level keeps for one component."""
        search = RowSearch(scene, self.costs)
        candidates = search.candidates()
        self._explain(scene, candidates, search.distances)
        if search.cut:
            text = f"more than {MOST_VISITS} combinations of iterators: the search ended there."
            self.log("cut", text, scene.names)
        return _keep(candidates)

    def _explain(self, scene: Scene, candidates: Sequence[Candidate], distances: Distances) -> None:
        shown = candidates[:EXPLAINED]
        verdicts = [self._verdict(scene, candidate, distances) for candidate in shown]
        self.verdicts += verdicts
        texts = [
            _verdict_text(self.rows_text(candidate.terms), candidate, verdict)
            for candidate, verdict in zip(shown, verdicts, strict=True)
        ]
        if len(texts) > 1 and self.known.issuperset(texts):
            texts = ["the rows have the same verdicts as on the other level."]
        for text in texts:
            self.log("combination", text, scene.names)
        rest = candidates[EXPLAINED:]
        if rest:
            violations = sum(other.kind == "violation" for other in rest)
            text = f"{len(rest)} more combinations, {violations} of them violations."
            self.log("combination", text, scene.names)

    def _verdict(self, scene: Scene, candidate: Candidate, distances: Distances) -> LoopVerdict:
        spans = list(distances.spans(candidate.terms))
        return LoopVerdict(
            level=self.level,
            rows=row_texts(self.scop, candidate.terms),
            kind=candidate.kind,
            distances=tuple(distance_of(found, span) for found, span in spans),
            witness=self._witness(scene, candidate, distances),
            under=tuple(row_texts(self.scop, terms) for terms in scene.under),
        )

    def _witness(self, scene: Scene, candidate: Candidate, distances: Distances) -> Violation | None:
        if candidate.kind == "forall":
            return None
        apart = [(found, span) for found, span in distances.spans(candidate.terms) if not span.is_zero]
        wanted = [found for found, span in apart if candidate.kind != "violation" or not span.is_forward]
        # A pair that is no step of a reduction says more about why the loop is not one.
        plain = [found for found in wanted if not distances.is_reduction(found, scene.names)]
        rows = row_maps(self.scop, candidate.terms)
        return witness_of(self.scop, (plain or wanted)[0], rows, candidate.kind)


def _keep(candidates: Sequence[Candidate]) -> Kept:
    """The legal rows in their priority, each iterator used once; of the sequential ones only the first."""
    taken: set[tuple[str, int]] = set()
    parallel: list[ParallelLoop] = []
    serial = None
    for candidate in candidates:
        uses = {(name, term.iterator) for name, term in candidate.terms.items()}
        if uses & taken:
            continue
        if candidate.kind in ("forall", "reduction") and not candidate.obstacle:
            loop = ParallelLoop(
                candidate.terms,
                candidate.kind,
                candidate.weight,
                candidate.depth,
                candidate.reducing,
                candidate.ordered,
            )
            parallel.append(loop)
            taken |= uses
        elif candidate.kind != "violation" and candidate.ordered and serial is None:
            serial = candidate.terms
            taken |= uses
    return Kept(tuple(parallel), serial)


def _verdict_text(rows: str, candidate: Candidate, verdict: LoopVerdict) -> str:
    texts = dict.fromkeys(distance.text for distance in verdict.distances)
    distances = f"; distances {', '.join(texts)}" if texts else ""
    pair = f", for instance {verdict.witness.explanation}" if verdict.witness else ""
    changed = " (reversed or shifted)" if candidate.changed else ""
    obstacle = f", but {candidate.obstacle}: threads cannot share it" if candidate.obstacle else ""
    return f"row {rows}{changed} is {_SAYS[candidate.kind]}{obstacle}{distances}{pair}."
