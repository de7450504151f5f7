"""Tab on the magic line, through IPython's own completer."""

from __future__ import annotations

import pytest
from IPython.core.completer import provisionalcompleter

from polyviz.exercises import exercise, legal
from polyviz.exercises.exercise import KNOWN
from polyviz.model.techniques import techniques
from polyviz.notebook.completion import complete_line
from polyviz.notebook.words import OPTIONS

KINDS = {"option", "scheduler", "target", "view", "technique", "contract", "exercise"}


def completions(shell, text: str, rest: str = "\nfor i in range(3):\n    A[i] = 0\n") -> list[str]:
    with provisionalcompleter():
        found = list(shell.Completer.completions(text + rest, len(text)))
    return [item.text for item in found if item.type in KINDS]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("%%polyopt --s", "option"),
        ("%%polyopt -s plu", "scheduler"),
        ("%%polyopt --target=c", "target"),
        ("%%polyopt --show s", "view"),
        ("%%polyopt --without pa", "technique"),
        ("%%polyopt --contract s", "contract"),
        ("%%polycheck first-i", "exercise"),
        ("%%polycheck --", "option"),
    ],
)
def test_each_completion_says_what_it_is(shell, text: str, kind: str) -> None:
    shell.run_line_magic("load_ext", "polyviz")
    with provisionalcompleter():
        assert {item.type for item in shell.Completer.completions(text, len(text))} == {kind}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("%%polyopt ", list(OPTIONS)),
        ("%%polyopt --s", ["--schedule", "--set", "--show"]),
        ("%%polyopt -s plu", ["pluto"]),
        ("%%polyopt --schedule=fea", ["feautrier"]),
        ("%%polyopt -s isl,plu", ["pluto"]),
        ("%%polyopt -t ", ["auto", "c", "numba", "python", "cuda", "emulated"]),
        ("%%polyopt -t c,", ["auto", "numba", "python", "cuda", "emulated"]),
        ("%%polyopt --show ", ["source", "schedule", "tree", "device", "teaching"]),
        ("%%polyopt --tile 3", []),
        ("%%polyopt --without ", [*techniques()]),
        ("%%polyopt --without pack,t", ["tile", "threads", "tuned", "trees"]),
        ("%%polyopt --contract s", ["strict"]),
        ("%%polyopt --tu", ["--tune"]),
        ("%%polyopt -t c --no", ["--no-verify"]),
    ],
)
def test_options_and_values_complete(shell, text: str, expected: list[str]) -> None:
    shell.run_line_magic("load_ext", "polyviz")
    assert completions(shell, text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("%%polycheck first-i", ["first-interchange"]),
        ("%%polycheck --", ["--hint"]),
        ("%%polycheck first-interchange ", ["--hint"]),
        ("%%polycheck --hint first-i", ["first-interchange"]),
        ("%%polycheck first-interchange --hint ", []),
    ],
)
def test_exercises_complete(shell, text: str, expected: list[str]) -> None:
    shell.run_line_magic("load_ext", "polyviz")
    assert completions(shell, text) == expected


def test_an_exercise_of_the_notebook_completes_too(shell) -> None:
    exercise("own-one", "for i in range(n):\n    A[i] = 0", [legal()])
    try:
        assert complete_line("%%polycheck own") == ("own", ["own-one"])
    finally:
        KNOWN.pop("own-one")


def test_nothing_is_offered_elsewhere(shell) -> None:
    shell.run_line_magic("load_ext", "polyviz")
    assert completions(shell, "x = 1 --s") == []
    assert completions(shell, "%%polyopt -s isl\nfor i in range(3): --s", "") == []


def test_only_the_unfinished_part_of_a_list_is_replaced() -> None:
    assert complete_line("%%polyopt -s isl,plu") == ("plu", ["pluto"])


def test_unloading_takes_the_completion_away(shell) -> None:
    shell.run_line_magic("load_ext", "polyviz")
    shell.run_line_magic("unload_ext", "polyviz")
    assert completions(shell, "%%polyopt --s") == []
