"""Superpositions typed by a user: what can be read, and what is said of the rest."""

from __future__ import annotations

import numpy as np
import pytest

import polyviz as pv
from polyviz.analysis import check
from polyviz.errors import LegalityError, OptionError
from polyviz.frontend import extract
from polyviz.gallery import kernel
from polyviz.model.superposition import Dimension, Superposition
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


OUTER = {"S0": "(0, floor(i/4)_x)", "S1": "(0, floor(i/4)_x)"}


def test_a_typed_plan_runs_as_kernels_of_blocks_and_threads() -> None:
    made = superpose(PART, OUTER, {"S0": "(0, i_y, j)", "S1": "(1, i_x, j)"}, threads=(8, 4))
    (found,) = made.kernels
    assert [str(phase) for phase in found.phases] == ["{S0}: y i", "{S1}: x i"]
    assert (found.tiles, found.threads, found.needed_barriers) == ({"x": 4}, {"x": 8, "y": 4}, ())
    data = kernel("mvt").arguments({"n": 19}, seed=1)
    ran = agree(kernel("mvt").function, *data, target="emulated", schedule=made)
    assert ran.program.device.kernels[0].block == (8, 4, 1)


def typed_again(name: str) -> tuple[Superposition, Superposition]:
    """The plan of the scheduler, and what typing its functions gives."""
    part = extract(kernel(name).function)
    found = schedule(part, "superposition").superposition
    texts = [
        {
            name: "(" + ", ".join(one.text for one in dimensions) + ")"
            for name, dimensions in functions.items()
        }
        for functions in (found.outer, found.regular)
    ]
    return found, superpose(part, *texts)


@pytest.mark.parametrize(
    "name", ["jacobi-2d-alt", "jacobi-2d", "gemm", "doitgen-expanded", "trisolv", "seidel-2d", "symm"]
)
def test_a_plan_that_is_typed_again_has_the_same_kernels_and_barriers(name: str) -> None:
    found, made = typed_again(name)
    assert made.unmapped == ""
    for one, other in zip(found.kernels, made.kernels, strict=True):
        assert (one.statements, one.tiles, one.threads) == (other.statements, other.tiles, other.threads)
        assert list(map(str, one.phases)) == list(map(str, other.phases))
        assert [barrier.needed for barrier in one.barriers] == [barrier.needed for barrier in other.barriers]


def test_barriers_of_a_typed_plan_are_needed() -> None:
    """One phase reads what another thread wrote in the phase before."""

    def smooth(A, B, C):
        for i in range(1, A.shape[0] - 1):
            B[i] = A[i - 1] + A[i + 1]
        for i in range(2, A.shape[0] - 2):
            C[i] = B[i - 1] + B[i + 1]

    part = extract(smooth)
    made = superpose(part, {"S0": "(0)", "S1": "(0)"}, {"S0": "(0, i_x)", "S1": "(1, i_x)"}, threads=(16,))
    (barrier,) = made.kernels[0].needed_barriers
    assert "writes B" in barrier.protects.explanation
    A, B, C = np.arange(40.0), np.zeros(40), np.zeros(40)
    ran = agree(smooth, A, B, C, target="emulated", schedule=made)
    assert ran.program.text.count("__syncthreads") == 1


@pytest.mark.thinned(2)
@pytest.mark.parametrize(
    ("regular", "reason"),
    [
        ({"S0": "(0, i_y, j)", "S1": "(1, (2i)_x, j)"}, "`(2i)_x` of S1 is not one of its iterators"),
        ({"S0": "(i_y, j)", "S1": "(1, i_x, j)"}, "the regular function of S0 has no position before each of its"),
        ({"S0": "(0, i_y, j)", "S1": "(0, i_x, j)"}, "S0 and S1 stand at the same position of the regular order with"),
        ({"S0": "(0, i_x, j)", "S1": "(0, j, 0, i_x)"}, "S1 and S0 stand at the same position of the regular order"),
    ],
)
def test_functions_that_say_too_little_for_kernels_are_refused_with_a_reason(
    regular: dict[str, str], reason: str
) -> None:
    entry = kernel("mvt")
    made = superpose(pv.extract(entry.function), OUTER, regular)
    assert made.legality
    with pytest.raises(OptionError, match="has no kernels for S0, S1: ") as error:
        pv.compile(entry.function, schedule=made, target="emulated")
    assert reason in str(error.value)
    assert "`.tree`" in str(error.value.hint)
    agree(entry.function, *entry.arguments({"n": 7}, seed=1), target="emulated", schedule=made.tree)


@pytest.mark.parametrize("threads", [(0,), (4, 4, 4, 4), 2.5])
def test_threads_are_whole_numbers_along_three_axes(threads: object) -> None:
    with pytest.raises(OptionError, match="threads are at most three positive whole numbers, x first"):
        superpose(PART, OUTER, REGULAR, threads=threads)


def test_a_bracket_that_lacks_is_said() -> None:
    with pytest.raises(OptionError, match="of S1, lacks a bracket"):
        superpose(PART, {"S0": "(0, i_x)", "S1": "(1, i_x"}, REGULAR)


def test_a_verdict_shows_itself_in_words() -> None:
    made = superpose(PART, {"S0": "(0, floor(i/4)_x)", "S1": "(1, floor(j/4)_x)"}, REGULAR)
    assert repr(made.legality) == str(made.legality)
    assert repr(made.legality).startswith("outer: ")
