"""What is chosen of a slice is what NumPy chooses, wherever the conditions for it hold."""

from __future__ import annotations

import ast
from itertools import product

import pytest

from polyviz.frontend.windows import window_of

STARTS = ["", "-3", "-1", "0", "1", "4", "a", "-a"]
ENDS = [f"{end}{step}" for end, step in product(("", "-3", "-1", "0", "2", "6", "b", "-b"), ("", ":2", ":3"))]
SIZES = [{"n": n, "a": a, "b": b} for n, a, b in product((0, 1, 4, 5), (-1, 0, 1, 2), (-1, 0, 1, 3, 7))]


def _slice(text: str) -> ast.Slice:
    node = ast.parse(f"x[{text}]", mode="eval").body
    assert isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice)
    return node.slice


def _code(node: ast.expr):
    return compile(ast.unparse(node), "text", "eval")


def _holding(conditions: list[ast.expr]):
    """The sizes for which the conditions hold."""
    codes = [_code(one) for one in conditions]
    return [sizes for sizes in SIZES if all(eval(one, dict(sizes)) for one in codes)]


def _numbers(text: str, sizes: dict[str, int]) -> list[int]:
    return eval(f"list(range(n))[{text}]", dict(sizes))


def _slices(start: str) -> list[str]:
    return [f"{start}:{end}" for end in ENDS] + ["::-1"] * (not start)


@pytest.mark.parametrize("start", STARTS)
def test_lengths_and_all_elements(start: str) -> None:
    for text in _slices(start):
        _check_all(text)


def _check_all(text: str) -> None:
    window = window_of(_slice(text), ast.Name("n", ast.Load()))
    assert window is not None
    conditions: list[ast.expr] = []
    length, place = _code(window.length(conditions)), _code(window.at(ast.Name("j", ast.Load()), conditions))
    for sizes in _holding(conditions):
        expected = _numbers(text, sizes)
        assert eval(length, dict(sizes)) == len(expected), (text, sizes)
        assert [eval(place, {**sizes, "j": j}) for j in range(len(expected))] == expected, (text, sizes)


@pytest.mark.parametrize("start", STARTS)
def test_single_elements(start: str) -> None:
    for text, given in product(_slices(start), ("0", "1", "-1", "-2", "a", "b")):
        _check_element(text, given)


def _check_element(text: str, given: str) -> None:
    window, conditions = window_of(_slice(text), ast.Name("n", ast.Load())), list[ast.expr]()
    assert window is not None
    found = window.element(ast.parse(given, mode="eval").body, conditions)
    if found is None:
        assert window.step != 1
        return
    for sizes in _holding(conditions):
        expected, place = _numbers(text, sizes), eval(given, dict(sizes))
        at = eval(_code(found), dict(sizes))
        if 0 <= at < sizes["n"]:  # what is outside of the array is found later
            assert at == expected[place], (text, given, sizes)


@pytest.mark.parametrize("start", STARTS)
def test_slices_of_slices(start: str) -> None:
    for text, given in product(_slices(start), ("1:", ":-1", "a:b", "1:3", "::2", ":b:2", "-2:")):
        _check_slice(text, given)


def _check_slice(text: str, given: str) -> None:
    window, conditions = window_of(_slice(text), ast.Name("n", ast.Load())), list[ast.expr]()
    assert window is not None
    found = window.inside(_slice(given), conditions)
    if found is None:
        assert window.step != 1
        return
    for sizes in _holding(conditions):
        expected = eval(f"list(range(n))[{text}][{given}]", dict(sizes))
        assert _numbers(ast.unparse(ast.fix_missing_locations(found)), sizes) == expected, (text, given, sizes)


@pytest.mark.parametrize("text", ["::k", "::0", "1::-1", "::-2"])
def test_steps_that_are_not_followed(text: str) -> None:
    assert window_of(_slice(text), ast.Name("n", ast.Load())) is None
