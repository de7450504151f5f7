"""Loop variables: the source iterator where one is carried, a telling name elsewhere, never one that is taken."""

from __future__ import annotations

import pytest

import polyviz as pv
from polyviz.codegen.loops import Block, For, If, Instance, LoopNode, descendants
from polyviz.codegen.lower import lower
from polyviz.codegen.naming import inline_single_iterations, name_loops, substituted
from polyviz.model.expression import Binary, Call, Compare, Constant, Expression, Name
from tests.running import function_of

ITERATORS = {"S": ("i", "j")}


def instance(*arguments: Expression) -> Instance:
    return Instance("S", arguments)


ZERO, SIZE = Constant(0), Name("n")


def loop(number: int, body: LoopNode, start: Expression = ZERO, stop: Expression = SIZE, step: int = 1) -> For:
    return For(f"~{number}", start, stop, step, body)


def names(node: LoopNode, reserved: frozenset[str] = frozenset()) -> list[str]:
    named = name_loops(node, ITERATORS, reserved)
    return [item.iterator for item in descendants(named) if isinstance(item, For)]


def plus(left: str, right: str) -> Binary:
    return Binary("+", Name(left), Name(right))


def minus(left: str, right: str) -> Binary:
    return Binary("-", Name(left), Name(right))


def test_source_iterators() -> None:
    assert names(loop(0, loop(1, instance(Name("~1"), Name("~0"))))) == ["j", "i"]


def test_values_are_renamed_everywhere() -> None:
    guard = If(
        Compare(("<",), (Name("~0"), Name("~1"))),
        instance(Name("~0"), Name("~1")),
        instance(Name("~1"), Name("~0")),
    )
    named = name_loops(loop(0, loop(1, Block((guard,)), stop=Name("~0"))), ITERATORS, frozenset())
    assert "~" not in repr(named)
    inner = next(item for item in descendants(named) if isinstance(item, If))
    assert inner.condition == Compare(("<",), (Name("i"), Name("j")))


def test_tiles_are_called_after_their_points() -> None:
    points = loop(2, loop(3, instance(Name("~2"), Name("~3")), start=Name("~1")), start=Name("~0"))
    assert names(loop(0, loop(1, points, step=32), step=32)) == ["i_tile", "j_tile", "i", "j"]


def test_tiles_may_begin_before_the_first_iteration() -> None:
    multiple = Binary("-", Binary("*", Constant(32), Name("~0")), SIZE)
    points = loop(1, loop(2, instance(Name("~1"), Name("~2"))), start=Call("max", (Constant(1), multiple)))
    assert names(loop(0, points))[0] == "i_tile"


def test_a_diagonal_is_no_tile() -> None:
    first = Call("max", (Constant(1), Binary("+", minus("~0", "n"), Constant(2))))
    inner = loop(1, instance(Name("~1"), minus("~0", "~1")), start=first)
    assert names(loop(0, inner)) == ["wave", "i"]


def test_a_loop_that_several_starts_mix_is_a_wave() -> None:
    points = loop(2, loop(3, instance(Name("~2"), Name("~3")), start=Name("~1")), start=minus("~0", "~1"))
    assert names(loop(0, loop(1, points, step=32))) == ["wave", "j_tile", "i", "j"]


def test_skewed_and_reversed_loops() -> None:
    assert names(loop(0, loop(1, instance(Name("~0"), minus("~1", "~0"))))) == ["i", "j_skew"]
    backwards = Binary("-", Constant(0), Name("~1"))
    assert names(loop(0, loop(1, instance(Name("~0"), backwards)))) == ["i", "j_skew"]


def test_a_loop_without_any_meaning_keeps_its_number() -> None:
    assert names(loop(3, instance(Constant(0), Constant(0)))) == ["c3"]


@pytest.mark.parametrize(("reserved", "expected"), [({"i"}, "i_2"), ({"i", "i_2"}, "i_3"), (set(), "i")])
def test_names_that_are_taken_get_a_number(reserved: set[str], expected: str) -> None:
    assert names(loop(0, instance(Name("~0"), Constant(0))), frozenset(reserved)) == [expected]


def test_nested_loops_never_share_a_name() -> None:
    assert names(
        loop(0, Block((instance(Name("~0"), Constant(0)), loop(1, instance(Name("~1"), Constant(0))))))
    ) == [
        "i",
        "i_2",
    ]


def test_loops_in_a_row_may_share_a_name() -> None:
    both = Block((loop(0, instance(Name("~0"), Constant(0))), loop(0, instance(Name("~0"), Constant(1)))))
    assert names(both) == ["i", "i"]


def test_loops_that_run_once_become_their_value() -> None:
    once = loop(
        1,
        instance(Name("~0"), Name("~1")),
        start=plus("~0", "n"),
        stop=Binary("+", plus("~0", "n"), Constant(1)),
    )
    assert inline_single_iterations(loop(0, once)) == loop(0, instance(Name("~0"), plus("~0", "n")))
    several = loop(1, instance(Name("~0"), Name("~1")))
    assert inline_single_iterations(several) == several


def test_substitution_reaches_bounds_conditions_and_arguments() -> None:
    node = If(
        Compare((">",), (Name("a"), Constant(0))),
        loop(0, instance(Name("a"), Name("~0")), stop=Name("a")),
        instance(Name("a"), Name("a")),
    )
    assert "Name(name='a')" not in repr(substituted(node, {"a": Name("b")}))


def shadows(node: LoopNode, around: frozenset[str] = frozenset()) -> list[str]:
    """Loop variables that hide a loop around them."""
    found = []
    match node:
        case For(iterator, _, _, _, body):
            found = [iterator] if iterator in around else []
            return found + shadows(body, around | {iterator})
        case Block(children):
            return [name for child in children for name in shadows(child, around)]
        case If(_, then, otherwise):
            return shadows(then, around) + ([] if otherwise is None else shadows(otherwise, around))
    return found


@pytest.mark.parametrize("schedule", ["original", "isl", "pluto"])
def test_real_programs_hide_nothing(schedule: str) -> None:
    text = """
        def f(A, i_tile, wave, steps, n):
            for t in range(steps):
                for i in range(1, n - 1):
                    A[i] = A[i - 1] + A[i + 1] + i_tile[i] + wave[i]
    """
    kernel = pv.compile(function_of(text), schedule=schedule, target="c")
    reserved = frozenset({"A", "i_tile", "wave", "steps", "n"})
    loops = lower(kernel.scop, kernel.plan, reserved)
    assert not shadows(loops)
    assert not {node.iterator for node in descendants(loops) if isinstance(node, For)} & reserved
