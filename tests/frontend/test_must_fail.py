"""Every refused construct: one program per file of tests/must_fail, and the exact message its author gets."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from polyviz.errors import PolyvizError
from polyviz.frontend import extract

if TYPE_CHECKING:
    from collections.abc import Callable

PROGRAMS = sorted((Path(__file__).parent.parent / "must_fail").glob("*.py"))


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_message(path: Path, golden: Callable[..., None]) -> None:
    with pytest.raises(PolyvizError) as caught:
        extract(path.read_text(encoding="utf-8"))
    error = caught.value
    assert error.span is not None or path.stem == "no_statement"
    golden(f"{type(error).__name__}: {error}")


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_message_says_what_to_do(path: Path) -> None:
    with pytest.raises(PolyvizError) as caught:
        extract(path.read_text(encoding="utf-8"))
    assert caught.value.hint
    assert caught.value.message.endswith(".")
