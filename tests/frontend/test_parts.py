"""The parts of a text are those that Python's own walk finds, and a copy shares none of them."""

import ast
import inspect
from pathlib import Path

import pytest

import polyviz.frontend
from polyviz.frontend import parts
from polyviz.frontend.parts import argument_names, copies_of, copy_of, names_in, parts_of, stored_in, uses_in

FOLDER = Path(inspect.getfile(polyviz.frontend)).parent
TEXTS = sorted(FOLDER.glob("*.py"))[::9]
NO_PARTS = (ast.expr_context, ast.operator, ast.unaryop, ast.boolop, ast.cmpop)


def walked(*nodes):
    return [part for node in nodes for part in ast.walk(node) if not isinstance(part, NO_PARTS)]


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.stem)
class TestWhole:
    def test_parts_come_in_the_order_of_the_walk(self, path):
        tree = ast.parse(path.read_text())
        assert parts_of(tree) == walked(tree)
        assert parts_of(*tree.body) == walked(*tree.body)

    def test_a_copy_says_the_same_and_shares_nothing(self, path):
        tree = ast.parse(path.read_text())
        copied = copy_of(tree)
        assert ast.dump(copied, include_attributes=True) == ast.dump(tree, include_attributes=True)
        assert not {*map(id, parts_of(tree))} & {*map(id, parts_of(copied))}

    def test_names(self, path):
        tree = ast.parse(path.read_text())
        names = [part for part in walked(tree) if isinstance(part, ast.Name)]
        assert names_in(tree) == {name.id for name in names}
        assert stored_in(tree) == {name.id for name in names if isinstance(name.ctx, ast.Store)}
        assert uses_in(tree).total() == len(names)
        assert argument_names(tree) == {part.arg for part in walked(tree) if isinstance(part, ast.arg)}


def test_none_has_no_parts():
    assert parts_of(None) == []
    assert names_in(None, ast.Name("x", ast.Load())) == {"x"}


def test_holes_in_lists_are_no_parts():
    node = ast.parse("{**x, 1: y}", mode="eval").body
    assert names_in(node) == {"x", "y"}
    assert ast.unparse(copy_of(node)) == "{**x, 1: y}"


def test_what_a_pass_has_left_out_is_no_part():
    node = ast.Return()
    assert parts_of(node) == [node]


def test_copies_of_the_same_node_are_apart():
    name = ast.Name("x", ast.Load())
    first, second = copies_of([name, name])
    first.id = "y"
    assert (name.id, second.id) == ("x", "x")


def test_every_field_that_is_left_out_has_no_parts_in_any_text():
    for path in TEXTS:
        for node in ast.walk(ast.parse(path.read_text())):
            for field in parts._WITHOUT_PARTS.intersection(node._fields):
                values = getattr(node, field)
                assert all(
                    not isinstance(value, ast.AST) or isinstance(value, NO_PARTS)
                    for value in (values if isinstance(values, list) else [values])
                )
