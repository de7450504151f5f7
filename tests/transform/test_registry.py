"""Moves by name: ours, those of a notebook, those of other packages, and how a mistake is answered."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.metadata import EntryPoint
from typing import TYPE_CHECKING, ClassVar

import pytest

import polyviz as pv
from polyviz.errors import OptionError
from polyviz.model.registry import announced
from polyviz.model.schedule import Decision
from polyviz.transform.move import Move
from polyviz.transform.registry import (
    ENTRY_POINT_GROUP,
    make_move,
    move_class,
    register_move,
    unregister_move,
)
from polyviz.transform.reversal import Reversal
from polyviz.transform.tree import Path, bands
from tests.editing.kernels import GEMM, edit

if TYPE_CHECKING:
    from collections.abc import Iterator

    import islpy as isl

NAMES = """
interchange reversal shift skew scale tile strip-mine coalesce fuse distribute
reorder sink split peel unroll unroll-and-jam wavefront parallel vector rows
"""
MOVES = NAMES.split()


@dataclass(frozen=True, slots=True)
class Twice(Move):
    """Turn a loop round and back again."""

    name: ClassVar[str] = "twice"
    member: int = 0

    @classmethod
    def available(cls, tree: isl.Schedule) -> tuple[Path, ...]:
        return tuple(path for path, _ in bands(tree))

    def apply(self, tree: isl.Schedule) -> tuple[isl.Schedule, Decision]:
        turned = Reversal(self.path, self.member).apply(tree)[0]
        return Reversal(self.path, self.member).apply(turned)[0], Decision("twice", "Nothing changed.")


@pytest.fixture
def registered() -> Iterator[None]:
    register_move("twice")(Twice)
    yield
    unregister_move("twice")


def test_every_move_has_a_name_and_a_summary() -> None:
    found = pv.moves()
    assert list(found)[: len(MOVES)] == MOVES
    for name in MOVES:
        assert move_class(name).name == name
        assert found[name].endswith((".", "text of one function per statement."))
        assert "``path``" not in found[name]


def test_underscores_are_hyphens() -> None:
    assert move_class("unroll_and_jam") is move_class("unroll-and-jam")


@pytest.mark.usefixtures("registered")
def test_a_move_of_ones_own_is_used_like_any_other() -> None:
    assert pv.moves()["twice"] == "Turn a loop round and back again."
    changed = edit(GEMM).apply("twice", "S0.j")
    assert changed.history == ('twice(at="S0.j")',)
    assert changed.available()["twice"] == ("i", "S0.j", "k", "S1.j")
    assert not pv.difference(changed.start, changed.schedule)


def test_entry_points_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    entry = EntryPoint("theirs", "polyviz.transform.reversal:Reversal", ENTRY_POINT_GROUP)
    monkeypatch.setattr(
        "polyviz.model.registry.entry_points", lambda group: [entry] if group == ENTRY_POINT_GROUP else []
    )
    announced.cache_clear()
    try:
        assert move_class("theirs") is Reversal
        assert "theirs" in pv.moves()
    finally:
        announced.cache_clear()


def test_mistakes() -> None:
    with pytest.raises(OptionError, match="Unknown move `interchang` \\(did you mean `interchange`"):
        move_class("interchang")
    with pytest.raises(OptionError, match="has no argument `mark`"):
        make_move(move_class("vector"), (0,), {"mark": "parallel"})
    with pytest.raises(OptionError, match="must be bool"):
        make_move(move_class("rows"), (0,), {"rows": (), "whole": 1})
    register_move("no-class")(lambda tree: tree)  # type: ignore[type-var]
    try:
        with pytest.raises(OptionError, match="is no class that derives from"):
            move_class("no-class")
    finally:
        unregister_move("no-class")
    with pytest.raises(OptionError, match="A move is asked for by its name, not by 3"):
        move_class(3)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["", "a,b", "{ S[i] -> [i] }", "no class", 3])
def test_a_name_can_be_written_where_names_are_asked_for(name: str) -> None:
    with pytest.raises(OptionError, match="A move is registered under a name such as"):
        register_move(name)


def test_ours_keep_their_names() -> None:
    with pytest.raises(OptionError, match="`tile` is a move of polyviz: choose another name"):
        register_move("tile")


def test_only_what_can_be_called_is_registered() -> None:
    with pytest.raises(OptionError, match="A move is a function or a class, not 3"):
        register_move("three")(3)  # type: ignore[type-var]
    assert "three" not in pv.moves()
