"""Shift-Tab on the magic line."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from polyviz.notebook import inspection
from polyviz.notebook.inspection import explain_word
from polyviz.notebook.words import OPTIONS

LOOP = "\nfor i in range(3):\n    A[i] = 0\n"


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("%%polyopt --ti", "le 32", "--tile N[,N…]\n    tile sizes"),
        ("%%polyopt -s", " pluto", "-s, --schedule NAME"),
        ("%%polyopt -s ori", "ginal,isl", "original: what --schedule takes\n    The loops as written"),
        ("%%polyopt -s original,", "isl --inspect", "isl: what --schedule takes\n    The built-in scheduler"),
        ("%%polyopt --contract=st", "rict", "strict: what --contract takes\n    the operations"),
        ("%%polyopt --contr", "act=strict", "--contract NAME\n    of floating point"),
        ("%%polyopt -t python", "", "python: what --target takes\n    readable loops"),
    ],
)
def test_words_are_explained(before: str, after: str, expected: str) -> None:
    text = explain_word(before + after + LOOP, len(before))
    assert text is not None
    assert text.startswith(expected)


def test_every_option_has_its_help() -> None:
    assert all(explain_word(f"%%polyopt {name}", 12) for name in OPTIONS)


@pytest.mark.parametrize(
    ("text", "cursor"),
    [
        ("%%polyopt --tile 32", 4),
        ("%%polyopt --tile 32", 18),
        ("%%polyopt --unknown", 15),
        ("%%polyopt pluto", 12),
        (f"%%polyopt{LOOP}", 15),
        ("%%timeit -s pluto", 14),
        ("pluto", 3),
    ],
)
def test_other_words_are_left_to_ipython(text: str, cursor: int) -> None:
    assert explain_word(text, cursor) is None


class Kernel:
    def do_inspect(self, code: str, cursor_pos: int, detail_level: int = 0) -> object:
        return code, cursor_pos, detail_level


def test_the_kernel_answers_for_both_until_the_extension_goes() -> None:
    shell = SimpleNamespace(kernel=Kernel())
    inspection.install(shell)
    inspection.install(shell)
    assert "tile sizes" in shell.kernel.do_inspect("%%polyopt --tile", 14)["data"]["text/plain"]
    assert shell.kernel.do_inspect("x", 1, detail_level=1) == ("x", 1, 1)
    inspection.uninstall(shell)
    assert shell.kernel.do_inspect("%%polyopt --tile", 14) == ("%%polyopt --tile", 14, 0)


def test_a_terminal_has_no_kernel_to_ask() -> None:
    inspection.install(SimpleNamespace())
    inspection.uninstall(SimpleNamespace())
