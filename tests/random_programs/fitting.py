"""Shapes that keep every subscript in range: the program's loops are run once with recorded subscripts.

Subscripts that become negative are shifted; local arrays get affine extents and sizes may be taken from shapes.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tests.random_programs.program import INDEX_RANGE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

Axis = tuple[str, int]
INTEGER_TEMPORARY = re.compile(r"[pc]\d")
"""Names of scalars that hold subscripts."""


class TooLongError(Exception):
    """The program executes more accesses than the limit."""


@dataclass
class Footprint:
    """Smallest and largest subscript per array axis for one choice of sizes."""

    limit: int
    low: dict[Axis, int] = field(default_factory=dict)
    high: dict[Axis, int] = field(default_factory=dict)
    count: int = 0

    def touch(self, array: str, *subscripts: int) -> None:
        self.count += 1
        if self.count > self.limit:
            raise TooLongError
        for axis, value in enumerate(subscripts):
            key = (array, axis)
            self.low[key] = min(value, self.low.get(key, value))
            self.high[key] = max(value, self.high.get(key, value))


def footprints(source: str, sizes: Iterable[Mapping[str, int]], limit: int) -> list[Footprint | None]:
    """One footprint per choice of sizes; None where the program runs too long."""
    function = _tracer(source)
    found: list[Footprint | None] = []
    for choice in sizes:
        footprint = Footprint(limit)
        try:
            function(footprint.touch, **choice)
        except TooLongError:
            found.append(None)
        else:
            found.append(footprint)
    return found


def integer_names(function: ast.FunctionDef) -> set[str]:
    """Loop variables and integer temporaries; sizes are known to the caller."""
    loops = {node.target.id for node in ast.walk(function) if isinstance(node, ast.For)}  # type: ignore[attr-defined]
    names = {node.id for node in ast.walk(function) if isinstance(node, ast.Name)}
    return loops | {name for name in names if INTEGER_TEMPORARY.fullmatch(name)}


def _tracer(source: str) -> Callable[..., None]:
    function = _function(source)
    sizes = {argument.arg for argument in function.args.args if argument.arg in ("n", "m", "q")}
    body = _Trace(integer_names(function) | sizes).block(function.body)
    names = ", ".join(["touch", *sorted(sizes)])
    nodes = list(ast.walk(function))
    named = [part.value for part in nodes if isinstance(part, ast.Subscript)]
    named += [part for node in nodes if isinstance(node, ast.Tuple) for part in node.elts]
    arrays = {part.id for part in named if isinstance(part, ast.Name)} - integer_names(function) - sizes
    # What an array is called may change: its name is the value of a variable.
    called = "".join(f"    {name} = {name!r}\n" for name in sorted(arrays))
    text = f"def trace({names}):\n    pass\n{called}" + _indented(
        ast.unparse(ast.fix_missing_locations(ast.Module(body, [])))
    )
    module: dict[str, Any] = {}
    exec(text, module)
    return module["trace"]


def _function(source: str) -> ast.FunctionDef:
    function = ast.parse(source).body[0]
    assert isinstance(function, ast.FunctionDef)
    return function


def _indented(text: str) -> str:
    return "".join(f"    {line}\n" for line in text.splitlines())


class _Trace:
    """Keeps loops, affine choices and integer temporaries; every other computation becomes its subscripts."""

    def __init__(self, integers: set[str]) -> None:
        self.integers = integers

    def block(self, statements: Sequence[ast.stmt]) -> list[ast.stmt]:
        return [part for statement in statements for part in self.statement(statement)]

    def statement(self, node: ast.stmt) -> list[ast.stmt]:
        if isinstance(node, ast.For):
            assert isinstance(node.iter, ast.Call)
            last = node.iter.args[-1]
            limits = [
                one if self.integer(one) else self.value(one, INDEX_RANGE - 1 if one is last else 0)
                for one in node.iter.args
            ]
            count = ast.Call(ast.Name("range"), limits, [])
            return [*self.touches(node.iter), ast.For(node.target, count, self.block(node.body) or [ast.Pass()], [])]
        if _exchanges(node):
            return [node]
        if isinstance(node, ast.If):
            then, otherwise = self.block(node.body), self.block(node.orelse)
            if self.integer(node.test):
                return [ast.If(node.test, then or [ast.Pass()], otherwise)]
            return [*self.touches(node.test), *then, *otherwise]
        touches = self.touches(node)
        target = node.targets[0] if isinstance(node, ast.Assign) else getattr(node, "target", None)
        keeps = isinstance(target, ast.Name) and target.id in self.integers
        return [*touches, node] if keeps else touches

    def integer(self, node: ast.AST) -> bool:
        allowed = self.integers | {"min", "max", "abs"}
        parts = list(ast.walk(node))
        return not any(isinstance(part, ast.Subscript | ast.Attribute) for part in parts) and all(
            part.id in allowed for part in parts if isinstance(part, ast.Name)
        )

    def touches(self, node: ast.AST) -> list[ast.stmt]:
        if isinstance(node, ast.IfExp) and self.integer(node.test):
            then, otherwise = self.touches(node.body), self.touches(node.orelse)
            return [ast.If(node.test, then or [ast.Pass()], otherwise)]
        found = [part for child in ast.iter_child_nodes(node) for part in self.touches(child)]
        if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name):
            parts = subscripts_of(node)
            for stand_in in (0, INDEX_RANGE - 1) if not all(map(self.integer, parts)) else (0,):
                values = [self.value(part, stand_in) for part in parts]
                call = ast.Call(ast.Name("touch"), [ast.Name(node.value.id), *values], [])
                found.append(ast.Expr(call))
        return found

    def value(self, part: ast.expr, stand_in: int) -> ast.expr:
        if negative_constant(part):
            return ast.Constant(0)
        if self.integer(part):
            return part
        return ast.parse(re.sub(r"I\[[^\[\]]*\]", str(stand_in), ast.unparse(part)), mode="eval").body


def _exchanges(node: ast.stmt) -> bool:
    """Whether ``node`` gives arrays other names."""
    if not isinstance(node, ast.Assign):
        return False
    target, value = node.targets[0], node.value
    named = isinstance(target, ast.Name) and isinstance(value, ast.Name)
    return isinstance(target, ast.Tuple) or (named and (target.id.isupper() or value.id.isupper()))


def subscripts_of(node: ast.Subscript) -> list[ast.expr]:
    return list(node.slice.elts) if isinstance(node.slice, ast.Tuple) else [node.slice]


def negative_constant(node: ast.expr) -> int:
    """The magnitude of a negative literal, else 0."""
    if (
        isinstance(node, ast.UnaryOp)
        and isinstance(node.op, ast.USub)
        and isinstance(node.operand, ast.Constant)
    ):
        return int(node.operand.value)  # type: ignore[arg-type]
    return 0


def extent_candidates(sizes: Iterable[str], largest: int) -> list[str]:
    """Affine expressions over the sizes, small ones first."""
    names = sorted(sizes)
    bases = [
        *names,
        *(f"{a} + {b}" for a in names for b in names if a < b),
        *(f"2 * {name}" for name in names),
    ]
    constants = [str(value) for value in range(largest)]
    return [
        *constants,
        *(base if not value else f"{base} + {value}" for base in bases for value in range(largest)),
    ]


def smallest_cover(
    needs: Sequence[tuple[Mapping[str, int], int]], sizes: Iterable[str], largest: int = 7
) -> str | None:
    """The first candidate that is at least what is needed for every choice of sizes."""
    for text in extent_candidates(sizes, largest):
        code = compile(text, "<extent>", "eval")
        if all(eval(code, {}, dict(choice)) >= need for choice, need in needs):
            return text
    return None


class Shift(ast.NodeTransformer):
    """Adds an affine offset to every subscript of some array axes; negative constants keep their meaning."""

    def __init__(self, offsets: Mapping[Axis, str]) -> None:
        self.offsets = offsets

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        self.generic_visit(node)
        if not isinstance(node.value, ast.Name):
            return node
        parts = [
            self._shifted(part, self.offsets.get((node.value.id, axis)))
            for axis, part in enumerate(subscripts_of(node))
        ]
        node.slice = parts[0] if len(parts) == 1 else ast.Tuple(parts, ast.Load())
        return node

    def _shifted(self, part: ast.expr, offset: str | None) -> ast.expr:
        if offset is None or negative_constant(part):
            return part
        added = ast.parse(offset, mode="eval").body
        if isinstance(part, ast.Constant) and isinstance(added, ast.Constant):
            return ast.Constant(part.value + added.value)  # type: ignore[operator]
        if (
            isinstance(added, ast.Constant)
            and isinstance(part, ast.BinOp)
            and isinstance(part.right, ast.Constant)
        ):
            return _folded(part, int(added.value))  # type: ignore[arg-type]
        return ast.BinOp(part, ast.Add(), added)


def _folded(part: ast.BinOp, added: int) -> ast.expr:
    assert isinstance(part.right, ast.Constant)
    if not isinstance(part.op, ast.Add | ast.Sub):
        return ast.BinOp(part, ast.Add(), ast.Constant(added))
    value = part.right.value if isinstance(part.op, ast.Add) else -part.right.value  # type: ignore[operator]
    total = value + added
    if total == 0:
        return part.left
    return ast.BinOp(part.left, ast.Add() if total > 0 else ast.Sub(), ast.Constant(abs(total)))


def shifted(source: str, found: Sequence[tuple[Mapping[str, int], Footprint]]) -> str | None:
    """The text with subscripts that are never negative; None when no simple offset does it."""
    needs: dict[Axis, list[tuple[Mapping[str, int], int]]] = defaultdict(list)
    for choice, footprint in found:
        for axis, low in footprint.low.items():
            needs[axis].append((choice, -low))
    sizes = list(found[0][0]) if found else []
    offsets: dict[Axis, str] = {}
    for axis, wanted in needs.items():
        if all(need <= 0 for _, need in wanted):
            continue
        offset = smallest_cover(wanted, sizes)
        if offset is None:
            return None
        offsets[axis] = offset
    return ast.unparse(ast.fix_missing_locations(Shift(offsets).visit(ast.parse(source))))


def negative_needs(source: str) -> dict[Axis, int]:
    """The extents that negative literal subscripts ask for."""
    needs: dict[Axis, int] = {}
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name):
            for axis, part in enumerate(subscripts_of(node)):
                key = (node.value.id, axis)
                needs[key] = max(needs.get(key, 0), negative_constant(part))
    return needs
