"""compile and optimize: options, schedules of one's own, and what is refused in one sentence."""

from __future__ import annotations

import shlex
import sys
from typing import TYPE_CHECKING, Any

import islpy as isl
import numpy as np
import pytest

import polyviz as pv
from polyviz.api.targets import Availability
from polyviz.errors import ArgumentError
from polyviz.runtime.toolchain import find_toolchain
from tests.running import TARGETS, agree, function_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

ADD = """
def add(A, B, n):
    for i in range(n):
        for j in range(n):
            A[i, j] = B[j, i] + A[i, j]
"""
INNER = ADD.replace("range(n)", "range(1, n - 1)")
RUNNING = """
def running(A, n):
    for i in range(1, n):
        A[i] = A[i - 1] + A[i]
"""
BAND = (
    '{ schedule: "[n] -> [{ S0[i, j] -> [(i)] }, { S0[i, j] -> [(j)] }]", permutable: 1, coincident: [1, 1] }'
)


def domain(text: str, child: str) -> str:
    return f'{{ domain: "[n] -> {{ {text} }}", child: {child} }}'


SCHEDULES: dict[str, Any] = {
    "interchange": "{ S0[i, j] -> [j, i] }",
    "reversal": "[n] -> { S0[i, j] -> [j, -i] }",
    "extra dimensions": "{ S0[i, j] -> [i, j, 0, i + j] }",
    "times that coincide": "{ S0[i, j] -> [i] }",
    "one time for all": "{ S0[i, j] -> [0] }",
    "strips": "{ S0[i, j] -> [i mod 2, floor(i / 2), j] }",
    "isl map": isl.UnionMap("[n] -> { S0[i, j] -> [i + j, j] }"),
    "tree": domain("S0[i, j] : 0 <= i, j < n", BAND),
    "tree with more instances": domain("S0[i, j] : -5 <= i, j < n + 4", BAND),
    "isl tree": isl.Schedule(domain("S0[i, j] : 0 <= i, j < n", BAND)),
}


@pytest.mark.thinned(4)
@pytest.mark.parametrize("name", SCHEDULES)
@pytest.mark.parametrize("target", ["c", "python"])
def test_schedules_of_ones_own(target: str, name: str) -> None:
    kernel = pv.compile(function_of(ADD), schedule=SCHEDULES[name], target=target)
    assert kernel.schedule.scheduler == "user"
    first, second = np.ones((13, 13)), np.arange(169.0).reshape(13, 13)
    kernel(first, second, 13)
    np.testing.assert_array_equal(first, 1 + second.T)


SERIAL_BAND = '{ schedule: "[n] -> [{ S0[i] -> [(i)] }]", permutable: 1, coincident: [1] }'


@pytest.mark.parametrize("mark", ["parallel", "vector"])
def test_marks_of_a_given_tree_are_not_believed(mark: str) -> None:
    tree = domain("S0[i] : 1 <= i < n", f'{{ mark: "{mark}", child: {SERIAL_BAND} }}')
    with pytest.raises(pv.LegalityError, match=f"marks a loop `{mark}` that must not run so") as error:
        pv.compile(function_of(RUNNING), schedule=tree, target="c")
    assert "iteration i=1 writes" in error.value.reason


def test_marks_that_only_a_target_sets_are_left_out_of_a_given_tree() -> None:
    tree = domain("S0[i] : 1 <= i < n", f'{{ mark: "parallel:0", child: {SERIAL_BAND} }}')
    assert "#pragma" not in pv.compile(function_of(RUNNING), schedule=tree, target="c").source


def test_a_schedule_of_another_part_runs_the_instances_of_this_one() -> None:
    other = pv.schedule(pv.extract(function_of(ADD)), "pluto")
    kernel = pv.compile(function_of(INNER), schedule=other, target="c")
    array = np.zeros((5, 5))
    kernel(array, np.ones((5, 5)), 5)
    assert array.sum() == 9
    assert array[1:-1, 1:-1].all()


def test_a_schedule_of_this_part_keeps_its_decisions() -> None:
    scop = pv.extract(function_of("def f(A):\n    for i in range(len(A)):\n        A[i] = 2 * A[i]"))
    schedule = pv.schedule(scop, "pluto")
    assert pv.compile(scop, schedule=schedule, target="c").schedule is schedule


GUARD = f'{{ guard: "[n] -> {{ : n > 100 }}", child: {BAND} }}'
REFUSED: dict[str, dict[str, Any]] = {
    "illegal": {"schedule": "{ S0[i] -> [-i] }", "source": RUNNING},
    "guard node": {"schedule": domain("S0[i, j] : 0 <= i, j < n", GUARD)},
    "instances missing": {"schedule": domain("S0[i, j] : 0 <= i < n and j = 0", BAND)},
    "not isl": {"schedule": "{ S0[i, j] -> [i] "},
    "nothing": {"schedule": None},
    "number": {"schedule": 3},
    "unknown scheduler": {"schedule": "plutt"},
    "unknown option": {"schedule": "pluto", "speed": "max"},
    "options for a schedule of one's own": {"schedule": "{ S0[i, j] -> [i, j] }", "fusion": "max"},
    "no switch": {"register_tile": "yes"},
    "no switch for packing": {"pack": 1},
    "unknown target": {"target": "numb"},
    "no such target": {"target": "fortran"},
    "contract": {"contract": "fast"},
    "no threads": {"threads": 0},
    "no switch for what is remembered": {"tuned": 1},
    "tile of zero": {"tile": (0,)},
    "tile for more loops than there are": {"tile": (8, 8, 8)},
    "tile as text": {"tile": "32"},
    "tile of fractions": {"tile": (2.5,)},
    "no tile sizes": {"tile": ()},
    "tile too large": {"tile": (10**30,)},
    "tile of truth": {"tile": True},
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case: str, golden: Callable[..., None]) -> None:
    options = dict(REFUSED[case])
    function = function_of(options.pop("source", ADD))
    with pytest.raises(pv.PolyvizError) as caught:
        pv.compile(function, **options)
    golden(f"{type(caught.value).__name__}: {caught.value}")
    if isinstance(caught.value, pv.OptionError):
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize("target", TARGETS)
def test_optimize_bare_and_with_options(target: str) -> None:
    function = function_of("def double(A):\n    for i in range(len(A)):\n        A[i] = 2 * A[i]")
    bare, chosen = pv.optimize(function), pv.optimize(schedule="original", target=target)(function)
    for kernel in (bare, chosen):
        array = np.ones(3)
        kernel(array)
        np.testing.assert_array_equal(array, 2.0)
    assert (chosen.schedule.scheduler, chosen.target) == ("original", target)


@pytest.mark.parametrize("wrong", [None, 5, ["c"]])
def test_a_target_that_is_no_name_is_refused(wrong: Any) -> None:
    with pytest.raises(pv.OptionError, match="A target is a name, not "):
        pv.compile("def f(x):\n    for i in range(len(x)):\n        x[i] = 1.0", target=wrong)


def test_every_technique_is_switched_off_by_false() -> None:
    off: dict[str, Any] = {technique: False for technique in pv.techniques()}
    kernel = pv.compile("def f(x):\n    for i in range(len(x)):\n        x[i] = 1.0", target="c", **off)
    given = np.zeros(9)
    kernel(given)
    assert given.all()
    assert kernel.program.threads == 1


def test_a_decorator_takes_the_same_options() -> None:
    function = function_of("def double(A):\n    for i in range(len(A)):\n        A[i] = 2 * A[i]")
    kernel = pv.optimize(target="python", contract="strict", threads=1, pack=False, tuned=False)(function)
    assert (kernel.floating_point, kernel.program.threads) == ("strict", 1)
    with pytest.raises(pv.OptionError, match="pack is True or False, not 1"):
        pv.optimize(pack=1)(function)


def test_sources_of_every_kind() -> None:
    function = function_of("def double(A):\n    for i in range(len(A)):\n        A[i] = 2 * A[i]")
    scop = pv.extract(function)
    kernel = pv.compile(function, target="python")
    for source in (function, scop.text, scop, kernel):
        array = np.ones(3)
        pv.compile(source, target="python")(array)
        np.testing.assert_array_equal(array, 2.0)


def test_every_target_says_whether_it_can_run() -> None:
    found = pv.targets()
    assert {"c", "numba", "python"} <= found.keys()
    assert found["python"].available
    assert all(availability.reason for availability in found.values())


def test_only_the_target_that_is_asked_for_is_looked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    room = sys.modules["polyviz.api.targets"]
    monkeypatch.setattr(room, "_looked_for", lambda: {"python": room._python, "cuda": pytest.fail})
    assert room.resolve_target("python") == "python"


def test_a_target_shown_by_a_notebook_says_what_is_missing() -> None:
    shown = Availability(available=False, reason="no <compiler> was found")._repr_mimebundle_()
    assert shown["text/plain"] == "cannot be used here: no <compiler> was found"
    assert "no &lt;compiler&gt; was found" in shown["text/html"]


SIEVE = """
def sieve(prime, n):
    for i in range(2, n):
        if prime[i]:
            for j in range(i * i, n, i):
                prime[j] = False
"""
EVERY = """
def every(A, n, k):
    for i in range(n - 1, -1, -k):
        A[i] = 2 * A[i]
"""


@pytest.mark.thinned(2)
@pytest.mark.parametrize("target", TARGETS)
def test_steps_that_the_program_computes_keep_their_loop_whole(target: str) -> None:
    kernel = agree(SIEVE, np.ones(50, bool), 50, target=target)
    assert any("the step `i` is not a constant" in note for note in kernel.scop.notes)
    assert any("the condition `prime[i]` depends on data" in note for note in kernel.scop.notes)
    kernel = agree(EVERY, np.arange(10.0), 10, 3, target=target)
    assert any("the step `-k` becomes known only with the call" in note for note in kernel.scop.notes)
    with pytest.raises(ArgumentError, match="these sizes are not what the loops assume"):
        kernel(np.arange(10.0), 10, 0)


def test_a_step_of_known_value_is_exact() -> None:
    part = pv.extract(EVERY, sizes={"k": 3})
    assert all(statement.exact for statement in part.statements)
    assert part.statements[0].iterators == ("i",)


NEVER = """
def never(A):
    for i in range(4, 2):
        A[i] = 0.0
"""


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("schedule", pv.schedulers())
def test_loops_that_never_run_are_an_empty_run(schedule: str, target: str) -> None:
    kernel = agree(NEVER, np.ones(3), schedule=schedule, target=target)
    assert "never runs" in kernel.scop.notes[0]
    assert pv.check(kernel.scop, kernel.schedule)
    assert "none that ever runs" in repr(kernel.scop)


def test_one_tile_size_serves_all_loops() -> None:
    function = function_of(ADD)
    one, several = (pv.compile(function, target="python", tile=tile).source for tile in (5, (5, 5)))
    assert one == several
    assert one != pv.compile(function, target="python", tile=False).source


SLICES = """
def slices(x, y, steps):
    for t in range(steps):
        x[1:-1] = (y[:-2] + y[2:]) / 2.0
        y[:] = x
"""


@pytest.mark.slow
@pytest.mark.thinned(4)
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("schedule", ["original", "pluto"])
def test_slices_are_loops_whose_arrays_have_to_fit(schedule: str, target: str) -> None:
    kernel = agree(SLICES, np.arange(9.0) ** 2, np.ones(9), 3, schedule=schedule, target=target)
    with pytest.raises(ArgumentError, match="these sizes are not what the loops assume"):
        kernel(np.zeros(9), np.zeros(8), 3)


def test_an_array_for_a_number_is_explained() -> None:
    text = "def fill(A, b):\n    A[:] = b\n"
    kernel = pv.compile(pv.extract(text), target="python")
    with pytest.raises(ArgumentError) as caught:
        kernel(np.zeros(3), np.zeros(3))
    assert str(caught.value).splitlines() == [
        "fill(): b must be a number, not an array.",
        "  Why: Nothing subscripts `b`, so it is read as a number.",
        "  Hint: Write `b[:]` or `b[i]` where its elements are meant.",
    ]
    array = np.zeros(3)
    pv.compile(text, target="python")(array, np.arange(3.0))  # text is read anew for the call, as functions are
    assert array.tolist() == [0.0, 1.0, 2.0]


@pytest.mark.parametrize("schedule", ["original", "isl", "pluto"])
def test_sizes_that_leave_some_or_all_statements_without_iterations(schedule: str) -> None:
    text = "def f(A, n):\n    for i in range(n):\n        A[i] = 1.0\n    for i in range(3):\n        A[i] += 2.0\n"
    for program, expected in ((text, 2.0), (text.replace("range(3)", "range(n)"), 0.0)):
        kernel = pv.compile(program, schedule=schedule, target="python", sizes={"n": 0})
        array = np.zeros(3)
        kernel(array, 0)
        np.testing.assert_array_equal(array, expected)
        assert any("never runs for these sizes" in note for note in kernel.scop.notes)


def test_slices_may_be_empty_and_have_to_be_equally_long() -> None:
    kernel = pv.compile("def f(x, y, n, m):\n    x[1:n] = y[0:m]\n    x[::2] = y[1::3]\n", target="python")
    one, other = np.arange(2.0), np.arange(3.0)
    kernel(one, other, 0, 0)
    np.testing.assert_array_equal(one, [1.0, 1.0])
    with pytest.raises(ArgumentError, match="these sizes are not what the loops assume"):
        kernel(one, other, 2, 2)
    with pytest.raises(ArgumentError, match="these sizes are not what the loops assume"):
        kernel(np.arange(3.0), other, 0, 0)


@pytest.fixture
def picky(tmp_path: Path, cache_directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A compiler that builds the small programs it is tried with, and refuses kernels."""
    found = find_toolchain()
    if found is None:
        pytest.skip("needs a C compiler")
    command = tmp_path / "picky"
    command.write_text(
        f"""#!/bin/sh
case "$*" in
    *probe.c*|*--version*) exec {shlex.join(found.command)} "$@" ;;
esac
echo "kernel.c:1: error: out of patience" >&2
exit 1
"""
    )
    command.chmod(0o755)
    monkeypatch.setenv("POLYVIZ_CC", str(command))


def test_numba_takes_over_where_the_compiler_refuses_the_kernel(picky: None) -> None:
    kernel = pv.compile(function_of(RUNNING))
    assert kernel.target == "c"
    array = np.ones(4)
    kernel(array, 4)
    np.testing.assert_array_equal(array, [1, 2, 3, 4])
    assert kernel.target == "numba"
    (note,) = (note for note in kernel.program.notes if "instead of c" in note)
    assert note.startswith("target numba instead of c: The C compiler (picky) could not compile")
    assert note.endswith("kernel.c:1: error: out of patience")
    assert note in kernel.report()
    assert kernel.with_floating_point("strict").program_for(kernel.bind((array, 4), {})).notes[-1] == note


def test_a_target_that_was_asked_for_is_kept(picky: None) -> None:
    with pytest.raises(pv.ToolchainError, match="could not compile the generated code"):
        pv.compile(function_of(RUNNING), target="c")(np.ones(4), 4)


@pytest.mark.slow
def test_comparisons_go_on_with_numba_too(picky: None) -> None:
    result = pv.compare(function_of(RUNNING), np.ones(4), 4, schedules=("original",), baselines=(), repeats=1)
    assert [(row.label, row.status) for row in result.rows] == [("original/numba", "ok")]
    assert "instead of c" in result.rows[0].note
    assert list(result.kernels) == ["original/numba"]


@pytest.mark.parametrize(("given", "meant"), [("tilee", "tile"), ("packk", "pack"), ("thread", "threads")])
def test_a_misspelt_option_is_told_with_the_nearest_one(given: str, meant: str) -> None:
    with pytest.raises(pv.OptionError) as caught:
        pv.compile(function_of(ADD), target="python", **{given: 3})
    assert str(caught.value) == f"Scheduler `pluto` has no option `{given}` (did you mean `{meant}`?)."


SMOOTH_ROWS = """
def smooth(A, B):
    for i in range(A.shape[0]):
        for j in range(A.shape[1]):
            B[i, j] = 2.0 * A[i, j]
"""


@pytest.mark.parametrize("scheduler", ["isl", "superposition"])
def test_the_threads_of_a_block_are_given_per_axis(scheduler):
    made = pv.compile(SMOOTH_ROWS, schedule=scheduler, target="emulated", threads=(32, 4))
    assert made.program.device.kernels[0].block == (32, 4, 1)
    with pytest.raises(pv.OptionError, match="4096 threads, and a block holds at most"):
        pv.compile(SMOOTH_ROWS, schedule=scheduler, target="emulated", threads=(64, 64))


def test_a_single_number_that_no_block_holds_is_refused():
    with pytest.raises(pv.OptionError, match="A block of 2048 threads is too large") as error:
        pv.compile(SMOOTH_ROWS, schedule="superposition", target="emulated", threads=2048)
    assert "threads=(32, 8)" in str(error.value.hint)


@pytest.mark.parametrize("name", ["gpu", "GPU", "nvidia"])
def test_a_word_for_a_device_names_the_targets_that_run_kernels(name):
    with pytest.raises(pv.OptionError, match="did you mean 'cuda', which needs a GPU, or 'emulated'"):
        pv.compile(SMOOTH_ROWS, target=name)


def test_threads_of_a_processor_mean_nothing_on_a_device_and_that_is_said():
    made = pv.compile(SMOOTH_ROWS, schedule="isl", target="emulated", threads=2)
    assert "threads=2 bounds the threads of a processor and changes nothing here" in made.report()
    assert (
        "bounds the threads of a processor"
        not in pv.compile(SMOOTH_ROWS, target="python", threads=2).report()
    )


COPIED_UP_TO = """
    def f(A, B, n):
        B[1 : n - 1] = 2.0 * A[1 : n - 1]
    """


def test_a_bound_of_a_slice_that_would_count_from_the_end_is_refused_at_the_call() -> None:
    kernel = pv.compile(function_of(COPIED_UP_TO), target="python")
    values = np.arange(6.0)
    for n in (6, 3, 2, 1):
        given, wanted = np.zeros(6), np.zeros(6)
        kernel(values, given, n)
        wanted[1 : n - 1] = 2.0 * values[1 : n - 1]
        np.testing.assert_array_equal(given, wanted)
    with pytest.raises(ArgumentError, match="n > 0"):
        kernel(values, np.zeros(6), 0)


def test_the_inner_part_of_an_array_without_elements_has_none() -> None:
    def inner(A):
        n = A.shape[0]
        A[1 : n - 1] = 3.0

    pv.compile(inner, target="python")(np.zeros(0))


COPY = """
def copied(A, B):
    for i in range(A.shape[0]):
        for j in range(A.shape[1]):
            A[i, j] = B[i, j]
"""


def test_the_report_says_what_makes_the_latest_call_slower() -> None:
    kernel = pv.compile(function_of(COPY), target="python")
    plain = np.arange(6.0).reshape(2, 3)
    unaligned = np.ndarray(plain.shape, plain.dtype, buffer=np.zeros(plain.nbytes + 1, np.uint8), offset=1)
    unaligned[...] = plain
    assert "slower" not in kernel.report()
    said = {"Fortran order": np.asfortranarray(plain), "not contiguous": plain[:, ::-1], "not aligned": unaligned}
    for reason, other in said.items():
        result = np.zeros_like(plain)
        kernel(result, other)
        np.testing.assert_array_equal(result, other)
        assert f"note: B {'lies in' if reason == 'Fortran order' else 'is'} {reason}" in kernel.report()
        kernel(result, plain)
        assert reason not in kernel.report()


def test_a_quick_call_after_a_slow_one_is_not_said_to_be_slow() -> None:
    kernel = pv.compile(function_of(COPY), target="c")
    plain = np.arange(6.0).reshape(2, 3)
    for _ in range(2):  # the second call of its kind goes the quick way
        kernel(np.zeros_like(plain), plain)
        kernel(np.zeros_like(plain), np.asfortranarray(plain))
        assert "Fortran order" in kernel.report()
    kernel(np.zeros_like(plain), plain)
    assert "Fortran order" not in kernel.report()


def test_the_report_says_where_the_cache_could_not_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("POLYVIZ_CACHE_DIR", str(tmp_path / "file"))
    kernel = pv.compile(function_of(RUNNING), target="c")
    kernel(np.ones(4), 4)
    assert "note: The library lies in " in kernel.report()


def test_auto_says_why_it_is_not_c(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("POLYVIZ_CC", "/nowhere/cc")
    said = "target: numba instead of c: POLYVIZ_CC names '/nowhere/cc', and there is no such command."
    assert said in pv.compile(function_of(RUNNING)).report()
    assert "instead of" not in pv.compile(function_of(RUNNING), target="numba").report()


def test_a_bound_on_threads_is_a_bound() -> None:
    assert "threads: parallel loops run on at most 500 threads" in pv.compile(function_of(COPY), threads=500).report()
