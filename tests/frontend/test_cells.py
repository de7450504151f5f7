"""Cells: what the names of a notebook become, and what the cell leaves behind."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from polyviz.errors import ExtractionError, NotAffineError, OptionError, UnknownNameError
from polyviz.frontend import extract

if TYPE_CHECKING:
    from polyviz.model.scop import Scop

LOOP = "for i in range(N):\n    A[i] = x\n"


def parameters(scop: Scop) -> list[str]:
    return [parameter.name for parameter in scop.parameters]


def test_integers_stay_symbolic_and_floats_are_scalars() -> None:
    scop = extract(LOOP, namespace={"N": 10, "A": np.zeros(10), "x": 2.0, "unused": 3})
    assert parameters(scop) == ["N"]
    assert [(array.name, array.rank, array.live_in) for array in scop.arrays] == [
        ("A", 1, False),
        ("x", 0, True),
    ]
    assert {argument.name for argument in scop.arguments} == {"N", "A", "x"}
    assert scop.is_cell


def test_integer_that_is_only_data_is_a_scalar() -> None:
    scop = extract(LOOP, namespace={"N": 10, "A": np.zeros(10), "x": 2})
    assert parameters(scop) == ["N"]
    assert scop.array("x").rank == 0


@pytest.mark.parametrize("value", [10, np.int32(10), np.int64(10)])
def test_integers_of_numpy_are_sizes_too(value: Any) -> None:
    assert parameters(extract(LOOP, namespace={"N": value, "A": np.zeros(10), "x": 2.0})) == ["N"]


@pytest.mark.parametrize(
    ("changed", "kind", "message"),
    [
        ({"N": 10.0}, NotAffineError, "The bound `N` is not an integer."),
        ({"A": [0.0] * 10}, ExtractionError, "`A` is a list, which a loop nest cannot work with."),
        ({"x": "text"}, ExtractionError, "`x` is a str, which a loop nest cannot work with."),
        ({"x": np.zeros(3)}, ExtractionError, "The array `x` is used as a whole."),
    ],
    ids=["float size", "list", "text", "whole array"],
)
def test_values_that_do_not_fit_are_refused(
    changed: dict[str, Any], kind: type[Exception], message: str
) -> None:
    with pytest.raises(kind) as caught:
        extract(LOOP, namespace={"N": 10, "A": np.zeros(10), "x": 2.0} | changed)
    assert caught.value.message == message  # type: ignore[attr-defined]


def test_unknown_name_is_refused() -> None:
    with pytest.raises(UnknownNameError, match="`x` is not known in the notebook"):
        extract(LOOP, namespace={"N": 10, "A": np.zeros(10)})


def test_what_the_cell_assigns_is_visible_afterwards() -> None:
    scop = extract(
        "s = 0.0\nfor i in range(N):\n    t = A[i]\n    s += t\n", namespace={"N": 3, "A": np.zeros(3)}
    )
    assert {array.name for array in scop.arrays if array.live_out} == {"s", "t"}


def test_array_made_in_the_cell_is_visible_afterwards() -> None:
    scop = extract("B = np.empty(N)\nfor i in range(N):\n    B[i] = i\n", namespace={"N": 3, "np": np})
    made = scop.array("B")
    assert (made.origin, made.live_out, made.live_in) == ("local", True, False)


def test_loop_variables_keep_the_values_that_python_leaves() -> None:
    scop = extract("for t in range(T):\n    for i in range(t, N, 2):\n        A[i] = t\n")
    found = {name: str(value) for name, value in scop.final_iterators}
    assert found["t"] == "[T, N] -> { [(-1 + T)] : T > 0 }"
    assert set(found) == {"t", "i"}


def test_variable_of_a_loop_over_data_has_no_known_value() -> None:
    scop = extract("for i in range(N):\n    for k in range(P[i], P[i + 1]):\n        A[k] = i\n")
    assert [name for name, _ in scop.final_iterators] == ["i"]


def test_sizes_fix_parameters_in_the_context() -> None:
    scop = extract(LOOP, sizes={"N": 1000})
    assert str(scop.context) == "[N] -> {  : N = 1000 }"


def test_sizes_reach_derived_parameters() -> None:
    scop = extract("for i in range(N * M):\n    A[i] = 0\n", sizes={"N": 20, "M": 3})
    assert str(scop.context) == "[N, M, N_times_M] -> {  : N = 20 and M = 3 and N_times_M = 60 }"


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        ({"K": 3}, "`K` in sizes is no parameter of the program; its parameters are: N."),
        ({"N": 2.5}, "The size of `N` has to be an integer, not 2.5."),
        ({"N": True}, "The size of `N` has to be an integer, not True."),
        (5, "Sizes are names and values such as {'n': 100}, not 5."),
    ],
)
def test_wrong_sizes_are_one_line(sizes: Any, message: str) -> None:
    with pytest.raises(OptionError) as caught:
        extract(LOOP, sizes=sizes)
    assert str(caught.value) == message


def test_the_extent_of_an_array_is_not_negative() -> None:
    with pytest.raises(OptionError) as caught:
        extract("for i in range(len(A)):\n    A[i] = 0\n", sizes={"A_shape_0": -1})
    assert str(caught.value) == "`A_shape_0` is the extent of an array, which is not negative, and not -1."
    assert extract(LOOP, sizes={"N": -1}).parameters  # a bound may be: the loop does not run


TILES = "for i0 in range(0, N, T):\n    for i in range(i0, min(i0 + T, N)):\n        A[i] = 0\n"


def test_step_of_a_known_value_is_fixed_and_said() -> None:
    scop = extract(TILES, namespace={"N": 10, "T": 4, "A": np.zeros(10)})
    assert str(scop.context) == "[N, T] -> {  : T = 4 }"
    assert any(note.startswith("`T` is taken as 4") for note in scop.notes)


def test_a_step_of_unknown_value_keeps_the_loop_whole() -> None:
    scop = extract(TILES)
    assert any("the step `T` becomes known only with the call" in note for note in scop.notes)
    assert not scop.statements[0].exact


def test_random_numbers_are_drawn_before_the_loops() -> None:
    loop = "for i in range(N):\n    A[i] = rng.normal()\n"
    with pytest.raises(ExtractionError, match=r"The call of `rng\.normal` is not supported") as caught:
        extract(loop, namespace={"N": 10, "A": np.zeros(10), "rng": np.random.default_rng(1)})
    assert "order of the iterations" in caught.value.reason
    assert "`R[i]`" in caught.value.hint


def test_an_array_without_dimensions_is_no_number() -> None:
    with pytest.raises(ExtractionError, match="`x` is an array without dimensions") as caught:
        extract(LOOP, namespace={"N": 10, "A": np.zeros(10), "x": np.array(2.0)})
    assert caught.value.hint == "Write `x[()]` for its element."


def test_names_that_are_new_come_last() -> None:
    scop = extract("for i in range(len(A)):\n    v = A[i]\n    s += v", namespace={"A": np.ones(3), "s": 0.0})
    assert [(argument.name, argument.has_default) for argument in scop.arguments] == [
        ("A", False), ("s", False), ("v", True)
    ]  # fmt: skip
