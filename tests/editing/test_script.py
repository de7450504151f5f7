"""Scripts: what an edit writes is read again, and what is no script is refused with its line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import polyviz as pv
from polyviz.editing.script import literal
from polyviz.errors import OptionError
from tests.editing.kernels import GEMM, JACOBI, edit
from tests.running import function_of

if TYPE_CHECKING:
    from collections.abc import Callable


def tuned() -> pv.Edit:
    changed = edit(GEMM).apply("distribute", "i").apply("interchange", "S1", order=("j", "k"))
    changed = changed.apply("tile", "S1.i", sizes=[4, 4, 4]).apply("parallel", "S1.i_tile")
    return changed.apply("shift", "S0.i", amount="C_shape_0 - 1").apply("unroll", "k", factor=2)


def test_a_script_makes_the_same_tree_again(golden: Callable[..., None]) -> None:
    changed = tuned()
    again = pv.replay(function_of(GEMM), changed.script())
    assert again.tree.plain_is_equal(changed.tree)
    assert again.script() == changed.script()
    golden(changed.script())


def test_a_python_script_stands_for_itself(golden: Callable[..., None]) -> None:
    changed = tuned()
    names: dict[str, Any] = {}
    exec(changed.python(), names)
    assert names["schedule"].tree.plain_is_equal(changed.tree)
    golden(changed.python())


def test_undone_moves_are_in_no_script() -> None:
    assert tuned().undo(6).script() == 'schedule("original")\n'


@pytest.mark.parametrize("start", ["pluto", "{ S0[t, i] -> [t, 0, i]; S1[t, i] -> [t, 1, i] }"])
def test_scripts_begin_with_any_schedule(start: str) -> None:
    begun = pv.edit(function_of(JACOBI), start)
    changed = (
        begun.apply("reversal", begun.loops[-1])
        if start != "pluto"
        else begun.apply("tile", "t", sizes=(2, 3))
    )
    assert pv.replay(function_of(JACOBI), changed.script()).tree.plain_is_equal(changed.tree)


def test_scripts_keep_the_options_of_the_scheduler() -> None:
    begun = pv.edit(function_of(JACOBI), "pluto", tile=4)
    assert begun.script() == 'schedule("pluto", tile=4)\n'
    assert pv.replay(function_of(JACOBI), begun.script()).tree.plain_is_equal(begun.tree)


def test_a_script_of_an_edited_edit_holds_its_tree() -> None:
    changed = pv.edit(function_of(GEMM), tuned()).apply("reversal", "S0.j")
    again = pv.replay(function_of(GEMM), changed.script())
    assert not pv.difference(changed.schedule, again.schedule)


def test_comments_and_positions_are_allowed() -> None:
    script = '# tuned by hand\nschedule("original")\n\ndistribute("i")  # two nests\n'
    assert pv.replay(function_of(GEMM), script).loops == ("S0.i", "S0.j", "S1.i", "k", "S1.j")


NO_SCRIPTS = {
    "nothing": "",
    "no start": 'tile(at="i", sizes=(4,))',
    "syntax": 'schedule("original")\ntile(at="i"',
    "assignment": 'schedule("original")\nx = 3',
    "name": 'schedule("original")\ntile(at=i, sizes=(4,))',
    "attribute": 'schedule("original")\nos.system("true")',
    "unknown move": 'schedule("original")\n\nfrobnicate(at="i")',
    "senseless": 'schedule("original")\ntile(at="i", sizes=(4, 4))',
    "illegal": 'schedule("original")\nreversal(at="k")',
}


@pytest.mark.parametrize("case", NO_SCRIPTS)
def test_what_is_no_script(case: str, golden: Callable[..., None]) -> None:
    with pytest.raises(pv.PolyvizError) as error:
        pv.replay(function_of(GEMM), NO_SCRIPTS[case])
    golden(f"{NO_SCRIPTS[case]}\n\n{type(error.value).__name__}: {error.value}")


def test_a_script_is_text() -> None:
    with pytest.raises(pv.OptionError, match="A script is text"):
        pv.replay(function_of(GEMM), 5)


@pytest.mark.parametrize("value", ['a"b\\c\nd', ("i",), ("S0", "S1"), (("a",), (3,)), 7, -1, True, ()])
def test_literals_are_read_again(value: object) -> None:
    assert eval(literal(value)) == value


def test_moves_may_be_written_as_they_are_listed() -> None:
    listed = 'schedule("original")\nstrip-mine(at="S0.j", size=8); unroll-and-jam(at="k", factor=2)\n'
    assert {"strip-mine", "unroll-and-jam"} <= set(pv.moves())
    found = pv.replay(function_of(GEMM), listed)
    assert found.script().splitlines()[1:] == [
        'strip_mine(at="S0.j", size=8)',
        'unroll_and_jam(at="k", factor=2)',
    ]


@pytest.mark.parametrize(
    ("line", "example"),
    [
        ('interchange("j", "k")', "interchange(order=…)"),
        ('interchange(("j", "k"))', "interchange(order=…)"),
        ('unroll("k", 4)', "unroll(at=…, factor=…)"),
        ("unroll(4)", "unroll(at=…, factor=…)"),
        ('skew("j", "k")', "skew(at=…, by=…)"),
        ('strip-mine("k", 8)', "strip_mine(at=…, size=…)"),
        ('fuse("S0", "S1")', "fuse(children=…, depth=…)"),
    ],
)
def test_nothing_without_a_name_is_passed_over(line: str, example: str) -> None:
    with pytest.raises(OptionError) as caught:
        pv.replay(function_of(GEMM), f'schedule("original")\n{line}')
    name = example.partition("(")[0]
    assert caught.value.message == (
        f"Line 2 of the script: What `{name}` is to do is given by name: write {example}."
    )
