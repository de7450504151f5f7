"""The smallest program that still fails in the same way: statements, loops, bounds and terms are taken away."""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from tests.random_programs.program import Program

Fails = Callable[[Program], bool]


def shrink(program: Program, fails: Fails, budget: int = 300) -> Program:
    """Try simplifications while ``fails`` still holds; ``budget`` bounds the number of trials."""
    trials = 0
    for case in program.cases:
        trials += 1
        single = replace(program, cases=(case,))
        if fails(single):
            program = single
            break
    progress = True
    while progress:
        progress = False
        for candidate in candidates(program):
            if not valid(candidate):
                continue
            trials += 1
            if trials > budget:
                return program
            if fails(candidate):
                program, progress = candidate, True
                break
    return program


def candidates(program: Program) -> Iterator[Program]:
    """Programs that are a little simpler, the boldest first."""
    tree = ast.parse(program.source)
    seen = {program.source}
    for change in (_without_statement, _without_level, _simpler_bounds, _simpler_expression):
        for changed in change(tree):
            candidate = _program_of(program, changed)
            if candidate is not None and candidate.source not in seen:
                seen.add(candidate.source)
                yield candidate


def _program_of(program: Program, tree: ast.Module) -> Program | None:
    function = tree.body[0]
    assert isinstance(function, ast.FunctionDef)
    used = {
        node.id for statement in function.body for node in ast.walk(statement) if isinstance(node, ast.Name)
    }
    arguments = tuple(argument for argument in program.arguments if argument.name in used)
    function.args.args = [ast.arg(argument.name) for argument in arguments]
    try:
        source = ast.unparse(ast.fix_missing_locations(tree)) + "\n"
        compile(source, "<candidate>", "exec")
    except (SyntaxError, ValueError):
        return None
    return replace(program, source=source, arguments=arguments)


def valid(program: Program) -> bool:
    """Whether plain Python runs it without an error or a subscript that wraps around."""
    try:
        for case in program.cases:
            values = [
                value.view(_Strict) if isinstance(value, np.ndarray) else value
                for value in program.values(case)
            ]
            with np.errstate(all="ignore"):
                program.function()(*values)
    except OverflowError:
        return not program.plain
    except Exception:
        return False
    return True


class _Strict(np.ndarray):
    """An array whose computed subscripts may not be negative; small literals as in ``A[-1]`` pass."""

    def __getitem__(self, key):  # type: ignore[no-untyped-def]
        _refuse_negative(key)
        return super().__getitem__(key)

    def __setitem__(self, key, value):  # type: ignore[no-untyped-def]
        _refuse_negative(key)
        super().__setitem__(key, value)


def _refuse_negative(key: object) -> None:
    for part in key if isinstance(key, tuple) else (key,):
        if isinstance(part, int) and part < -2:
            raise IndexError(part)


# Changes: each yields copies of the tree with one thing simpler.


def _blocks(tree: ast.AST) -> Iterator[tuple[ast.AST, str]]:
    for node in ast.walk(tree):
        for name in ("body", "orelse"):
            if isinstance(getattr(node, name, None), list) and not isinstance(node, ast.Module):
                yield node, name


def _edited(tree: ast.Module, number: int, edit: Callable[[list[ast.stmt]], None]) -> ast.Module | None:
    """A copy with ``edit`` applied to its block ``number``; None when that leaves a function or loop without a body."""
    changed = copy.deepcopy(tree)
    node, name = list(_blocks(changed))[number]
    edit(getattr(node, name))
    if name == "body" and not node.body:  # type: ignore[attr-defined]
        return None
    return changed


def _without_statement(tree: ast.Module) -> Iterator[ast.Module]:
    for number, (node, name) in enumerate(_blocks(tree)):
        for position in range(len(getattr(node, name))):
            changed = _edited(tree, number, lambda block, position=position: block.pop(position))  # type: ignore[misc]
            if changed is not None:
                yield changed


def _without_level(tree: ast.Module) -> Iterator[ast.Module]:
    """A loop or choice replaced by what is in it; the loop variable becomes its first value."""
    for number, (node, name) in enumerate(_blocks(tree)):
        for position, statement in enumerate(getattr(node, name)):
            for replacement in _insides(statement):

                def splice(
                    block: list[ast.stmt], position: int = position, inside: list[ast.stmt] = replacement
                ) -> None:
                    block[position : position + 1] = copy.deepcopy(inside)

                changed = _edited(tree, number, splice)
                if changed is not None:
                    yield changed


def _insides(statement: ast.stmt) -> Iterator[list[ast.stmt]]:
    if isinstance(statement, ast.If):
        yield statement.body
        if statement.orelse:
            yield statement.orelse
    elif isinstance(statement, ast.For) and isinstance(statement.iter, ast.Call):
        arguments = statement.iter.args
        start = arguments[0] if len(arguments) > 1 else ast.Constant(0)
        assert isinstance(statement.target, ast.Name)
        yield [_Substitute(statement.target.id, start).visit(copy.deepcopy(part)) for part in statement.body]


class _Substitute(ast.NodeTransformer):
    def __init__(self, name: str, value: ast.expr) -> None:
        self.name, self.replacement = name, value

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return (
            copy.deepcopy(self.replacement)
            if node.id == self.name and isinstance(node.ctx, ast.Load)
            else node
        )


def _simpler_bounds(tree: ast.Module) -> Iterator[ast.Module]:
    loops = [node for node in ast.walk(tree) if isinstance(node, ast.For) and isinstance(node.iter, ast.Call)]
    for number, loop in enumerate(loops):
        assert isinstance(loop.iter, ast.Call)
        arguments = loop.iter.args
        simpler = [arguments[:2], arguments[1:2], [ast.Constant(0), *arguments[1:]], [ast.Constant(2)]]
        for choice in simpler:
            if choice and [ast.dump(part) for part in choice] != [ast.dump(part) for part in arguments]:
                changed = copy.deepcopy(tree)
                copies = [node for node in ast.walk(changed) if isinstance(node, ast.For)]
                copies[number].iter = ast.Call(ast.Name("range", ast.Load()), copy.deepcopy(choice), [])
                yield changed


def _simpler_expression(tree: ast.Module) -> Iterator[ast.Module]:
    """One compound expression replaced by one of its parts, or by a literal."""
    count = sum(1 for _ in ast.walk(tree))
    for number in range(count):
        node = next(part for position, part in enumerate(ast.walk(tree)) if position == number)
        for replacement in _parts(node):
            changed = _Replace(number, replacement).apply(tree)
            if changed is not None:
                yield changed


def _parts(node: ast.AST) -> list[ast.expr]:
    if isinstance(node, ast.BinOp):
        return [node.left, node.right]
    if isinstance(node, ast.IfExp):
        return [node.body, node.orelse]
    if isinstance(node, ast.UnaryOp) and not isinstance(node.operand, ast.Constant):
        return [node.operand]
    if isinstance(node, ast.BoolOp):
        return list(node.values)
    if isinstance(node, ast.Call) and not (isinstance(node.func, ast.Name) and node.func.id == "range"):
        return list(node.args)
    if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load):
        return [ast.Constant(1)]
    return []


class _Replace(ast.NodeTransformer):
    def __init__(self, number: int, replacement: ast.expr) -> None:
        self.number, self.replacement = number, replacement

    def apply(self, tree: ast.Module) -> ast.Module | None:
        changed = copy.deepcopy(tree)
        self.target = list(ast.walk(changed))[self.number]
        result = self.visit(changed)
        return result if isinstance(result, ast.Module) else None

    def visit(self, node: ast.AST) -> ast.AST:
        if node is self.target:
            return copy.deepcopy(self.replacement)
        return self.generic_visit(node)
