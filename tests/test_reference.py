"""docs/reference.md is what the code says of itself, and leaves out nothing that a user can name."""

from __future__ import annotations

import re

import pytest

import polyviz as pv
from polyviz import exercises
from polyviz.notebook.magics import PolyvizMagics
from polyviz.notebook.words import OPTIONS, SHORT
from tests.reference import PATH, reference


@pytest.fixture(scope="module")
def text() -> str:
    return PATH.read_text(encoding="utf-8")


def test_it_is_up_to_date(text: str) -> None:
    assert text == reference(), "run `python -m tests.reference`, then read what changed"


def test_every_public_name_stands_in_it(text: str) -> None:
    assert [name for name in pv.__all__ if f"`pv.{name}`" not in text] == []


def test_every_magic_and_option_stands_in_it(text: str) -> None:
    magics = {name for kind in PolyvizMagics.magics.values() for name in kind}
    assert magics == {"polyopt", "polycheck", "polyinspect", "polyschedulers", "polydoctor"}
    assert [name for name in magics if not re.search(rf"^### `%%?{name}`$", text, re.MULTILINE)] == []
    assert [name for name in (*OPTIONS, *SHORT) if not re.search(rf"`{name}[` ]", text)] == []


def test_every_name_that_is_an_argument_stands_in_it(text: str) -> None:
    named = {*pv.techniques(), *pv.targets(), "pluto", "spatial", "unroll-and-jam"}
    assert [name for name in named if f"`{name}`" not in text] == []
    goals = [
        name for name in exercises.__all__ if name in ("legal", "parallel", "tiled", "vector", "at_most")
    ]
    assert [name for name in goals if f"polyviz.exercises.{name}(" not in text] == []


def test_nothing_is_named_without_a_word(text: str) -> None:
    empty = re.findall(r"^### `([^`]+)`\n+(?:```python\n[^`]*```\n+)?(?=#)", text, re.MULTILINE)
    assert empty == []
    assert ">>>" not in text
    assert "``" not in text.replace("```", "")
