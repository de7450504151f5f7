"""Arguments whose elements were exchanged in the place of their names: they get back what is theirs.

After ``old, new = new, old`` in a loop of which nobody knows how often it runs, ``old`` may mean the second argument.
Where elements are exchanged instead, the function counts how often, and exchanges them once more before it ends where
the caller would find them in the other array.
"""

from __future__ import annotations

import ast
import copy
from typing import TYPE_CHECKING

from polyviz.frontend.array_names import mentions
from polyviz.frontend.handed_over import with_blocks
from polyviz.frontend.literals import EXCHANGED, RETURNED
from polyviz.frontend.own_names import numpy_function
from polyviz.frontend.parts import copy_of
from polyviz.frontend.visited import located

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from polyviz.frontend.visited import FreshNames


class Circle:
    """Names of arrays of which some are arguments, each of which gets what the next one has, as ``pairs`` say.

    ``line`` is one of these exchanges. ``fresh`` makes names, one of them for how many exchanges there were.
    """

    def __init__(self, pairs: Mapping[str, str], line: ast.stmt, fresh: FreshNames) -> None:
        self.pairs = pairs
        self._line = line
        self._fresh = fresh
        self._turns = fresh.like("turns")

    def first(self) -> ast.stmt:
        """The line that starts to count."""
        return located(ast.Assign([ast.Name(self._turns, ast.Store())], ast.Constant(0)), self._line)

    def counted(self, node: ast.stmt) -> ast.stmt:
        """The line that counts the exchange ``node``."""
        return located(ast.AugAssign(ast.Name(self._turns, ast.Store()), ast.Add(), ast.Constant(1)), node)

    def may_return(self, node: ast.Return, makes: Callable[[ast.expr], bool]) -> bool:
        """Whether what ``node`` returns is no part of the arrays; ``makes`` tells of a value that it is new."""
        asked = [value for value in _values(node) if any(mentions(value, name) for name in self.pairs)]
        return all(isinstance(value, ast.Name) or makes(value) for value in asked)

    def returned(self, node: ast.Return) -> list[ast.stmt]:
        """``node`` behind what gives the arguments back what is theirs."""
        before: list[ast.stmt] = []
        kept: list[ast.expr] = []
        for value in _values(node):
            if not any(mentions(value, name) for name in self.pairs):
                kept.append(value)
                continue
            name = self._fresh.like("result")
            kept.append(ast.Name(name, ast.Load()))
            is_whole = isinstance(value, ast.Name)
            before += _copied(value, name) if is_whole else [ast.Assign([ast.Name(name, ast.Store())], value)]
        written = copy.copy(node)
        if isinstance(node.value, ast.Tuple):
            written.value = located(ast.Tuple(kept, ast.Load()), node)
        elif kept:
            [written.value] = kept
        return [*(located(one, node) for one in before), *self.put_back(), located(written, node)]

    def put_back(self) -> list[ast.stmt]:
        """The exchanges that lead back to where each array has its own elements."""
        lines: list[ast.stmt] = []
        given = {name: name for name in self.pairs}
        orders: list[Mapping[str, str]] = []
        while not orders or given != {name: name for name in self.pairs}:
            given = {name: given[value] for name, value in self.pairs.items()}
            orders.append(given)
        count = len(orders)
        for done in range(1, count):
            turn = ast.BinOp(ast.Name(self._turns, ast.Load()), ast.Mod(), ast.Constant(count))
            test = ast.Compare(turn, [ast.Eq()], [ast.Constant(done)])
            lines.append(ast.If(test, exchanged(orders[count - done - 1], self._line, self._fresh), []))
        return [located(line, self._line) for line in lines]


def with_circle(body: Sequence[ast.stmt], circle: Circle) -> list[ast.stmt]:
    """``body`` of a function that counts the exchanges of ``circle`` already, and ends as Python would."""

    def block(nodes: Sequence[ast.stmt]) -> list[ast.stmt]:
        written: list[ast.stmt] = []
        for node in nodes:
            if isinstance(node, ast.Return):
                written += circle.returned(node)
            else:
                written.append(with_blocks(node, block))
        return written

    found = block(body)
    ends = [] if found and isinstance(found[-1], ast.Return) else circle.put_back()
    return [circle.first(), *found, *ends]


def exchanged(pairs: Mapping[str, str], node: ast.stmt, fresh: FreshNames) -> list[ast.stmt]:
    """The lines that give each array the elements of another one, as ``pairs`` say, in the place of ``node``."""
    lines, waiting = list[ast.stmt](), {name: value for name, value in pairs.items() if name != value}
    while waiting:
        first = name = next(iter(waiting))
        kept = fresh.like("kept")
        whole = ast.Call(ast.Attribute(ast.Name(name, ast.Load()), "copy", ast.Load()), [], [])
        lines.append(ast.Assign([ast.Name(kept, ast.Store())], whole))
        while (value := waiting.pop(name)) != first:
            lines.append(_moved(name, value))
            name = value
        lines.append(_moved(name, kept))
    return [located(line, node) for line in lines]


def _moved(name: str, value: str) -> ast.stmt:
    """The line that gives the array ``name`` the elements of ``value``."""
    everything = ast.Subscript(ast.Name(name, ast.Load()), ast.Constant(..., EXCHANGED), ast.Store())
    return ast.Assign([everything], ast.Name(value, ast.Load()))


def _values(node: ast.Return) -> list[ast.expr]:
    if isinstance(node.value, ast.Tuple):
        return node.value.elts
    return [] if node.value is None else [node.value]


def _copied(array: ast.expr, target: str) -> list[ast.stmt]:
    """The lines that make ``target`` a copy of ``array``."""
    made = ast.Call(numpy_function("empty_like"), [array], [])
    everything = ast.Subscript(ast.Name(target, ast.Load()), ast.Constant(..., RETURNED), ast.Store())
    return [ast.Assign([ast.Name(target, ast.Store())], made), ast.Assign([everything], copy_of(array))]
