"""The parts of the engine: cones against enumeration, independence, components, a scheduler made of them."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, ClassVar

import islpy as isl
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from polyviz.analysis import dependences
from polyviz.scheduling import Proposal, SchedulingProblem, isl_scheduler, register_scheduler, schedule
from polyviz.scheduling.band_search import (
    BandState,
    FoundRow,
    Workbench,
    find_band,
    requirements,
    solve_row,
)
from polyviz.scheduling.carrying import CarryingRows
from polyviz.scheduling.choice import chosen_row
from polyviz.scheduling.closeness import CloseRows
from polyviz.scheduling.clusters import Cluster
from polyviz.scheduling.components import components
from polyviz.scheduling.engine import Engine, run_engine
from polyviz.scheduling.farkas import CONE_OPERATIONS, Cone, ConeTable, cone_of
from polyviz.scheduling.fusion import FusionRule
from polyviz.scheduling.graph import DependenceGraph, Edge, Node
from polyviz.scheduling.independence import complement, rank
from polyviz.scheduling.pieces import by_distance, convex_pieces, distances
from polyviz.scheduling.program import SolveLimitError
from polyviz.scheduling.registry import unregister_scheduler
from polyviz.scheduling.row_problem import RowProblem
from polyviz.scheduling.rows import AffineRow, composed, multi_affine
from tests.scheduling import kernels

if TYPE_CHECKING:
    from collections.abc import Iterator

    from polyviz.model.scop import Scop

FACTOR = st.integers(-2, 2)


def graph_of(part: kernels.Scop) -> DependenceGraph:
    return DependenceGraph.of(SchedulingProblem(part, dependences(part)))


@given(st.tuples(st.integers(-4, 4), FACTOR, FACTOR))
def test_a_form_is_in_the_cone_exactly_when_it_is_never_negative(form: tuple[int, int, int]) -> None:
    """The corners of a triangle decide."""
    cone = cone_of(isl.BasicMap("{ S[i] -> R[j] : 0 <= i <= 3 and i <= j <= 3 }"))
    constant, of_source, of_sink = form
    inside = bool(
        (cone.inequalities @ np.array(form) >= 0).all() and (cone.equalities @ np.array(form) == 0).all()
    )
    corners = [(0, 0), (0, 3), (3, 3)]
    assert inside == all(constant + of_source * i + of_sink * j >= 0 for i, j in corners)


def test_equalities_of_a_relation_leave_its_cone_unbounded() -> None:
    cone = cone_of(isl.BasicMap("{ S[i] -> R[j] : j = i }"))
    assert cone.equalities.tolist() in ([[0, 1, 1]], [[0, -1, -1]])


@given(st.lists(st.tuples(FACTOR, FACTOR, FACTOR), max_size=3), st.tuples(FACTOR, FACTOR, FACTOR))
def test_a_row_depends_on_others_exactly_when_it_is_orthogonal_to_their_complement(
    rows: list[tuple[int, int, int]], new: tuple[int, int, int]
) -> None:
    orthogonal = all(
        sum(a * b for a, b in zip(new, vector, strict=True)) == 0 for vector in complement(rows, 3)
    )
    assert orthogonal == (rank([*rows, new]) == rank(rows))
    assert len(complement(rows, 3)) == 3 - rank(rows)


def test_components_follow_the_dependences_then_the_source() -> None:
    assert components(graph_of(kernels.jacobi_1d())) == [("S", "R")]
    assert components(graph_of(kernels.two_products())) == [("S1",), ("S2",), ("S3",), ("S4",)]
    feeding_back = kernels.scop(
        "n",
        kernels.loop("i", "S1"),
        kernels.loop("i", "S2"),
        S1=kernels.statement("0 <= i < n", writes="A[i]"),
        S2=kernels.statement("0 <= i < n", writes="B[i]"),
    )
    assert components(graph_of(feeding_back)) == [("S1",), ("S2",)]


def test_carried_pairs_leave_the_graph() -> None:
    graph = graph_of(kernels.jacobi_1d())
    found = FoundRow({name: AffineRow((1, 0), (0, 0), 0) for name in graph.names}, "close", False, {})
    inside = graph.after([found])
    assert {(edge.source, edge.sink) for edge in graph.validity} >= {("S", "R"), ("R", "S")}
    assert {(edge.source, edge.sink) for edge in inside.validity} == {("S", "R")}
    assert inside.nodes[0].rows == (found.rows["S"],)
    assert inside.around == (found,)


@given(
    st.lists(st.tuples(FACTOR, FACTOR), min_size=1, max_size=2), st.tuples(FACTOR, FACTOR), st.integers(-3, 3)
)
def test_composed_rows_compute_the_same(
    rows: list[tuple[int, int]], outer: tuple[int, int], constant: int
) -> None:
    inner = [AffineRow(row, (1,), position) for position, row in enumerate(rows)]
    top = AffineRow(outer[: len(rows)], (2,), constant)
    direct = composed(top, inner)
    for i, j, n in product(range(-1, 2), repeat=3):
        values = [row.iterators[0] * i + row.iterators[1] * j + n + row.constant for row in inner]
        expected = sum(a * b for a, b in zip(top.iterators, values, strict=True)) + 2 * n + constant
        actual = (
            direct.iterators[0] * i + direct.iterators[1] * j + direct.parameters[0] * n + direct.constant
        )
        assert actual == expected


def test_rows_become_functions_with_parameters() -> None:
    space = isl.Set("[n, m] -> { S[i, j] }").get_space()
    function = multi_affine([AffineRow((1, -2), (0, 3), 4), AffineRow((0, 0), (0, 0), 0)], space)
    expected = isl.Map("[n, m] -> { S[i, j] -> [i - 2j + 3m + 4, 0] }")
    assert isl.Map.from_multi_aff(function).is_equal(expected)


STAR = (
    "{ S[i, j] -> R[k, l] : 0 <= i, j, k, l < 99 and -1 <= k - i + l - j <= 1 and -1 <= k - i - l + j <= 1 }"
)


def test_pieces_by_distance_cover_the_relation() -> None:
    piece = isl.Map(STAR).get_basic_map_list().get_at(0)
    parts = by_distance(piece)
    assert parts is not None
    assert len(parts) == 5
    union = isl.Map.from_basic_map(parts[0])
    for part in parts[1:]:
        union = union.union(isl.Map.from_basic_map(part))
    assert union.is_equal(isl.Map.from_basic_map(piece))


def test_simple_relations_and_those_of_any_distance_stay_whole() -> None:
    assert by_distance(isl.BasicMap("[n] -> { S[i] -> S[j] : 0 <= i < j < n }")) is None
    assert by_distance(isl.BasicMap("{ S[i] -> R[j, k] : j = i and k = 0 and 0 <= i < 3 }")) is None
    assert len(convex_pieces(isl.Map("{ S[i] -> S[j] : 0 <= i < 9 and i < j <= i + 2 }"))) == 1


def test_distances_without_an_end_in_sight_are_not_counted_point_by_point() -> None:
    """A million of them, one dimension at a time."""
    wide = isl.BasicMap("{ S[i, j] -> S[k, l] : 0 <= i < k < 1000 and 0 <= j < l < 1000 }")
    assert distances(wide) is None


def test_carrying_what_each_statement_needs_does_not_space_them_out() -> None:
    state = BandState(graph_of(kernels.jacobi_2d()))
    together = CarryingRows().next_row(state, Workbench())
    apart = CarryingRows(own_first=True).next_row(state, Workbench())
    assert together is not None
    assert apart is not None
    assert {name: row.iterators[0] for name, row in together.rows.items()} == {"S": 2, "R": 2}
    assert {name: row.iterators[0] for name, row in apart.rows.items()} == {"S": 1, "R": 1}


def test_a_limit_on_the_search_is_an_error_for_the_caller() -> None:
    graph = graph_of(kernels.matmul()).only(["R"])
    workbench = Workbench()
    workbench.budget.remaining = 1
    problem = RowProblem(graph.nodes, workbench.cones)
    problem.legality(graph.validity)
    problem.minimise("one", problem.nodes["R"].positive)
    with pytest.raises(SolveLimitError):
        solve_row(problem, requirements(problem, graph), workbench)


def test_without_steps_left_isl_decides_and_it_is_said() -> None:
    part = kernels.jacobi_1d()
    proposal = _without_steps(part)
    assert proposal.tree.get_map().is_equal(schedule(part, "isl").tree.get_map())
    fallback, last = proposal.decisions[-2:]
    assert fallback.step == "fallback"
    assert fallback.text == (
        "Not this search but the scheduler of isl was used: no row that respects all dependences of S, R was found "
        "(the search reached its limit)."
    )
    assert last.step == "isl"


def test_where_isl_needs_too_long_as_well_the_source_order_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(isl_scheduler, "QUICK_OPERATIONS", 10)
    monkeypatch.setattr(isl_scheduler, "schedule_within", lambda *_: None)
    part = kernels.jacobi_1d()
    proposal = _without_steps(part)
    assert proposal.tree.plain_is_equal(part.schedule)
    assert proposal.decisions[-1].details == {
        "failed": "isl",
        "instead": "the order of the source",
        "reason": "isl found no schedule within 3 s",
    }


def _without_steps(part: Scop) -> Proposal:
    engine = Engine(Simplest(), FusionRule("none", Simplest()))
    engine.workbench.budget.remaining = 0
    return run_engine(engine, SchedulingProblem(part, dependences(part)))


def test_fusion_leaves_steps_for_what_comes_after_it() -> None:
    workbench = Workbench()
    workbench.budget.remaining = 10
    with workbench.half() as part:
        part.budget.spend(2)
    assert workbench.budget.remaining == 8


def test_fusion_stops_at_its_limit_and_says_so() -> None:
    part = kernels.pointwise_chain()
    graph = graph_of(part)
    rule = CloseRows()
    clusters = [
        Cluster((name,), find_band(graph.only([name]), rule, Workbench()).found) for name in graph.names
    ]
    nothing_left = Workbench()
    nothing_left.budget.remaining = 0
    fused, decisions = FusionRule("smart", rule).fuse(clusters, graph, nothing_left)
    assert fused == clusters
    assert [decision.step for decision in decisions] == ["limit"]


HARD = isl.BasicMap(
    "[n, m, q] -> { S[i, j, k, l] -> S[i', j', k', l'] : i' = -m + q + l and -1 + m <= j < i and k < j and 3k > n "
    "and l > m - q + i and 0 <= l <= -3 + k and l < m and -1 + m <= j' < -m + q + l "
    "and j' < n + m - q - l and k' < j' and 0 <= l' <= -3 + k' }"
)


def test_a_cone_that_takes_too_long_is_that_of_a_larger_relation() -> None:
    cone = cone_of(HARD)
    assert not cone.exact
    # l > m - q + i and i' = -m + q + l: the row i goes forward, and what is left of the relation still says so.
    forward = np.array([-1, 0, 0, 0, -1, 0, 0, 0, 1, 0, 0, 0])
    assert (cone.inequalities @ forward >= 0).all()
    assert (cone.equalities @ forward == 0).all()


def test_where_several_cones_took_too_long_the_next_are_given_up_sooner(monkeypatch: pytest.MonkeyPatch) -> None:
    given = []

    def too_long(_: isl.BasicMap, operations: int) -> Cone:
        given.append(operations)
        return Cone(np.zeros((0, 2), np.int64), np.zeros((0, 2), np.int64), exact=False)

    monkeypatch.setattr("polyviz.scheduling.farkas.cone_of", too_long)
    table = ConeTable()
    for distance in range(6):
        table.cones(isl.Map(f"{{ S[i] -> S[i + {distance}] : 0 <= i <= 9 }}"))
    assert given[:4] == [CONE_OPERATIONS] * 4
    assert max(given[4:]) < CONE_OPERATIONS
    assert table.inexact == 6


def test_an_inexact_cone_restricts_rows_but_bounds_no_distance() -> None:
    relation = isl.Map.from_basic_map(HARD)
    node = Node("S", 0, relation.domain().union(relation.range()))
    edge = Edge("S", "S", relation)
    graph = DependenceGraph((node,), (edge,), (edge,), (edge,))
    workbench = Workbench()
    row = CloseRows().next_row(BandState(graph), workbench)
    assert row is not None
    assert workbench.cones.inexact == 1
    assert (row.objectives["bound per parameter"], row.objectives["bound"]) == (0, 0)


@dataclass(frozen=True)
class Simplest:
    """Row rule: the legal row with the smallest coefficients, whatever the distances."""

    def next_row(self, state: BandState, workbench: Workbench) -> FoundRow | None:
        problem = RowProblem(state.graph.nodes, workbench.cones)
        problem.legality(state.graph.validity)
        problem.minimise_iterators()
        try:
            return chosen_row(problem, state, workbench)
        except SolveLimitError:
            return None


@pytest.fixture
def simplest() -> Iterator[str]:
    @register_scheduler("simplest")
    @dataclass(frozen=True)
    class SimplestScheduler:
        """The smallest coefficients that are legal."""

        name: ClassVar[str] = "simplest"

        def run(self, problem: SchedulingProblem) -> Proposal:
            return run_engine(Engine(Simplest(), FusionRule("none", Simplest())), problem)

    yield "simplest"
    unregister_scheduler("simplest")


@pytest.mark.parametrize("kernel", kernels.KERNELS)
def test_a_scheduler_of_ones_own_from_the_parts(simplest: str, kernel: str) -> None:
    result = schedule(kernels.KERNELS[kernel](), simplest)
    assert result.scheduler == simplest
    assert all(band.permutable for band in result.bands)


def test_its_rows_are_what_it_asked_for(simplest: str) -> None:
    (band,) = schedule(kernels.seidel_2d(), simplest).bands
    assert [member.rows["S"] for member in band.members] == ["t", "t + i", "2t + i + j"]
