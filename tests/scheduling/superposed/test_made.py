"""Superpositions typed by a user: what can be read, and what is said of the rest."""

from __future__ import annotations

import pytest

import polyviz as pv
from polyviz.analysis import check
from polyviz.errors import LegalityError, OptionError
from polyviz.frontend import extract
from polyviz.gallery import kernel
from polyviz.model.superposition import Dimension
from polyviz.scheduling import schedule
from polyviz.scheduling.superposed.made import superpose
from tests.running import agree

PART = extract(kernel("mvt").function)
REGULAR = {"S0": "(0, i, j)", "S1": "(1, i, j)"}


def test_dimensions_are_read_as_they_are_printed() -> None:
    value = superpose(PART, {"S0": "(0, floor((i + 2j)/ 8)_y)", "S1": "(1, (-i)_x)"}, REGULAR)
    assert value.outer["S0"] == (Dimension("scalar", "0"), Dimension("loop", "i + 2j", "y", 8))
    assert value.outer["S1"][1] == Dimension("loop", "-i", "x")
    assert value.regular["S1"] == (Dimension("scalar", "1"), Dimension("loop", "i"), Dimension("loop", "j"))


def test_a_plan_can_be_typed_again() -> None:
    part = extract(kernel("jacobi-2d-alt").function)
    found = schedule(part, "superposition").superposition
    texts = [
        {
            name: "(" + ", ".join(one.text for one in dimensions) + ")"
            for name, dimensions in functions.items()
        }
        for functions in (found.outer, found.regular)
    ]
    typed = superpose(part, *texts)
    assert (typed.outer, typed.regular, typed.legality) == (found.outer, found.regular, found.legality)
    assert typed.map.is_equal(found.map)
    assert check(part, typed.tree)


@pytest.mark.parametrize(
    ("outer", "message"),
    [
        ({"S0": "(0)"}, "`S1` has no scattering function; the statements are S0, S1."),
        (
            {"S0": "(0)", "S1": "(0)", "T": "(0)"},
            "`T` is no statement of this part; the statements are S0, S1.",
        ),
        (
            {"S0": "(0, k_x)", "S1": "(0)"},
            "`k_x` is no dimension of a scattering function of S0, whose iterators are: i, j.",
        ),
        (
            {"S0": "(0, i*j)", "S1": "(0)"},
            "`i*j` is no dimension of a scattering function of S0, whose iterators are: i, j.",
        ),
    ],
)
def test_what_cannot_be_read(outer: dict[str, str], message: str) -> None:
    with pytest.raises(OptionError) as error:
        superpose(PART, outer, REGULAR)
    assert str(error.value) == message


@pytest.mark.parametrize("outer", [None, 3, {"S0": 0, "S1": 0}])
def test_functions_are_texts_by_statement(outer: object) -> None:
    with pytest.raises(OptionError, match="Scattering functions are texts by statement"):
        superpose(PART, outer, REGULAR)


@pytest.mark.parametrize("value", [None, PART])
def test_only_superpositions_are_checked_as_such(value: object) -> None:
    with pytest.raises(OptionError, match="not a value of type"):
        pv.check_superposition(PART, value)


def test_a_typed_plan_runs() -> None:
    outer = {"S0": "(0, floor(i/4)_x)", "S1": "(1, floor(j/4)_x)"}
    other = {"S0": "(0, floor(i/4)_x)", "S1": "(0, floor(i/4)_x)"}
    made = superpose(PART, other, {"S0": "(0, i_y, j)", "S1": "(1, i_x, j)"})
    data = kernel("mvt").arguments({"n": 7}, seed=1)
    kernel_made = agree(kernel("mvt").function, *data, target="python", schedule=made)
    assert kernel_made.schedule.superposition is made
    with pytest.raises(LegalityError) as error:
        pv.compile(kernel("mvt").function, schedule=superpose(PART, outer, REGULAR), target="python")
    assert "blocks of one kernel do not depend on each other" in str(error.value)
    assert error.value.hint == "Its order alone, without blocks and threads, is `.tree`."


@pytest.mark.parametrize("target", ["emulated", "python"])
def test_a_typed_plan_never_runs_without_its_kernels(target: str) -> None:
    entry = kernel("mvt")
    part = pv.extract(entry.function)
    other = {"S0": "(0, floor(i/4)_x)", "S1": "(0, floor(i/4)_x)"}
    made = superpose(part, other, {"S0": "(0, i_y, j)", "S1": "(1, i_x, j)"})
    if target == "emulated":
        with pytest.raises(OptionError, match="has no kernels for S0, S1: it was typed") as error:
            pv.compile(entry.function, schedule=made, target=target)
        assert "`.tree`" in str(error.value.hint)
    agree(entry.function, *entry.arguments({"n": 7}, seed=1), target=target, schedule=made.tree)


def test_a_bracket_that_lacks_is_said() -> None:
    with pytest.raises(OptionError, match="of S1, lacks a bracket"):
        superpose(PART, {"S0": "(0, i_x)", "S1": "(1, i_x"}, REGULAR)


def test_a_verdict_shows_itself_in_words() -> None:
    made = superpose(PART, {"S0": "(0, floor(i/4)_x)", "S1": "(1, floor(j/4)_x)"}, REGULAR)
    assert repr(made.legality) == str(made.legality)
    assert repr(made.legality).startswith("outer: ")
