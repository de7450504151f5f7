"""From schedule trees to loops: every instance once, in order, with marks where they belong."""

from __future__ import annotations

from typing import TYPE_CHECKING

import islpy as isl
import pytest

import polyviz as pv
from polyviz.codegen import scan
from polyviz.codegen.device_loops import kernel_loops
from polyviz.codegen.loops import (
    LOOP_PREFIX,
    Block,
    For,
    If,
    Instance,
    LoopNode,
    TileBody,
    descendants,
    plus_one,
)
from polyviz.codegen.scan import EndlessLoopsError, condition_of_set, scan_order, scan_schedule
from polyviz.model.expression import Binary, Call, Constant, Expression, Name, Unary
from polyviz.runtime.evaluate import evaluate

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

Visit = tuple[str, tuple[int, ...]]


def tree(domain: str, rows: str, child: str = "") -> isl.Schedule:
    inner = f", child: {child}" if child else ""
    return isl.Schedule(f'{{ domain: "{domain}", child: {{ schedule: "{rows}"{inner} }} }}')


def scanned(schedule: isl.Schedule) -> LoopNode:
    return scan_schedule(schedule, isl.Set("[n] -> { : }"))


def visits(node: LoopNode, values: Mapping[str, int]) -> Iterator[Visit]:
    """The instances that the loops run, in order."""
    match node:
        case Block(children):
            for child in children:
                yield from visits(child, values)
        case For(iterator, start, stop, step, body):
            for value in range(evaluate(start, values), evaluate(stop, values), step):
                yield from visits(body, {**values, iterator: value})
        case If(condition, then, otherwise):
            chosen = then if evaluate(condition, values) else otherwise
            if chosen is not None:
                yield from visits(chosen, values)
        case TileBody():
            yield from visits(node.body, values)
        case Instance(statement, arguments):
            yield statement, tuple(evaluate(argument, values) for argument in arguments)


def expected(schedule: isl.Schedule, n: int) -> list[Visit]:
    """The instances in the order of their times, by enumeration."""
    timed: list[tuple[tuple[int, ...], Visit]] = []
    size = isl.Set(f"[n] -> {{ : n = {n} }}")
    fixed = schedule.get_map().intersect_domain(schedule.get_domain()).intersect_params(size)

    def visit(point: isl.Point) -> None:
        instance, time = point_pair(point)
        timed.append((time, instance))

    fixed.wrap().foreach_point(visit)
    return [instance for _, instance in sorted(timed)]


def point_pair(point: isl.Point) -> tuple[Visit, tuple[int, ...]]:
    pair = isl.Set.from_point(point).unwrap()
    (name, source), (_, time) = (coordinates(part) for part in (pair.domain(), pair.range()))
    return (name, source), time


def coordinates(part: isl.Set) -> tuple[str, tuple[int, ...]]:
    count = part.dim(isl.dim_type.set)
    name = part.get_tuple_name() if part.has_tuple_name() else ""
    return str(name), tuple(part.dim_min_val(position).to_python() for position in range(count))


SQUARE = "[n] -> { S[i, j] : 0 <= i, j < n }"
TREES = {
    "source order": tree(SQUARE, "[n] -> [{ S[i, j] -> [(i)] }, { S[i, j] -> [(j)] }]"),
    "interchanged": tree(SQUARE, "[n] -> [{ S[i, j] -> [(j)] }, { S[i, j] -> [(i)] }]"),
    "reversed": tree(SQUARE, "[n] -> [{ S[i, j] -> [(-i)] }, { S[i, j] -> [(j)] }]"),
    "skewed": tree(SQUARE, "[n] -> [{ S[i, j] -> [(i + j)] }, { S[i, j] -> [(j)] }]"),
    "scaled": tree(SQUARE, "[n] -> [{ S[i, j] -> [(3i)] }, { S[i, j] -> [(2j + i)] }]"),
    "triangle": tree("[n] -> { S[i, j] : 0 <= i <= j < n }", "[n] -> [{ S[i, j] -> [(j)] }, { S[i, j] -> [(i)] }]"),
    "stride": tree("[n] -> { S[i] : 0 <= i < n and i mod 3 = 1 }", "[n] -> [{ S[i] -> [(i)] }]"),
    "holes": tree("[n] -> { S[i] : 0 <= i < n and (i <= 2 or i >= 5) }", "[n] -> [{ S[i] -> [(i)] }]"),
    "tiles": tree(
        SQUARE,
        "[n] -> [{ S[i, j] -> [(3*floor((i)/3))] }, { S[i, j] -> [(2*floor((j)/2))] }]",
        '{ schedule: "[n] -> [{ S[i, j] -> [(i)] }, { S[i, j] -> [(j)] }]" }',
    ),
    "two statements": tree(
        "[n] -> { S[i] : 0 <= i < n; T[i] : 1 <= i <= n }",
        "[n] -> [{ S[i] -> [(i)]; T[i] -> [(i)] }]",
        '{ sequence: [ { filter: "[n] -> { S[i] }" }, { filter: "[n] -> { T[i] }" } ] }',
    ),
}


@pytest.mark.parametrize("size", [0, 1, 2, 5, 7])
@pytest.mark.parametrize("name", TREES)
def test_every_instance_once_and_in_order(name: str, size: int) -> None:
    assert list(visits(scanned(TREES[name]), {"n": size})) == expected(TREES[name], size)


def test_loop_variables_can_equal_no_name_of_the_source() -> None:
    schedule = isl.Schedule(
        '{ domain: "[c0] -> { S[i] : 0 <= i < c0 }", child: { schedule: "[c0] -> [{ S[i] -> [(i)] }]" } }'
    )
    loops = [node for node in descendants(scan_schedule(schedule, isl.Set("[c0] -> { : }"))) if isinstance(node, For)]
    assert [loop.iterator for loop in loops] == [f"{LOOP_PREFIX}0"]
    assert loops[0].stop == Name("c0")
    assert not LOOP_PREFIX.isidentifier()


def marked(name: str, domain: str = SQUARE) -> list[For]:
    inner = '{ mark: "end", child: { schedule: "[n] -> [{ S[i, j] -> [(j)] }]" } }'
    alone = f'{{ schedule: "[n] -> [{{ S[i, j] -> [(i)] }}]", child: {inner} }}'
    schedule = isl.Schedule(f'{{ domain: "{domain}", child: {{ mark: "{name}", child: {alone} }} }}')
    return [node for node in descendants(scanned(schedule)) if isinstance(node, For)]


def test_marks_reach_the_loop_below_them_and_no_other() -> None:
    assert [bool(loop.parallel) for loop in marked("parallel:0")] == [True, False]
    assert [loop.vector for loop in marked("vector")] == [True, False]
    assert [bool(loop.parallel) or loop.vector for loop in marked("something else")] == [False, False]


def test_a_mark_whose_loop_is_not_written_marks_nothing() -> None:
    loops = marked("parallel:0", "[n] -> { S[i, j] : i = 0 and 0 <= j < n }")
    inner = [loop for loop in loops if loop.stop == Name("n")]
    assert len(inner) == 1
    assert not inner[0].parallel


@pytest.mark.parametrize("text", ["i = 0", "i >= 3 or i < 1", "i mod 2 = 1", "2 <= i < n - 1", "i = n - 1", "false"])
def test_conditions_hold_exactly_on_their_set(text: str) -> None:
    instances = isl.Set(f"[n] -> {{ S[i] : {text} }}")
    condition = condition_of_set(instances, isl.Set("[n] -> { : }"))
    for n in range(6):
        for i in range(6):
            point = isl.Set(f"[n] -> {{ S[i] : i = {i} and n = {n} }}")
            assert bool(evaluate(condition, {"n": n, "i": i})) is point.is_subset(instances)


@pytest.mark.parametrize(
    ("bound", "written"),
    [
        (Constant(3), Constant(4)),
        (Binary("-", Name("n"), Constant(1)), Name("n")),
        (Binary("-", Name("n"), Constant(3)), Binary("-", Name("n"), Constant(2))),
        (Binary("+", Name("n"), Constant(3)), Binary("+", Name("n"), Constant(4))),
        (Unary("-", Name("n")), Binary("-", Constant(1), Name("n"))),
        (Name("n"), Binary("+", Name("n"), Constant(1))),
        (Call("min", (Name("n"), Constant(7))), Call("min", (Binary("+", Name("n"), Constant(1)), Constant(8)))),
    ],
)
def test_one_more_as_a_person_writes_it(bound: Expression, written: Expression) -> None:
    assert plus_one(bound) == written


def test_what_isl_cannot_scan_is_a_codegen_error() -> None:
    unbounded = isl.Schedule(
        '{ domain: "{ S[i] : exists k : i = 2k }", child: { schedule: "[{ S[i] -> [(i)] }]" } }'
    )
    with pytest.raises(pv.CodegenError, match="isl could not generate loops"):
        scan_schedule(unbounded, isl.Set("{ : }"))


def test_what_uses_a_temporary_stays_in_its_loop() -> None:
    """isl would take T, which runs in the last iteration only, out of the loop and away from the copy it reads."""
    sequence = '{ sequence: [{ filter: "{ S[i] }" }, { filter: "{ T[i] }" }] }'
    schedule = tree(
        "{ S[i] : 0 <= i < 9; T[i] : i = 8 }",
        "[{ S[i] -> [i]; T[i] -> [i] }]",
        f'{{ mark: "local:s", child: {sequence} }}',
    )
    loops = scanned(schedule)
    assert list(visits(loops, {"n": 1})) == expected(schedule, 1)
    declaring = [node for node in descendants(loops) if isinstance(node, Block) and node.declares]
    assert len(declaring) == 1


def test_isl_gets_more_time_where_one_thread_runs_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    """No order is simpler than that one, while wavefronts can be given up."""

    def recurrence(A: object) -> None:
        for i in range(1, A.shape[0]):  # type: ignore[attr-defined]
            A[i] = A[i - 1] + A[i]  # type: ignore[index]

    def fronts(A: object) -> None:
        for i in range(1, A.shape[0]):  # type: ignore[attr-defined]
            for j in range(1, A.shape[0]):  # type: ignore[attr-defined]
                A[i, j] = A[i - 1, j] + A[i, j - 1]  # type: ignore[index]

    alone, parallel = (pv.compile(one, schedule="pluto", target="emulated") for one in (recurrence, fronts))
    assert any(decision.step == "wavefront" for decision in parallel.plan.decisions)
    monkeypatch.setattr(scan, "_OPERATIONS", 10)
    loops = [descendants(one) for one in kernel_loops(alone.scop, alone.plan, [frozenset()], trees=True)]
    assert any(isinstance(node, For) for nodes in loops for node in nodes)
    with pytest.raises(EndlessLoopsError):
        kernel_loops(parallel.scop, parallel.plan, [frozenset()], trees=True)


def test_parameters_of_the_context_may_come_in_another_order() -> None:
    """isl would write `t % 2` for one `block % 2`: the number of the parameter in the other order."""
    order = isl.UnionMap(
        "[t, n, block] -> { S[j] -> [j] : (j - t) mod 16 = 0 and 8block <= j < 8block + 8 and j < n }"
    )
    context = isl.Set("[block, n, t] -> { : 0 <= t < 16 and block >= 0 and 8block < n }")
    loops = scan_order(order, context)
    for t in range(16):
        for block in range(3):
            found = [values for _, values in visits(loops, {"t": t, "n": 19, "block": block})]
            wanted = range(8 * block, min(8 * block + 8, 19))
            assert found == [(j,) for j in wanted if (j - t) % 16 == 0]
