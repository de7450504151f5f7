"""Names of loops: what a person types finds the loop, and every loop has a name that finds it again."""

from __future__ import annotations

import pytest

from polyviz.analysis import dependences
from polyviz.editing.places import places_of
from polyviz.errors import OptionError
from polyviz.gallery import polybench
from polyviz.scheduling import schedule
from polyviz.transform.peel import Peel
from polyviz.transform.split import Split
from polyviz.transform.wavefront import wavefront
from tests.editing.kernels import GEMM, edit
from tests.scheduling import kernels
from tests.shared import part_of


def test_loops_are_called_like_the_iterators_they_run_over() -> None:
    assert places_of(kernels.lu().schedule).names() == ("i", "S1.j", "S1.k", "S3.j", "S3.k")
    part = kernels.seidel_2d()
    tree = schedule(part, "pluto", dependences=dependences(part), tile=4).tree
    assert places_of(tree).names() == ("t_tile", "i_tile", "j_tile", "t", "i", "j")
    skewed = schedule(part, "pluto", dependences=dependences(part)).tree
    assert places_of(wavefront(skewed, (0,))[0]).names() == ("wave", "i", "j")


def test_a_statement_chooses_between_loops_of_one_name() -> None:
    places = places_of(kernels.lu().schedule)
    assert places.loop("S3.j").path == (0, 0, 1, 0)
    assert places.loop("j", statement="S1").path == (0, 0, 0, 0)
    assert places.loop("S2.j") == places.loop("S1.j")
    assert places.loop("S3.3") == places.loop("S3.k")
    assert places.loop((0,)).name == "i"


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("j", "Several loops are called `j`: say `S1.j`, `S3.j`."),
        ("q", "There is no loop `q`; the loops are i, S1.j, S1.k, S3.j, S3.k."),
        (
            "S2.k",
            "There is no loop `S2.k` (did you mean `S3.k` or `S1.k`?); the loops are i, S1.j, S1.k, S3.j, S3.k.",
        ),
        ((0, 0), "There is no loop at (0, 0); the loops are i, S1.j, S1.k, S3.j, S3.k."),
    ],
)
def test_what_is_not_there(address: str, message: str) -> None:
    with pytest.raises(OptionError) as error:
        places_of(kernels.lu().schedule).loop(address)
    assert str(error.value) == message


def test_the_halves_of_a_loop_are_numbered() -> None:
    tree = Split((0,), point=3).apply(kernels.matmul().schedule)[0]
    places = places_of(tree)
    assert places.names()[:2] == ("R.i#1", "R.j#1")
    assert places.loop("R.k#2").path[:2] == (0, 1)
    with pytest.raises(OptionError, match="Several loops are called `i`"):
        places.loop("i")


@pytest.mark.parametrize("entry", polybench(), ids=lambda entry: entry.name)
def test_every_name_finds_its_loop_again(entry: object) -> None:
    tree = part_of(entry.name).schedule  # type: ignore[attr-defined]
    for changed in (
        tree,
        Peel((0,)).apply(tree)[0] if tree.get_root().child(0).get_type().name == "band" else tree,
    ):
        places = places_of(changed)
        assert [places.loop(name).key for name in places.names()] == [loop.key for loop in places.loops]


def test_sequences_are_found_by_their_statements() -> None:
    places = edit(GEMM)._places
    assert places.sequence(("S1", "S0")) == (0, 0)
    assert places.sequence_in((0,)) == (0, 0)
    with pytest.raises(OptionError, match="There is no statement `S7`"):
        places.sequence(("S0", "S7"))
    with pytest.raises(OptionError, match="no sequence inside"):
        places.sequence_in((0, 0, 1, 0))
