"""The magics in a shell: what they change, what they leave alone, and what they show."""

from __future__ import annotations

import re

import numpy as np
import pytest

import polyviz
from polyviz.errors import OptionError, VerificationError
from polyviz.notebook.result import ALONG_WAVEFRONTS
from polyviz.runtime.kernel import Kernel
from polyviz.views import charts
from polyviz.views.schema import MIME

MAGICS = {"cell": ("polyopt", "polycheck"), "line": ("polycheck", "polyinspect", "polyschedulers", "polydoctor")}

TRANSPOSE = """\
for i in range(N):
    for j in range(N):
        C[i, j] = A[j, i] + 1.0
"""
ACCUMULATE = """\
for i in range(N):
    for j in range(N):
        for k in range(N):
            C[i, j] += A[i, k] * B[k, j]
"""


def test_loading_registers_everything_silently_and_unloading_undoes_it(shell, capsys) -> None:
    def names() -> dict[str, set[str]]:
        return {kind: set(shell.magics_manager.magics[kind]) for kind in MAGICS}

    before = names()
    matchers = list(shell.Completer.custom_matchers)
    transformers = list(shell.input_transformers_cleanup)
    shell.run_line_magic("load_ext", "polyviz")
    shell.run_line_magic("reload_ext", "polyviz")
    polyviz.load_ipython_extension(shell)
    assert names() == {kind: before[kind] | set(added) for kind, added in MAGICS.items()}
    assert len(shell.Completer.custom_matchers) == len(matchers) + 1
    shell.run_line_magic("unload_ext", "polyviz")
    assert names() == before
    assert "PolyvizMagics" not in shell.magics_manager.registry
    assert shell.Completer.custom_matchers == matchers
    assert shell.input_transformers_cleanup == transformers
    assert "".join(capsys.readouterr()) == ""


def test_help_names_every_option(notebook, capsys) -> None:
    notebook.shell.run_cell("%%polyopt?")
    shown = "".join(capsys.readouterr())
    for word in ("--schedule", "--no-verify", "--show", "Run the loops of the cell in another order"):
        assert word in shown


@pytest.mark.slow
def test_print_and_a_value_at_the_end_of_a_cell(notebook, capsys) -> None:
    loops = "s = 0.0\nfor i in range(N):\n    s += A[i, i]\n"
    result = notebook.run(f"%%polyopt -t python\n{loops}print('sum', s > 0)\nN + 1")
    assert result.parts[0].row.verified
    assert capsys.readouterr().out.startswith("sum True\n13\n")


@pytest.mark.slow
def test_loops_that_are_not_parallel_may_run_on_several_threads(notebook) -> None:
    above = "for t in range(9):\n    for i in range(1, N):\n        for j in range(1, N):\n"
    swept = notebook.run(f"%%polyopt -t c\n{above}            A[i, j] = A[i - 1, j] + A[i, j - 1]\n").parts[0]
    assert not any(loop.parallel for loop in swept.loops)
    assert ALONG_WAVEFRONTS in swept.notes
    assert "#pragma omp parallel" in swept.kernel.source
    assert ALONG_WAVEFRONTS not in notebook.run(f"%%polyopt -t python\n{ACCUMULATE}").parts[0].notes


@pytest.mark.slow
def test_a_comparison_says_each_note_of_a_program_once(notebook) -> None:
    notebook.namespace["A"] = np.asfortranarray(notebook["A"])
    notebook.namespace["B"] = np.zeros((24, 24))[::2, ::2]
    result = notebook.run("%%polyopt --compare -s pluto -t c --without pack --repeats 1\n" + ACCUMULATE)
    untiled = "S0 runs without tiles in registers: B is not contiguous, and not packed"
    turned = "A lies in Fortran order, so the loops are planned and written for its transpose"
    assert [note for note in result.parts[0].notes if turned in note or untiled in note] == [f"{untiled}.", turned]
    row = next(row for row in result.parts[0].comparison.rows if not row.is_baseline)
    assert row.note == f"{untiled}; {turned}"


def test_a_function_can_be_called_at_the_end_of_its_cell(notebook) -> None:
    notebook.namespace["v"] = np.arange(3.0)
    notebook.run("%%polyopt -t python\ndef twice(x):\n    for i in range(len(x)):\n        x[i] = 2 * x[i]\ntwice(v)\n")
    np.testing.assert_array_equal(notebook["v"], [0.0, 2.0, 4.0])


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("total = A.ptp()", ["The method `.ptp()` is not supported.", "  2 | total = A.ptp()", "Write the loop"]),
        ("Z = np.zeros(3)", ["There is no statement to run.", "element of an array", "for i in range(n)"]),
    ],
)
def test_a_cell_without_loops_says_what_is_missing(notebook, text: str, found: list[str]) -> None:
    message = notebook.error("%%polyopt\n" + text)
    assert all(part in message for part in found)
    assert "Z" not in notebook.namespace


def test_loops_that_never_run_change_nothing(notebook) -> None:
    before = notebook["A"].copy()
    notebook.run("%%polyopt\nfor i in range(4, 2):\n    A[i, 0] = 1.0\n")
    np.testing.assert_array_equal(notebook["A"], before)
    assert "i" not in notebook.namespace


@pytest.mark.slow
def test_slices_leave_no_loop_variable_behind(notebook) -> None:
    expected = notebook["B"] * 2
    notebook.run("%%polyopt -t python\nA[:] = B * 2\n")
    np.testing.assert_array_equal(notebook["A"], expected)
    assert not {"i", "j"} & set(notebook.namespace)


@pytest.mark.parametrize("cell", ["%%polyopt --help", "%%polyopt -h\n", "%%polyopt -s isl --help\nprint(1 / 0)"])
def test_help_is_an_option_too(notebook, capsys, cell: str) -> None:
    assert notebook.run(cell) is None
    shown = capsys.readouterr().out
    assert shown.startswith("%%polyopt [-s NAME")
    assert "Run the loops of the cell in another order" in shown


@pytest.mark.parametrize("above", ["x = 1\n", "# first\n", "import math\n\n"])
def test_a_magic_below_the_first_line_is_explained(notebook, above: str) -> None:
    notebook._read()
    outcome = notebook.shell.run_cell(f"{above}%%polyopt\nfor i in range(N):\n    A[i, 0] = 1.0\n")
    assert isinstance(outcome.error_before_exec, OptionError)
    assert notebook._read().strip().startswith("OptionError: %%polyopt has to be the first line of its cell")


def test_the_name_of_the_magic_in_a_string_is_left_alone(notebook) -> None:
    notebook.run('text = """\n%%polyopt\n"""')
    assert notebook["text"] == "\n%%polyopt\n"


def test_the_program_alone_is_shown_unfolded(notebook) -> None:
    shown = notebook.run("%%polyopt -t python -s isl --show source\n" + TRANSPOSE)._repr_mimebundle_()
    assert "<details open" in shown["text/html"]


def test_a_schedule_of_ones_own_by_text_and_by_name(notebook) -> None:
    expected = notebook["A"].T + 1.0
    result = notebook.run('%%polyopt -t python -s "{ S0[i, j] -> [j, i] }"\n' + TRANSPOSE)
    assert result.parts[0].title.startswith("user on python: verified")
    np.testing.assert_allclose(notebook["C"], expected)
    notebook.namespace["mine"] = polyviz.schedule(polyviz.extract(TRANSPOSE), "isl")
    result = notebook.run("%%polyopt -t python -s original,mine --repeats 1\n" + TRANSPOSE)
    assert [row.label for row in result.comparison.rows][-2:] == ["original/python", "mine/python"]
    assert all(row.verified for row in result.comparison.rows)


@pytest.mark.slow
def test_bare_loops_run_once_and_in_place(notebook) -> None:
    array, expected = notebook["C"], notebook["C"] + notebook["A"] @ notebook["B"]
    result = notebook.run("%%polyopt\n" + ACCUMULATE)
    assert notebook["C"] is array
    np.testing.assert_allclose(array, expected)
    assert result.parts[0].row.verified is True
    assert notebook["_"] is result


def test_loop_variables_and_scalars_end_as_in_python(notebook) -> None:
    code = "total = 0.0\ncount = 3\nfor i in range(2, N, 3):\n    count += 1\n    for j in range(i):\n"
    code += "        total += A[i, j]\n"
    notebook.run("%%polyopt -t python\n" + code)
    values = {name: notebook[name] for name in ("total", "count", "i", "j")}
    expected = {"A": notebook["A"], "N": 12}
    exec(code, expected)
    assert values["count"] == expected["count"]
    assert (values["i"], values["j"]) == (expected["i"], expected["j"])
    assert values["total"] == pytest.approx(expected["total"])
    assert [type(values[name]) for name in ("total", "count", "i")] == [float, int, int]


@pytest.mark.thinned(3)
@pytest.mark.parametrize("target", ["python", "c"])
@pytest.mark.parametrize(
    "code",
    [
        "for i in range(N):\n    s += A[i, i]\n",
        "for i in range(N):\n    s = s * 0.5 + A[i, 0]\n    count += 1\n",
        "for i in range(N):\n    C[count, 0] = A[i, 0]\n    count += 1\n",
        "for i in range(N):\n    if i > 20:\n        s = 1.0\n",
        "for i in range(N):\n    if i > 20:\n        fresh = 1.0\n",
        "for i in range(Z):\n    s = A[i, 0]\n    fresh = s\n",
        "for i in range(N):\n    if A[i, 0] > 2.0:\n        s = 1.0\n",
        "m = -1.0\nfor i in range(N):\n    if A[i, 0] > m:\n        m = A[i, 0]\n        where = i\n",
    ],
)
def test_scalars_of_the_notebook_are_read_and_kept_as_in_python(notebook, code: str, target: str) -> None:
    start = {"s": 2.5, "count": 0, "Z": 0}
    names = (*start, "fresh", "m", "where", "i")
    expected = {**start, "N": 12, "A": notebook["A"], "C": notebook["C"].copy()}
    exec(code, expected)
    notebook.namespace.update(start)
    notebook.run(f"%%polyopt -t {target}\n{code}")
    for name in names:
        assert (name in notebook.namespace) == (name in expected), name
        if name in expected:
            assert notebook[name] == pytest.approx(expected[name]), name
    np.testing.assert_array_equal(notebook["C"], expected["C"])


def test_a_loop_that_does_not_run_leaves_its_variable_alone(notebook) -> None:
    notebook.namespace["M"] = 0
    before = notebook["C"].copy()
    notebook.run("%%polyopt -t python\nfor q in range(M):\n    for r in range(N):\n        C[q, r] = 0.0\n")
    assert "q" not in notebook.namespace
    assert "r" not in notebook.namespace
    np.testing.assert_array_equal(notebook["C"], before)


def test_the_summary_in_a_terminal(notebook, golden, steady) -> None:
    golden(steady(repr(notebook.run("%%polyopt -t python\n" + ACCUMULATE))))


def test_the_bundle_has_data_static_html_and_text(notebook) -> None:
    bundle = notebook.run("%%polyopt -t python\n" + ACCUMULATE)._repr_mimebundle_()
    assert set(bundle) == {MIME, "text/html", "text/plain"}
    assert not re.search(r"<(script|style|svg)", bundle["text/html"])
    assert "data:image/svg+xml" in bundle["text/html"]


@pytest.mark.parametrize("view", ["source", "schedule", "tree"])
def test_one_view_alone(notebook, golden, steady, view: str) -> None:
    golden(steady(repr(notebook.run(f"%%polyopt -s isl -t python --tile off --show {view}\n" + TRANSPOSE))))


def test_a_view_that_the_target_does_not_have_is_a_note_under_what_was_done(notebook, capsys) -> None:
    result = notebook.run("%%polyopt --show teaching -t python\n" + TRANSPOSE)
    shown = notebook.shell.display_formatter.format(result)[0]["text/plain"]
    assert shown.endswith("The target python has no blocks and threads: choose -t emulated or cuda.")
    assert "ran in place" in shown
    assert "Error" not in "".join(capsys.readouterr())


def test_a_comparison_runs_the_chosen_variant_once(notebook) -> None:
    expected = notebook["C"] + notebook["A"] @ notebook["B"]
    result = notebook.run("%%polyopt -s original,isl -t python --repeats 2\n" + ACCUMULATE)
    np.testing.assert_allclose(notebook["C"], expected)
    assert [(row.label, row.verified) for row in result.comparison.rows] == [
        ("as written/numba", True),
        ("original/python", True),
        ("isl/python", True),
    ]
    assert result.kernel in result.comparison.kernels.values()
    assert "Comparison of cell" in repr(result)


def test_a_comparison_bears_the_name_that_was_given(notebook) -> None:
    result = notebook.run("%%polyopt --compare -s original -t python --name update --repeats 2\n" + ACCUMULATE)
    assert "Comparison of update" in repr(result)
    assert "call of update" in charts.draw(result.comparison.data)


def test_new_arrays_and_imports_of_the_cell_are_bound(notebook) -> None:
    notebook.run(
        "%%polyopt -t python\nimport math as m\nM = 4\nT = np.zeros((M, M))\ns = 1.0\n"
        "for i in range(M):\n    T[i, i] = s + m.sqrt(4.0)\n"
    )
    np.testing.assert_array_equal(notebook["T"], 3.0 * np.eye(4))
    assert (notebook["M"], notebook["s"]) == (4, 1.0)
    assert notebook["m"].__name__ == "math"


def test_functions_are_bound_as_kernels_with_their_helpers(notebook) -> None:
    notebook.run(
        "%%polyopt -t python\nSCALE = 2.0\ndef scaled(x):\n    return SCALE * x\n\n"
        "def first(X, n=3):\n    for i in range(n):\n        X[i, i] = scaled(X[i, i])\n\n"
        "def second(X):\n    s = 0.0\n    for i in range(len(X)):\n        s += X[i, 0]\n    return s\n"
    )
    assert isinstance(notebook["first"], Kernel)
    assert notebook["scaled"](1.5) == 3.0
    identity = np.eye(4)
    assert notebook.run("first(A2 := np.eye(4)); A2").tolist() == np.diag([2.0, 2.0, 2.0, 1.0]).tolist()
    assert notebook["second"](identity) == 1.0


def test_after_an_error_no_function_is_bound(notebook) -> None:
    notebook.error(
        "%%polyopt\ndef good(X):\n    for i in range(len(X)):\n        X[i] = 0\n\n"
        "def bad(X):\n    for i in range(len(X)):\n        print(i)\n"
    )
    assert "good" not in notebook.namespace


def test_a_function_says_that_it_is_not_verified_yet(notebook, golden) -> None:
    golden(repr(notebook.run("%%polyopt -t python\ndef zero(X):\n    for i in range(len(X)):\n        X[i] = 0.0\n")))


def test_the_result_can_be_kept_under_a_name(notebook) -> None:
    result = notebook.run("%%polyopt -t python --name kept\n" + TRANSPOSE)
    assert notebook["kept"] is result


def test_inspected_loops_are_called_what_the_cell_calls_them(notebook) -> None:
    notebook.run("%%polyopt --inspect --name transposed\n" + TRANSPOSE)
    assert notebook["transposed"].scop.name == "transposed"


def test_a_view_that_cannot_be_made_leaves_the_result(notebook, monkeypatch) -> None:
    result = notebook.run("%%polyopt -t python --show tree\n" + TRANSPOSE)

    def refuse(*_: object) -> None:
        raise OptionError("No tree today.", hint="Come back tomorrow.")

    monkeypatch.setattr("polyviz.notebook.result.read_tree", refuse)
    assert repr(result).endswith("\nNo tree today. Come back tomorrow.")


def test_inspecting_runs_no_loop(notebook) -> None:
    before = notebook["C"].copy()
    inspector = notebook.run("%%polyopt --inspect -s isl,feautrier --set N=12\n" + TRANSPOSE)
    np.testing.assert_array_equal(notebook["C"], before)
    assert list(inspector.schedules) == ["isl", "feautrier"]
    assert "N = 12" in str(inspector.scop.context)


def test_a_known_size_reaches_the_generated_code(notebook) -> None:
    result = notebook.run("%%polyopt -t python --set N=12 --tile off\n" + TRANSPOSE)
    assert "range(12)" in result.kernel.source


def test_without_verification_the_result_says_so(notebook) -> None:
    result = notebook.run("%%polyopt -t python --no-verify\n" + TRANSPOSE)
    assert "not verified, as asked" in repr(result)
    assert result.parts[0].row is None
    np.testing.assert_array_equal(notebook["C"], notebook["A"].T + 1.0)


def test_a_loop_that_takes_too_long_to_compare_with(notebook, golden, monkeypatch) -> None:
    monkeypatch.setattr("polyviz.notebook.session.TIME_LIMIT", 0.001)
    before = notebook["C"].copy()
    # Loops of their own: others may be compiled already, and be done in that time.
    golden(notebook.error("%%polyopt -t python\n" + TRANSPOSE.replace("1.0", "3.5")))
    np.testing.assert_array_equal(notebook["C"], before)


CELLS = {
    "schedule": "%%polyopt -s plutoo\n" + TRANSPOSE,
    "option": "%%polyopt --comprae\n" + TRANSPOSE,
    "call": "%%polyopt -s isl\nfor i in range(N):\n    C[i, 0] = np.sort(A[i])[0]\n",
    "unknown name": "%%polyopt\nfor i in range(N):\n    C[i, 0] = alpha * A[i, 0]\n",
    "misspelt name": "%%polyopt\nheights = 3.0\nfor i in range(N):\n    C[i, 0] = hieghts * A[i, 0]\n",
    "list": "%%polyopt\nfor i in range(N):\n    C[i, 0] = values[i]\n",
    "loop over list": "%%polyopt\nfor i, v in enumerate(values):\n    C[i, 0] = v\n",
    "no value": "%%polyopt\nfor i in range(N):\n    total += A[i, 0]\n",
    "syntax": "%%polyopt\nfor i in range(N)\n    C[i, 0] = 0\n",
    "bounds": "%%polyopt\nfor i in range(N + 1):\n    C[i, 0] = 0.0\n",
    "functions cannot be compared": "%%polyopt --compare\ndef f(X):\n    for i in range(len(X)):\n        X[i] = 0.0\n",
    "two functions to inspect": "%%polyopt --inspect\n" + "".join(
        f"def {name}(X):\n    for i in range(len(X)):\n        X[i] = 0.0\n" for name in "fg"
    ),
    "mixed": "%%polyopt\ndef f(X):\n    for i in range(len(X)):\n        X[i] = 0.0\n\nA[0] = f(A)\n",
    "inspect": "%polyinspect kernle",
    "inspect nothing": "%polyinspect",
    "schedulers": "%polyschedulers pluto",
}


@pytest.mark.parametrize("name", CELLS)
def test_errors_are_short_and_point_at_the_construct(notebook, golden, name: str) -> None:
    notebook.namespace.update(R=notebook["A"][1:], kernel=None, values=[1.0] * 12)
    before = {array: notebook[array].copy() for array in "ABC"}
    shown = notebook.error(CELLS[name])
    assert "Traceback" not in shown
    golden(shown)
    for array, values in before.items():
        np.testing.assert_array_equal(notebook[array], values)


def test_arrays_that_overlap_run_as_written_and_that_is_said(notebook) -> None:
    expected = notebook["A"].copy()
    notebook.namespace["R"] = notebook["A"][1:]
    for i in range(11):
        expected[i + 1, 0] = 2 * expected[i, 0]
    result = notebook.run("%%polyopt\nfor i in range(N - 1):\n    R[i, 0] = 2 * A[i, 0]\n")
    np.testing.assert_array_equal(notebook["A"], expected)
    assert result.parts[0].title.startswith("as written, since arrays overlap in memory: ran in place in ")
    assert "Note: A and R overlap in memory, and R is written. Pass a copy of one of them" in repr(result)
    assert "parallel" not in repr(result)
    assert "Loops, for arrays that do not overlap" in result._repr_mimebundle_()["text/html"]


@pytest.mark.slow
@pytest.mark.parametrize(("target", "slower"), [("python", True), ("numba", False)])
def test_arrays_that_take_a_slower_way_are_named(notebook, target: str, *, slower: bool) -> None:
    notebook.namespace["A"] = np.asfortranarray(notebook["A"])
    expected = notebook["A"].T + 1.0
    result = notebook.run(f"%%polyopt -t {target}\n" + TRANSPOSE)
    np.testing.assert_array_equal(notebook["C"], expected)
    assert ("Note: A lies in Fortran order and is read through its strides" in repr(result)) == slower


@pytest.mark.slow
@pytest.mark.parametrize("options", ["", " -s pluto --compare"])
def test_without_a_compiler_the_cell_says_why_numba_ran(
    notebook, monkeypatch: pytest.MonkeyPatch, options: str
) -> None:
    monkeypatch.setenv("POLYVIZ_CC", "/nowhere/cc")
    result = notebook.run(f"%%polyopt{options}\n{TRANSPOSE}")
    mark = "  - " if options else "Note: "  # in the table of a comparison: the loop as written may be what ran
    assert f"{mark}target numba instead of c: POLYVIZ_CC names '/nowhere/cc', and there is no" in repr(result)
    assert "pluto/numba" in repr(result) if options else "pluto on numba" in repr(result)


@pytest.mark.slow
def test_a_strict_cell_is_verified_bit_for_bit(notebook) -> None:
    result = notebook.run("%%polyopt --contract strict\n" + ACCUMULATE)
    assert "verified bit for bit against the loop as written (contract strict)" in repr(result)
    assert result.kernel.floating_point == "strict"


@pytest.mark.slow
def test_a_cell_without_techniques(notebook) -> None:
    result = notebook.run("%%polyopt --without tile,threads --contract strict\n" + ACCUMULATE)
    steps = [decision.step for decision in result.kernel.plan.decisions]
    assert "tile" not in steps
    assert result.kernel.program.threads == 1


@pytest.mark.slow
def test_a_cell_that_is_tuned_first(notebook, cache_directory) -> None:
    expected = notebook["C"] + notebook["A"] @ notebook["B"]
    result = notebook.run("%%polyopt -t python --tune 0.01\n" + ACCUMULATE)
    np.testing.assert_allclose(notebook["C"], expected)
    tuning = result.parts[0].tuning
    assert tuning.trials[0].name == "the defaults"
    assert tuning.ended == "the 0.01 seconds were up"
    assert "Tuning of cell" in repr(result)
    assert "<table" in result._repr_mimebundle_()["text/html"]


def test_tuning_needs_arrays(notebook) -> None:
    shown = notebook.error("%%polyopt --tune\ndef f(X):\n    for i in range(len(X)):\n        X[i] = 0.0\n")
    assert shown == (
        "OptionError: Tuning needs arrays to run on, and this cell only defines functions: "
        "use polyviz.tune(f, …) in the next cell."
    )


@pytest.mark.slow
def test_an_interrupt_while_tuning_keeps_what_was_learned(notebook, monkeypatch, cache_directory) -> None:
    from polyviz.tuning.live import Live

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Live, "challenge", interrupted)
    before = notebook["C"].copy()
    shown = notebook.error("%%polyopt -t python --tune 30\n" + ACCUMULATE)
    assert re.sub(r"[\d.]+ s", "… s", shown) == (
        "CancelledError: Interrupted while tuning, after … s: nothing better than the defaults was found so far. "
        "No array was changed."
    )
    np.testing.assert_array_equal(notebook["C"], before)


def test_an_error_in_ordinary_python_is_pythons_own(notebook) -> None:
    shown = notebook.error("%%polyopt\nT = np.zeros(undefined)\nfor i in range(N):\n    T[i] = 0.0\n")
    assert "NameError: name 'undefined' is not defined" in shown


def test_option_errors_are_errors_of_the_package(notebook) -> None:
    notebook.error("%%polyopt --tile x\n" + TRANSPOSE)
    assert isinstance(notebook["_error"], OptionError)


def test_inspect_takes_functions_kernels_and_parts(notebook) -> None:
    notebook.run("%%polyopt -t python --name r\ndef zero(X):\n    for i in range(len(X)):\n        X[i] = 0.0\n")
    for expression in ("zero", "r.scop"):
        assert notebook.shell.run_line_magic("polyinspect", expression).scop.name == "zero"


def test_listings(notebook) -> None:
    schedulers = notebook.shell.run_line_magic("polyschedulers", "")
    assert {"original", "isl", "pluto"} <= {row[0] for row in schedulers.rows}
    assert "<table" in schedulers._repr_mimebundle_()["text/html"]
    assert "islpy" in repr(notebook.shell.run_line_magic("polydoctor", ""))


def break_programs(monkeypatch: pytest.MonkeyPatch, old: str, new: str) -> None:
    """Let every generated program hold ``new`` where it should hold ``old``."""
    from dataclasses import replace

    right = Kernel.program_for

    def wrong(kernel: Kernel, bound):
        program = right(kernel, bound)
        assert old in program.text
        return replace(program, text=program.text.replace(old, new))

    monkeypatch.setattr(Kernel, "program_for", wrong)


FAULTS = {
    "wrong": ("python", "+ 1.0", "+ 2.0"),
    "raises": ("python", "C[i, j] =", "C[i, j] = 1 / 0 +"),
    "crash": ("c", "return 0;", "*(volatile int *)1 = 0;\n    return 0;"),
    "hang": ("c", "return 0;", "for (volatile int64_t turn = 0; turn >= 0; turn = 0);\n    return 0;"),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", FAULTS)
def test_a_variant_at_fault_never_reaches_the_arrays(notebook, golden, steady, monkeypatch, name: str) -> None:
    target, old, new = FAULTS[name]
    monkeypatch.setattr("polyviz.notebook.session.TIME_LIMIT", 20.0 if name != "hang" else 5.0)
    break_programs(monkeypatch, old, new)
    before = notebook["C"].copy()
    golden(steady(notebook.error(f"%%polyopt -s original -t {target} --tile off\n" + TRANSPOSE)))
    assert isinstance(notebook["_error"], VerificationError)
    np.testing.assert_array_equal(notebook["C"], before)
    assert "i" not in notebook.namespace


@pytest.mark.slow
def test_when_no_compared_variant_can_be_trusted_the_table_is_shown(notebook, monkeypatch) -> None:
    break_programs(monkeypatch, "+ 1.0", "+ 2.0")
    before = notebook["C"].copy()
    shown = notebook.error("%%polyopt -s original,isl -t python --tile off --repeats 2\n" + TRANSPOSE)
    assert shown.count("the original loop gives") == 2
    assert shown.endswith(
        "NoVariantError: No variant could be verified, so none was run on your arrays. No array was changed."
    )
    np.testing.assert_array_equal(notebook["C"], before)


@pytest.mark.parametrize("option", ["", "--compare", "--no-verify"])
def test_a_cell_that_leaves_an_array_says_where(notebook, option: str) -> None:
    notebook.namespace.update(y=np.zeros(4), place=np.array([0, 1, 4]))
    text = notebook.error(f"%%polyopt -t python {option}\nfor i in range(3):\n    y[place[i]] += 1.0\n")
    told = "`y[place[i]]` leaves its array in iteration i=2: `place[i]` is 4, and `y` has 4 elements"
    assert told in text
    assert not notebook["y"].any()


def test_a_function_of_one_cell_is_called_in_the_next(notebook) -> None:
    notebook.run("%%polyopt -t python\ndef twice(v):\n    return 2.0 * v\n")
    notebook.run("%%polyopt -t python\ndef doubled(a):\n    for i in range(len(a)):\n        a[i] = twice(a[i])\n")
    notebook.run("x = np.arange(3.0)\ndoubled(x)")
    notebook.run("%%polyopt -t python\nfor i in range(len(x)):\n    x[i] = twice(x[i])\n")
    assert notebook["x"].tolist() == [0.0, 4.0, 8.0]


def test_a_function_whose_first_call_tells_the_dimensions(notebook) -> None:
    shown = notebook.run("%%polyopt -t python\ndef product(A, x):\n    return A @ x\n")
    assert repr(shown) == (
        "product is compiled when it is called: its text does not tell how many dimensions its arrays have, and the "
        "first call does."
    )
    assert shown.kernel is notebook["product"]
    assert shown.comparison is None
    np.testing.assert_allclose(notebook.run("product(A, A[0])"), notebook["A"] @ notebook["A"][0])
    assert "product" in notebook["product"].source


def test_a_function_is_read_anew_for_arrays_of_more_dimensions(notebook) -> None:
    notebook.run("%%polyopt -t python\ndef nearest(P, Q):\n    best = 0.0\n    for i in range(len(Q)):\n"
                 "        best += np.sum((P[0] - Q[i]) ** 2)\n    return best\n")
    expected = sum(np.sum((notebook["A"][0] - row) ** 2) for row in notebook["B"])
    assert notebook.run("nearest(A, B)") == pytest.approx(expected)


def test_threads_that_add_into_copies_are_told_where_no_loop_is_parallel_as_written(notebook) -> None:
    notebook.namespace.update(hist=np.zeros(8, dtype=np.int64), places=np.arange(4000) % 8)
    shown = notebook.run("%%polyopt -t c\nfor i in range(4000):\n    hist[places[i]] += 1\n")
    assert "No loop is parallel as written. All the same, threads share the loop" in repr(shown)


def test_a_page_tells_a_note_with_the_comparison_and_with_the_source_and_no_third_time(notebook) -> None:
    notebook.namespace.update(hist=np.zeros(8), places=np.arange(40) % 8)
    shown = notebook.run("%%polyopt -t python --repeats 1 --compare\nfor i in range(40):\n    hist[places[i]] += 1\n")
    assert shown._repr_mimebundle_()["text/html"].count("depends on data") == 2
