"""Every move by its name: what it makes of the loops, that the program still computes the same, and what is refused."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import polyviz as pv
from polyviz.editing.differences import same_order
from tests.editing.kernels import CHAIN, GEMM, JACOBI, PLAIN, edit, runs_like_the_original

if TYPE_CHECKING:
    from collections.abc import Callable

Call = tuple[str, str | None, dict[str, Any]]
LEGAL: dict[str, tuple[str, Call]] = {
    "interchange": (GEMM, ("interchange", "S1", {"order": ("j", "k")})),
    "reversal": (GEMM, ("reversal", "i", {})),
    "reversal of one statement": (GEMM, ("reversal", "S0.j", {})),
    "shift": (GEMM, ("shift", "i", {"amount": "n_1", "statements": "S1"})),
    "skew": (GEMM, ("skew", "S1.j", {"by": "k", "factor": 3})),
    "skew by a loop outside the nest": (GEMM, ("skew", "S0.j", {"by": "i", "factor": -2})),
    "scale": (GEMM, ("scale", "k", {"factor": 3})),
    "tile": (GEMM, ("tile", "k", {"sizes": (4, 5)})),
    "tile one loop": (GEMM, ("tile", "i", {"sizes": (4,)})),
    "strip-mine": (GEMM, ("strip-mine", "k", {"size": 4})),
    "coalesce": (PLAIN, ("coalesce", "i", {})),
    "distribute": (GEMM, ("distribute", "i", {})),
    "sink": (GEMM, ("sink", None, {"child": "S0", "into": "S1", "point": 0})),
    "split": (GEMM, ("split", "k", {"point": "floor(n_2/2)"})),
    "split at a number": (GEMM, ("split", "i", {"point": 4})),
    "peel": (GEMM, ("peel", "k", {})),
    "peel the end": (GEMM, ("peel", "i", {"count": 2, "side": "last"})),
    "unroll": (GEMM, ("unroll", "S1.j", {"factor": 4})),
    "unroll completely": (PLAIN, ("unroll", "j", {"factor": 7})),
    "unroll-and-jam": (GEMM, ("unroll-and-jam", "k", {"factor": 4})),
    "wavefront": (GEMM, ("wavefront", "k", {})),
    "parallel": (GEMM, ("parallel", "i", {})),
    "vector": (GEMM, ("vector", "S1.j", {})),
}


def rewritten(text: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """Sizes by the names that the front end gave them: ``n_1`` is the second one."""
    names = [parameter.name for parameter in edit(text).scop.parameters]

    def word(value: Any) -> Any:
        for place, name in enumerate(names):
            value = value.replace(f"n_{place}", name) if isinstance(value, str) else value
        return value

    return {key: word(value) for key, value in arguments.items()}


@pytest.mark.thinned(3)
@pytest.mark.parametrize("case", LEGAL)
def test_a_legal_move_keeps_the_result(case: str, golden: Callable[..., None]) -> None:
    text, (name, at, arguments) = LEGAL[case]
    edited = edit(text).apply(name, at, **rewritten(text, arguments))
    kernel = runs_like_the_original(text, edited)
    loops = "\n".join(line for line in kernel.source.splitlines() if "# line" in line or "for " in line)
    golden(f"{edited.script()}\n{loops}")


def test_every_move_is_tried_here() -> None:
    assert {call[0] for _, call in LEGAL.values()} | {"fuse", "reorder", "rows"} == set(pv.moves())


def test_fusion_after_a_shift() -> None:
    shifted = edit(JACOBI).apply("skew", "S0.i", by="t", factor=2).apply("skew", "S1.i", by="t", factor=2)
    fused = shifted.apply("shift", "S1.i", amount=1).apply("fuse", children=("S0", "S1"))
    assert fused.loops == ("t", "i")
    runs_like_the_original(JACOBI, fused)
    assert pv.check(fused.scop, fused.schedule)
    tiled = fused.apply("tile", "t", sizes=(3, 4))
    runs_like_the_original(JACOBI, tiled)


def test_reordering_what_does_not_depend_on_each_other() -> None:
    text = """
def two(A, B):
    for i in range(A.shape[0]):
        A[i, 0] = i
    for i in range(len(B)):
        B[i] = i
"""
    changed = edit(text).apply("reorder", order=("S1", "S0"))
    assert "The order is S1, then S0." in [decision.text for decision in changed.schedule.decisions]
    assert pv.check(changed.scop, changed.schedule)


def test_rows_as_written() -> None:
    changed = edit(CHAIN).apply("rows", "i", rows=("{ S0[i, j] -> [(-i)] }",))
    assert changed.schedule.map.is_equal(edit(CHAIN).apply("reversal", "i").schedule.map)
    runs_like_the_original(CHAIN, changed)


ILLEGAL: dict[str, tuple[str, Call]] = {
    "reversal": (CHAIN, ("reversal", "j", {})),
    "shift": (GEMM, ("shift", "i", {"amount": -1, "statements": "S1"})),
    "skew": (JACOBI, ("skew", "t", {"by": "S0.i", "statements": "S0"})),
    "distribute": (JACOBI, ("distribute", "t", {})),
    "distribute backwards": (GEMM, ("distribute", "i", {"groups": (("S1",), ("S0",))})),
    "fuse": (JACOBI, ("fuse", None, {"children": ("S0", "S1")})),
    "reorder": (JACOBI, ("reorder", None, {"order": ("S1", "S0")})),
    "sink": (GEMM, ("sink", None, {"child": "S0", "into": "S1", "point": 1})),
    "scale": (JACOBI, ("scale", "t", {"statements": "S0"})),
    "rows": (CHAIN, ("rows", "j", {"rows": ("{ S0[i, j] -> [(-j)] }",)})),
    "parallel": (CHAIN, ("parallel", "j", {})),
    "vector": (GEMM, ("vector", "k", {})),
}


@pytest.mark.parametrize("case", ILLEGAL)
def test_an_illegal_move_names_the_pair_and_changes_nothing(case: str, golden: Callable[..., None]) -> None:
    text, (name, at, arguments) = ILLEGAL[case]
    before = edit(text)
    with pytest.raises(pv.LegalityError) as error:
        before.apply(name, at, **arguments)
    assert before.history == ()
    (violation, *_) = before.check(name, at, **arguments).violations
    assert violation.explanation[:1].upper() + violation.explanation[1:] == error.value.reason
    assert before.why_not(name, at, **arguments) == f"{error.value.message} {error.value.reason}"
    golden(str(error.value))


def test_tiling_what_may_not_be_tiled() -> None:
    stencil = """
def stencil(A):
    for i in range(1, A.shape[0]):
        for j in range(A.shape[1] - 1):
            A[i, j] = A[i - 1, j + 1]
"""
    legality = edit(stencil).check("tile", "i", sizes=(2, 2))
    assert (legality.violations[0].source_instance, legality.violations[0].sink_instance) == ((2, 2), (3, 1))
    for name, arguments in (("interchange", {"order": ("j", "i")}), ("unroll-and-jam", {"factor": 2})):
        place = None if name == "interchange" else "i"
        assert not edit(stencil).check(name, place, **arguments)


SENSELESS: dict[str, tuple[str, Call]] = {
    "no such move": (GEMM, ("tyle", "i", {})),
    "no such loop": (GEMM, ("tile", "kk", {"sizes": (2,)})),
    "no place": (GEMM, ("tile", None, {"sizes": (2,)})),
    "several loops": (GEMM, ("reversal", "j", {})),
    "no such argument": (GEMM, ("tile", "k", {"size": (2,)})),
    "wrong type": (GEMM, ("skew", "S1.j", {"by": "k", "factor": 1.5})),
    "negative size": (GEMM, ("tile", "k", {"sizes": (2, -1)})),
    "too deep": (GEMM, ("tile", "i", {"sizes": (2, 2)})),
    "not affine": (GEMM, ("shift", "i", {"amount": "i*j"})),
    "loops of different nests": (GEMM, ("interchange", None, {"order": ("S0.j", "k")})),
    "statement elsewhere": (GEMM, ("shift", "k", {"statements": "S0"})),
    "nothing to distribute": (GEMM, ("distribute", "k", {})),
    "no loop to fuse": (JACOBI, ("fuse", None, {"children": ("S0", "S9")})),
    "unknown extent": (GEMM, ("coalesce", "k", {})),
    "nothing to split": (GEMM, ("split", "i", {"point": -3})),
    "innermost": (GEMM, ("unroll-and-jam", "S0.j", {})),
    "not permutable": (JACOBI, ("wavefront", "t", {})),
    "one size": (GEMM, ("tile", "k", {"sizes": 4})),
    "twice the same loop": (GEMM, ("interchange", None, {"order": ("k", "k")})),
    "order of one": (GEMM, ("interchange", None, {"order": ("k",)})),
    "along itself": (GEMM, ("skew", "k", {"by": "k"})),
    "too many copies": (GEMM, ("unroll", "k", {"factor": 10**9})),
    "side": (GEMM, ("peel", "i", {"side": "middle"})),
    "row of nothing": (CHAIN, ("rows", "i", {"rows": ("{ S0[i, j] -> [i * j] }",)})),
    "partial row": (CHAIN, ("rows", "i", {"rows": ("{ S0[i, j] -> [(i)] : i > 3 }",)})),
}


@pytest.mark.parametrize("case", SENSELESS)
def test_what_makes_no_sense(case: str, golden: Callable[..., None]) -> None:
    text, (name, at, arguments) = SENSELESS[case]
    with pytest.raises(pv.OptionError) as error:
        edit(text).apply(name, at, **arguments)
    golden(str(error.value))


def test_undo_and_redo() -> None:
    start = edit(GEMM)
    one = start.apply("distribute", "i")
    two = one.apply("tile", "S1.i", sizes=(2, 3, 4))
    assert two.undo().tree is one.tree
    assert two.undo(2).tree is start.tree
    assert two.undo(2).redo(2).history == two.history
    assert two.undo().redo().schedule.map.is_equal(two.schedule.map)
    assert two.undo().apply("reversal", "S0.i").undone == ()
    assert len(two.history) == 2
    for wrong in (lambda: two.undo(3), two.redo, lambda: two.undo(-1)):
        with pytest.raises(pv.OptionError):
            wrong()


def test_the_schedule_says_that_it_was_edited() -> None:
    start = edit(GEMM, "pluto")
    assert start.schedule is start.start
    changed = start.apply("reversal", "S0.i").apply("reversal", "S0.j")
    assert changed.schedule.scheduler == "pluto (edited)"
    assert changed.schedule.by_hand
    steps = [decision.step for decision in changed.schedule.decisions]
    assert steps.index("reversal") > steps.index("components")
    assert steps.count("reversal") == 2
    assert pv.edit(changed.scop, changed).apply("reversal", "S0.i").schedule.scheduler == "pluto (edited)"


def test_available_names_places_that_work() -> None:
    start = edit(GEMM)
    found = start.available()
    assert found["parallel"] == ("i", "S0.j", "S1.j")
    assert found["interchange"] == found["unroll-and-jam"] == ("k",)
    assert found["fuse"] == found["reorder"] == ("S0 | S1",)
    assert found["distribute"] == ("i",)
    for at in found["unroll"]:
        start.apply("unroll", at, factor=2)
    fused = edit(JACOBI, "pluto").available()
    assert fused["wavefront"] == fused["skew"] == ("t",)
    assert "fuse" not in fused


def test_a_marked_loop_stays_parallel_or_the_move_is_refused() -> None:
    marked = edit(GEMM).apply("parallel", "i")
    with pytest.raises(pv.LegalityError, match="marked `parallel` would not be parallel any more") as error:
        marked.apply("rows", "i", rows=("{ S0[i, j] -> [(0)]; S1[i, k, j] -> [(k)] }",))
    assert "iteration" in error.value.reason
    assert marked.apply("reversal", "i").loops == marked.loops


def test_a_mark_between_two_loops_is_in_the_way() -> None:
    marked = edit(GEMM).apply("vector", "S1.j")
    assert "The mark `vector` stands between the loops" in marked.why_not("interchange", order=("S1.j", "k"))


def test_strips_that_are_interchanged_are_tiles() -> None:
    start = edit(GEMM)
    for loop in ("S1.j", "k"):
        start = start.apply("strip-mine", loop, size=4)
    nest = start.loops[start.loops.index("k_tile") :]
    assert nest == ("k_tile", "k", "j_tile", "S1.j")
    strips = start.apply("interchange", order=("k_tile", "j_tile", "k", "S1.j"))
    tiles = edit(GEMM).apply("tile", "k", sizes=(4, 4))
    assert pv.difference(strips.schedule, tiles.schedule).same_order
    assert pv.replay(GEMM, strips.script()).loops == strips.loops
    runs_like_the_original(GEMM, strips, "python")


def test_tiles_within_tiles_have_names_of_their_loops() -> None:
    twice = edit(GEMM).apply("tile", "k", sizes=(16, 16)).apply("tile", "k", sizes=(4, 4))
    assert twice.loops[-6:] == ("k_tile", "j_tile", "k_tile_2", "j_tile_2", "k", "S1.j")
    assert pv.replay(GEMM, twice.apply("vector", "S1.j").script()).loops == twice.loops


def test_a_strip_goes_out_past_a_loop_that_is_no_strip() -> None:
    outside = edit(GEMM).apply("strip-mine", "k", size=4).apply("interchange", order=("k", "k_tile"))
    assert outside.loops.index("k") < outside.loops.index("k_tile")
    further = edit(GEMM).apply("strip-mine", "S1.j", size=4).apply("interchange", order=("j_tile", "k", "S1.j"))
    assert further.loops[-3:] == ("j_tile", "k", "S1.j")


def test_copies_are_counted_where_the_tree_is_shown() -> None:
    assert "mark unroll 3" in repr(edit(GEMM).apply("unroll", "k", factor=3).schedule)


@pytest.mark.slow
def test_two_marks_on_one_loop() -> None:
    both = edit(GEMM).apply("vector", "S1.j").apply("unroll", "S1.j", factor=4)
    kernel = runs_like_the_original(GEMM, both, "c")
    assert "#pragma omp simd" in kernel.source
    assert "j + 3" in kernel.source
    threads = edit(GEMM).apply("unroll", "i", factor=2).apply("parallel", "i")
    for target in ("c", "numba"):
        runs_like_the_original(GEMM, threads, target)


def test_a_marked_loop_that_is_taken_apart_is_no_loop_any_more() -> None:
    marked = edit(GEMM).apply("parallel", "i")
    assert "no loop stands under the mark `parallel`" in marked.why_not("distribute", "i")
    assert not marked.why_not("split", "i", point=3)  # both halves keep the mark


def test_an_edit_shows_its_order_and_its_moves(golden: Callable[..., None]) -> None:
    golden(repr(edit(GEMM).apply("distribute", "i").apply("interchange", "S1", order=("j", "k"))))


@pytest.mark.parametrize("target", ["c", "numba"])
def test_what_was_marked_is_in_the_generated_program(target: str, golden: Callable[..., None]) -> None:
    changed = edit(GEMM).apply("interchange", "S1", order=("j", "k")).apply("distribute", "i")
    changed = changed.apply("tile", "S1.i", sizes=(4, 4, 4)).apply("parallel", "S1.i_tile")
    changed = changed.apply("vector", "S0.j").apply("unroll", "k", factor=2)
    kernel = runs_like_the_original(GEMM, changed, target)
    lines = kernel.source.splitlines()
    golden("\n".join(line for line in lines if any(word in line for word in ("for ", "#pragma", "line "))))


def test_other_orders_are_the_same_order_or_not() -> None:
    start, tiled = edit(GEMM), edit(GEMM).apply("strip-mine", "k", size=3)
    assert same_order(start.schedule.map, tiled.schedule.map)
    assert not same_order(start.schedule.map, start.apply("reversal", "i").schedule.map)


def test_a_move_on_one_loop_takes_nothing_from_the_loops_inside() -> None:
    """The loops of the original order are bands of their own, in which those inside stay parallel."""
    nest = "def f(A, n):\n for i in range(1, n):\n  for j in range(1, n - 1):\n   A[i, j] = A[i - 1, j + 1]"
    peeled = pv.edit(nest).apply("peel", "i").schedule
    found = [(band.members[0].coincident, len(band.members)) for band in peeled.bands]
    assert found[1:] == [(False, 1), (True, 1)]
