from __future__ import annotations

import ctypes
import os
from typing import TYPE_CHECKING, Any

import pytest

from polyviz.errors import ToolchainError
from polyviz.runtime.native import NativeFunction
from polyviz.runtime.waiting import SPINS, short_spinning

if TYPE_CHECKING:
    from pathlib import Path

CHOICE = "GOMP_SPINCOUNT"


@pytest.fixture(autouse=True)
def no_choice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(CHOICE, raising=False)
    monkeypatch.delenv("OMP_WAIT_POLICY", raising=False)


def seen(name: str = CHOICE) -> str | None:
    """The variable as a library sees it that is loaded now."""
    read = ctypes.CDLL(None).getenv
    read.restype = ctypes.c_char_p
    found = read(name.encode())
    return None if found is None else str(found.decode())


def test_a_library_loaded_within_sees_it_and_nobody_else() -> None:
    with short_spinning():
        assert seen() == SPINS
        assert CHOICE not in os.environ
    assert seen() is None


def test_it_is_gone_after_an_error() -> None:
    with pytest.raises(KeyError), short_spinning():
        raise KeyError
    assert seen() is None


@pytest.mark.parametrize("name", [CHOICE, "OMP_WAIT_POLICY"])
def test_the_choice_of_the_user_is_kept(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(name, "77")
    with short_spinning():
        assert seen(name) == "77"
        assert seen() == ("77" if name == CHOICE else None)
    assert seen(name) == "77"


def test_compiled_programs_are_loaded_within(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found: list[str | None] = []
    load = ctypes.CDLL

    def loading(*arguments: Any) -> Any:
        if arguments[0] is not None:
            found.append(seen())
        return load(*arguments)

    monkeypatch.setattr(ctypes, "CDLL", loading)
    with pytest.raises(ToolchainError, match="cannot be loaded"):
        NativeFunction(tmp_path / "none.so", "f")
    assert found == [SPINS]
