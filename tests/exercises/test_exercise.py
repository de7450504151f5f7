"""What a student may hand in, and what a teacher may set: each mistake is told, none ends the notebook."""

from __future__ import annotations

import json
from dataclasses import replace

import islpy as isl
import numpy as np
import pytest

import polyviz as pv
from polyviz.errors import OptionError
from polyviz.exercises import (
    Goal,
    Verdict,
    at_most,
    distances,
    domain,
    exercise,
    faster,
    legal,
    parallel,
    same_result,
    tiled,
    vector,
)
from polyviz.exercises.answer import read_answer
from polyviz.exercises.memory import lines_fetched
from polyviz.exercises.record import MIME
from polyviz.model.display import mime_bundle

SWEEP = "for i in range(1, n):\n    for j in range(1, n):\n        A[i, j] = A[i - 1, j] + A[i, j - 1]"


@pytest.fixture
def sweep():
    return exercise("sweep", SWEEP, [legal(), parallel("j"), tiled(2)], hints=("one", "two"), sizes={"n": 6})


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ("interchange(order=", ("no valid Python, nor isl", "line 1", "Hint: An answer is moves")),
        ("{ S0[i, j] -> [j, i", ("`[` at character 15 is never closed",)),
        ("{ S7[i, j] -> [j, i] }", ("speaks of `S7`", "S0[i, j]")),
        ("{ S0[i, j] -> [0, 0] }", ("✗ legal. ", "– ")),
        ('tile(at="k", sizes=(4, 4))', ("There is no loop `k`",)),
        ("x\0y", ("null bytes",)),
        ('tille(at="i", sizes=(4, 4))', ("There is no move `tille` (did you mean `tile`",)),
        ('interchange("j", "i")', ("write interchange(order=…)",)),
        ('tile(at="i", sizes="abc")', ("a tuple of numbers such as (32, 32)",)),
        ("interchange()", ("is about: write order=(…)",)),
        ("1 / 0", ("stopped with ZeroDivisionError",)),
        ("x = 3", ("ends without a value",)),
        ("A += B.T @ A", ("`A += B.T @ A` cannot be read as loops", "Write loops over the elements")),
        ("A = A + B", ("`A = A + B` cannot be read as loops",)),
        ("42", ("value of type int",)),
        ("unknown", ("NameError",)),
        ("for i in range(n):\n    Z[i] = 0.0", ("take `Z`", "another exercise")),
        ("while True:\n    pass", ("ends without a value",)),
        ("for i in range(n):\n    while True:\n        pass", ("`while`",)),
        ("edit", ("other loops than those of the exercise", "B[i] = 0.0")),
        ("-" * 100_000 + "1", ("nested too deeply, or too long",)),
        ("(" * 100_000, ("too many nested parentheses", "1 | …((((")),
        ("1" + "+1" * 50_000, ("nested too deeply, or too long",)),
        ("<script>alert(1)</script>", ("no valid Python, nor isl",)),
    ],
)
def test_a_bad_answer_is_explained(sweep, answer: str, words: tuple[str, ...]) -> None:
    other = pv.edit("for i in range(n):\n    B[i] = 0.0")
    attempt = sweep.attempt(answer, {"edit": other})
    assert not attempt.solved
    for word in words:
        assert word in str(attempt)
    assert "<script" not in mime_bundle(attempt)["text/html"]
    assert len(str(attempt)) < 2000


def test_an_answer_may_be_indented(sweep) -> None:
    assert sweep.attempt('    tile(at="i", sizes=(2, 2))\n    # done').answer is not None


def test_an_illegal_move_is_refused_with_its_pair_drawn(sweep) -> None:
    attempt = sweep.attempt('reversal(at="i")')
    assert "Line 1 of the script: The move `reversal` would change the result." in str(attempt)
    assert "✗ legal. " in str(attempt)
    html = mime_bundle(attempt)["text/html"]
    assert "its arrow must point forward in time" in html
    assert "data:image/svg+xml" in html


def test_all_forms_of_an_answer_are_taken(sweep) -> None:
    edit = pv.edit(SWEEP).apply("tile", at="i", sizes=(2, 2))
    expected = [verdict.met for verdict in sweep.attempt("edit", {"edit": edit}).verdicts]
    assert expected == [True, False, True]
    for answer in (edit.script(), 'tile(at="i", sizes=(2, 2))', "edit.schedule", str(edit.schedule.tree)):
        assert [verdict.met for verdict in sweep.attempt(answer, {"edit": edit}).verdicts] == expected


def test_the_record_can_be_checked_again_without_the_notebook(sweep) -> None:
    edit = pv.edit(SWEEP).apply("tile", at="i", sizes=(2, 2))
    record = mime_bundle(sweep.attempt("edit", {"edit": edit}, 1))[MIME]
    assert record["goals"] == [True, False, True]
    assert record["hints"] == 1
    assert "two" not in str(record)
    assert [verdict.met for verdict in sweep.attempt(record["answer"]).verdicts] == record["goals"]


def test_without_a_notebook_no_python_runs(sweep, tmp_path) -> None:
    file = tmp_path / "made"
    assert "only its notebook knows" in sweep.attempt(f"open({str(file)!r}, 'w')").problem
    assert not file.exists()


def test_rewritten_loops_are_run_beside_the_given_ones() -> None:
    asked = exercise("again", SWEEP, [same_result()], sizes={"n": 6})
    good = "for a in range(1, n):\n    for b in range(1, n):\n        A[b, a] = A[b, a - 1] + A[b - 1, a]"
    assert asked.attempt(good).solved
    wrong = asked.attempt(good.replace("a - 1]", "a]"))
    assert not wrong.solved
    assert "the original loop gives" in str(wrong)
    fixed = asked.attempt(good.replace("range(1, n)", "range(1, 6)"))
    assert not fixed.solved
    assert "On random data for n = 7" in str(fixed)


def test_a_domain_is_compared_exactly() -> None:
    asked = exercise("half", None, [domain("[n] -> { [i, j] : 0 <= j <= i < n }")])
    text = "for i in range(n):\n    for j in range(i + 1):\n        A[i, j] = 0.0"
    assert asked.attempt(text).solved
    assert "(i = 0, j = 0) should run and does not" in str(asked.attempt(text.replace("i + 1", "i")))
    assert "runs and should not" in str(asked.attempt(text.replace("i + 1", "n")))
    assert "asks for loops" in str(asked.attempt("{ S0[i] -> [i] }"))


def test_coordinates_are_the_loops_of_their_names_in_any_order() -> None:
    asked = exercise("half", None, [domain("[n] -> { [i, j] : 0 <= j <= i < n }")])
    turned = "for j in range(n):\n    for i in range(j, n):\n        A[i, j] = 0.0"
    assert asked.attempt(turned).solved
    assert "(j = 0, i = 0) should run and does not" in str(asked.attempt(turned.replace("(j, n)", "(j + 1, n)")))
    others = "for a in range(n):\n    for b in range(a + 1):\n        A[a, b] = 0.0"
    assert asked.attempt(others).solved
    assert not asked.attempt(others.replace("a + 1", "a, n")).solved


def test_distances() -> None:
    asked = exercise("far", None, [distances((1, -1))])
    text = "for i in range(1, n):\n    for j in range(1, n - 1):\n        A[i, j] = A[i - 1, j + 1]"
    assert asked.attempt(text).solved
    assert "The distance is (1, 1)." in str(asked.attempt(text.replace("j + 1", "j - 1")))
    assert "not always the same" in str(asked.attempt(text.replace("A[i - 1, j + 1]", "A[1, 1]")))
    assert "No value flows" in str(asked.attempt(text.replace("A[i - 1, j + 1]", "0.0")))
    two = asked.attempt(text.replace("A[i - 1, j + 1]", "A[i - 1, j + 1] + A[i, j - 1]"))
    assert "The distances are (0, 1), (1, -1)." in str(two)
    assert str(two).count("exactly the distance (1, -1)") == 1


@pytest.mark.parametrize(("order", "room", "lines"), [("i, j", 2, 8), ("j, i", 2, 64), ("j, i", 8, 8)])
def test_lines_are_counted_as_a_cache_fetches_them(order: str, room: int, lines: int) -> None:
    part = pv.extract("for i in range(8):\n    for j in range(8):\n        A[i, j] = 0.0")
    times = pv.schedule(part, "original").map
    if order == "j, i":
        times = pv.edit(part).apply("interchange", order=("j", "i")).schedule.map
    assert lines_fetched(part, times, {}, room) == lines


def test_the_line_used_longest_ago_leaves_first() -> None:
    part = pv.extract("for i in range(1, 4):\n    A[i, 0] = A[0, 0]")
    # Row 0 is used in every iteration: fetched once, although two other lines come in between.
    assert lines_fetched(part, pv.schedule(part, "original").map, {}, 2) == 4


@pytest.mark.parametrize("order", ["[0]", "[j, 0]", "[i, j]"])
def test_an_order_that_leaves_instances_open_saves_no_lines_by_that(order: str) -> None:
    part = pv.extract("for i in range(8):\n    for j in range(8):\n        B[j, i] = A[j, i]")
    times = isl.UnionMap(f"{{ S0[i, j] -> {order} }}")
    assert lines_fetched(part, times, {}, 4) == (16 if order == "[j, 0]" else 128)


def test_too_many_instances_are_not_walked_through() -> None:
    asked = exercise("vast", SWEEP, [at_most(lines=9)], sizes={"n": 100_000})
    assert "more than are walked through here" in asked.attempt('schedule("original")').problem


def test_a_goal_of_ones_own() -> None:
    brief = Goal("one move", lambda answer: Verdict(answer.text.count("\n") == 2, answer.kind))
    assert exercise("brief", SWEEP, [brief]).attempt('tile(at="i", sizes=(4, 4))').solved


def test_a_goal_that_stops_leaves_the_others() -> None:
    broken = Goal("broken", lambda answer: Verdict(1 / 0 > 0))
    attempt = exercise("half-broken", SWEEP, [legal(), broken]).attempt('schedule("original")')
    assert [verdict.met for verdict in attempt.verdicts] == [True, None]
    assert "stopped with ZeroDivisionError" in str(attempt)


@pytest.mark.parametrize("given", [None, True, "yes", (True, "found")])
def test_a_goal_that_gives_no_verdict_leaves_the_others(given) -> None:
    odd = Goal("odd", lambda answer: given)
    attempt = exercise("odd", SWEEP, [legal(), odd]).attempt('schedule("original")')
    assert [verdict.met for verdict in attempt.verdicts] == [True, None]
    assert f"This goal gave {given!r} where a Verdict is asked for" in str(attempt)
    assert mime_bundle(attempt)[MIME]["goals"] == [True, None]


def test_a_truth_of_numpy_counts() -> None:
    numbers = Goal("numbers", lambda answer: Verdict(np.bool_(True), np.float64(3.0)))
    attempt = exercise("numbers", SWEEP, [numbers]).attempt('schedule("original")')
    assert attempt.solved
    assert json.loads(json.dumps(mime_bundle(attempt)[MIME]))["goals"] == [True]


def test_loops_without_end_in_sight_are_not_run() -> None:
    asked = exercise("deep", SWEEP, [same_result()], sizes={"n": 2000})
    assert "Not run: the loops have 3,996,001 iterations" in str(asked.attempt('schedule("original")'))


@pytest.mark.slow
def test_faster_is_measured_and_verified() -> None:
    asked = exercise("quick", SWEEP, [faster(0.0, "numba", 3), faster(1e9, "numba", 3)], sizes={"n": 40})
    verdicts = asked.attempt('tile(at="i", sizes=(8, 8))').verdicts
    assert [verdict.met for verdict in verdicts] == [True, False]
    assert verdicts[0].found.startswith("Measured here: ")


@pytest.mark.parametrize(
    ("name", "goals", "sizes", "message"),
    [
        ("two words", [legal()], {}, "is one word"),
        ("none", [], {}, "needs a goal"),
        ("bare", [legal], {}, r"write legal\(\)"),
        ("text", ["legal"], {}, r"write legal\(\)"),
        ("size", [legal()], {"m": 4}, "no size `m`; their sizes are n"),
    ],
)
def test_a_teacher_is_told_what_is_wrong(name: str, goals, sizes, message: str) -> None:
    with pytest.raises(OptionError, match=message):
        exercise(name, SWEEP, goals, sizes=sizes)


@pytest.mark.parametrize(
    ("goal", "message"),
    [
        (lambda: tiled("i"), r"how many loops .* not 'i': write tiled\(2\)"),
        (lambda: tiled(0), "1 or more, not 0"),
        (lambda: at_most(lines="300"), r"not '300': write at_most\(lines=400\)"),
        (lambda: at_most(bytes=1e4), "not 10000.0"),
        (lambda: parallel(1), "named by text, not 1"),
        (lambda: distances(1, -1), "a tuple of its own"),
        (distances, "a tuple of its own"),
    ],
)
def test_a_goal_that_could_not_be_judged_is_refused_when_it_is_set(goal, message: str) -> None:
    with pytest.raises(OptionError, match=message):
        goal()


def test_a_limit_is_one_of_two() -> None:
    with pytest.raises(OptionError, match="lines or bytes"):
        at_most()


def test_an_exercise_that_any_loops_solve_is_refused() -> None:
    with pytest.raises(OptionError, match="this exercise asks for nothing"):
        exercise("anything", None, [legal()])
    assert exercise("some", None, [legal(), parallel()]).goals


def test_a_domain_must_be_a_set() -> None:
    with pytest.raises(OptionError, match="no isl set"):
        domain("0 <= i")


@pytest.mark.parametrize("order", ["[i, j, 0]", "[i, j, floor(j/2)]", "[0, i, j]"])
def test_a_loop_of_one_iteration_is_no_loop(order: str) -> None:
    asked = exercise("inside", SWEEP, [parallel("innermost")])
    assert "loop j is not parallel" in str(asked.attempt(f"{{ S0[i, j] -> {order} }}"))
    outside = exercise("outside", SWEEP, [parallel()])
    assert "loop i is not parallel" in str(outside.attempt(f"{{ S0[i, j] -> {order} }}"))


@pytest.mark.parametrize("end", ["outermost", "innermost"])
def test_every_one_of_several_loops_is_asked_for(end: str) -> None:
    loops = ["for i in range(n):\n    B[i] = 0.0", "for i in range(1, n):\n    A[i] = A[i - 1]"]
    for order in (loops, loops[::-1]):
        text = "\n".join(order)
        attempt = exercise(f"beside-{end}", text, [parallel(end)]).attempt(text)
        assert not attempt.solved
        assert "A[1]" in str(attempt)


def test_a_tile_of_one_iteration_makes_nothing_parallel() -> None:
    asked = exercise("inside", SWEEP, [parallel("innermost"), parallel("j_2")])
    attempt = asked.attempt('tile(at="j", sizes=(1,))')
    assert [verdict.met for verdict in attempt.verdicts] == [False, False]
    assert "A loop that never has more than one iteration does not count." in str(attempt)
    assert "The loop `j_2` never has more than one iteration." in str(attempt)


TILED_BY_HAND = """\
for ii in range(1, n, 4):
    for jj in range(1, n, 4):
        for i in range(ii, min(ii + 4, n)):
            for j in range(jj, min(jj + 4, n)):
                A[i, j] = A[i - 1, j] + A[i, j - 1]
"""


@pytest.mark.parametrize(
    ("answer", "most"),
    [
        ('schedule("original")', 0),
        ('skew(at="j", by="i")', 0),
        ("{ S0[i, j] -> [i, j, floor(j/2)] }", 0),
        ('tile(at="i", sizes=(1, 1))', 0),
        ('tile(at="i", sizes=(4, 1))', 1),
        ('tile(at="i", sizes=(4, 4))', 2),
        ('tile(at="i", sizes=(4, 4))\nwavefront(at="i_tile")', 2),
        ("{ S0[i, j] -> [floor(i/4), floor(j/4), i, j] }", 2),
        ("{ S0[i, j] -> [floor(i/8), floor(j/8), floor(i/4), floor(j/4), i, j] }", 2),
        ("{ S0[i, j] -> [floor(i/4), i, floor(j/4), j] }", 1),
        ("{ S0[i, j] -> [floor((i + j)/4), floor(j/4), i + j, j] }", 2),
        (TILED_BY_HAND, 2),
    ],
)
def test_tiles_count_however_they_were_made(answer: str, most: int) -> None:
    asked = exercise("tiles", SWEEP, [tiled(2)], sizes={"n": 9})
    [verdict] = asked.attempt(answer).verdicts
    assert verdict == Verdict(most >= 2, f"Tiled together: {most} loop{'' if most == 1 else 's'}.")


def test_tiles_of_loops_whose_ends_are_numbers() -> None:
    asked = exercise("fixed", SWEEP.replace("1, n", "1, 65"), [tiled(2)])
    found = [asked.attempt(f'tile(at="i", sizes={sizes})').solved for sizes in ((8, 8), (8, 1))]
    assert found == [True, False]


def test_points_that_depend_on_data_are_not_known() -> None:
    asked = exercise("half", None, [domain("[n] -> { [i] : 0 <= i < n }")])
    assert "depends on data" in str(asked.attempt("for i in range(n):\n    if X[i] > 0.5:\n        A[i] = 0.0"))
    assert "depend on `m`, those here on n only" in str(asked.attempt("for i in range(m):\n    A[i] = 0.0"))
    assert "depend on `A.shape[0]`" in str(asked.attempt("for i in range(len(A)):\n    A[i] = 0.0"))


def test_values_that_flow_between_statements_count_as_well() -> None:
    asked = exercise("far", None, [distances((1, -1))])
    text = "for i in range(1, n):\n    for j in range(n - 1):\n        A[i, j] = A[i - 1, j + 1]"
    assert "Values also flow through `A`" in str(asked.attempt(f"{text}\n        B[i, j] = A[i, j - 1]"))


def test_rewritten_loops_leave_the_other_arrays_alone() -> None:
    asked = exercise("again", "for i in range(n):\n    B[i] = A[i]", [same_result()], sizes={"n": 6})
    assert asked.attempt("B[:] = A[:]").solved
    assert "A[0]" in str(asked.attempt("for i in range(n):\n    B[i] = A[i]\n    A[i] = 0.0"))


@pytest.mark.parametrize("answer", ["C[:, :] = A[:, :]", "for i in range(len(C)):\n    C[i, :] = A[i, :]"])
def test_sizes_of_rewritten_loops_are_those_of_the_given_arrays(answer: str) -> None:
    loops = "for i in range(n):\n    for j in range(n):\n        C[i, j] = A[i, j]"
    [verdict] = exercise("copy", loops, [at_most(lines=1)], sizes={"n": 32}).attempt(answer).verdicts
    assert verdict.found.startswith("It fetches 256 lines")


@pytest.mark.parametrize(("read", "met"), [("A[i - 1, j]", True), ("A[i, j - 1]", False)])
def test_a_mark_counts_where_the_loop_keeps_what_it_promises(read: str, met: bool) -> None:
    part = pv.extract(f"for i in range(1, n):\n    for j in range(1, n):\n        A[i, j] = {read}")
    answer = read_answer("{ S0[i, j] -> [i, j] }", part, {"n": 6})
    inner = answer.schedule.tree.get_root().child(0).band_split(1).child(0)
    marked = replace(answer.schedule, tree=inner.insert_mark(isl.Id("vector")).get_schedule())
    assert vector().judge(replace(answer, schedule=marked)).met is met
    assert vector().judge(answer).met is False


def test_a_distance_over_one_loop_is_written_as_in_the_views() -> None:
    asked = exercise("chain", None, [distances((2,))])
    text = str(asked.attempt("for i in range(1, n):\n    A[i] = A[i - 1]"))
    assert "exactly the distance (2). The distance is (1)." in text


def test_moves_may_be_written_as_the_documentation_lists_them(sweep) -> None:
    answer = sweep.attempt('strip-mine(at="i", size=2)\nunroll-and-jam(at="i", factor=2)').answer
    assert answer.text.splitlines()[1:] == ['strip_mine(at="i", size=2)', 'unroll_and_jam(at="i", factor=2)']
