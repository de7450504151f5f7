"""Lists of one value, repeated: ``best = [1] * n``, ``cost = [[0] * m for _ in range(n)]``.

Where nobody asks for more than their elements and lengths, they are arrays: ``best = np.full((n,), 1)``. A list takes
values of any type, and an array has one. What is stored later therefore has to fit the type of the value that the list
is made of (``polyviz.codegen.made_arrays``).
"""

from __future__ import annotations

import ast
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from polyviz.frontend.array_names import mentions
from polyviz.frontend.list_uses import ListUses, is_array_of, one_by_one
from polyviz.frontend.literals import LISTED
from polyviz.frontend.own_names import numpy_function
from polyviz.frontend.parts import copies_of, parts_of, stored_in
from polyviz.frontend.regions import call_of
from polyviz.frontend.visited import located, visited

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from polyviz.frontend.names import GlobalNames
    from polyviz.frontend.source import Source

_OF_ROWS = ("sum", "max", "min")
"""Functions of Python that want the elements of a list of numbers."""


@dataclass(frozen=True, slots=True)
class _Repeated:
    """A list of ``value``, and lists of such lists, of these ``lengths`` from the outside."""

    lengths: tuple[ast.expr, ...]
    value: ast.expr

    def array(self) -> ast.Call:
        """The call that makes the array; of a negative length a list is empty."""
        lengths: list[ast.expr] = [call_of("max", one, ast.Constant(0)) for one in self.lengths]
        kind = ast.keyword("dtype", ast.Constant("float64", LISTED))
        return ast.Call(numpy_function("full"), [ast.Tuple(lengths, ast.Load()), self.value], [kind])


def with_repeated_lists(source: Source, names: GlobalNames) -> Source:
    """``source`` of a function with arrays in the place of such lists.

    >>> from polyviz.frontend.names import GlobalNames
    >>> from polyviz.frontend.source import read_source
    >>> text = "def f(x, n):\\n best = [0.0] * n\\n for i in range(n):\\n  best[i] = x[i]\\n return best[-1]"
    >>> source = read_source(text, None, None)
    >>> made, *_ = with_repeated_lists(source, GlobalNames(source)).body
    >>> print(ast.unparse(made))
    best = np.full((max(n, 0),), 0.0, dtype='float64')
    """
    if source.arguments is None:
        return source
    body = [line for node in copies_of(source.body) for line in one_by_one(node)]
    stored = stored_in(*body)
    if any(name in stored or names.knows(name) for name in ("range", "len", *_OF_ROWS)):
        return source
    uses = _Uses(body, names)
    if not uses.lists:
        return source
    written = visited(_Writer(uses.lists), body)
    return replace(source, body=tuple(visited(ListUses(frozenset(uses.lists), names), written)))


def _repeated(node: ast.expr) -> _Repeated | None:
    """What ``node`` makes, where it is such a list."""
    match node:
        case ast.BinOp(ast.List(elts=[value]), ast.Mult(), length) | ast.BinOp(length, ast.Mult(), ast.List([value])):
            others = (ast.List, ast.ListComp, ast.Starred, ast.Tuple)
            is_number = not any(isinstance(part, others) for one in (value, length) for part in parts_of(one))
            return _Repeated((length,), value) if is_number else None
        case ast.ListComp(
            elt=inner,
            generators=[
                ast.comprehension(
                    target=ast.Name(own), iter=ast.Call(ast.Name("range"), [length], []), ifs=[], is_async=0
                )
            ],
        ):
            row = _Repeated((), inner) if _is_written_down(inner) else _repeated(inner)
            if row is not None and not any(mentions(one, own) for one in (*row.lengths, row.value)):
                return _Repeated((length, *row.lengths), row.value)
    return None


def _is_written_down(node: ast.expr) -> bool:
    """Whether ``node`` is a number that the text says: ``-1``, ``10**9``, ``math.inf``, ``float("inf")``."""
    parts = parts_of(node)
    bases = [part.value for part in parts if isinstance(part, ast.Attribute)]
    names = [part for part in parts if isinstance(part, ast.Name) and part.id != "float" and part not in bases]
    return not names and not any(isinstance(part, ast.List | ast.ListComp) for part in parts)


class _Uses:
    """The names in a body that are given such a list once and used as arrays; ``lists`` are these lists."""

    def __init__(self, body: Sequence[ast.stmt], names: GlobalNames) -> None:
        self._names = names
        parts = parts_of(*body)
        self._parents = {child: part for part in parts for child in ast.iter_child_nodes(part)}
        found: dict[str, _Repeated] = {}
        for part in parts:
            match part:
                case ast.Assign(targets=[ast.Name(name)], value=value) if (made := _repeated(value)) is not None:
                    found[name] = made
        self._copies = [copied for part in parts if (copied := _copied(part)) and _are_alike(copied, found)]
        swaps = [swap for part in parts if (swap := _swapped(part))]
        stored = Counter(part.id for part in parts if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store))
        stored.subtract(name for swap in swaps for name in swap)
        stored.subtract(name for name, _ in self._copies)
        # What goes over from one list to another makes arrays of both of them, or of none.
        swaps += map(frozenset, self._copies)
        read = [part for part in parts if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load)]
        others = {one.id for one in read if one.id in found and not self._is_element(one, len(found[one.id].lengths))}
        others |= {name for name, count in stored.items() if count != 1 or name not in found}
        while mixed := [swap for swap in swaps if not swap.isdisjoint(others) and not swap <= others]:
            others.update(*mixed)
        self.lists: Mapping[str, _Repeated] = {name: one for name, one in found.items() if name not in others}

    def _is_element(self, node: ast.expr, depth: int) -> bool:
        """Whether an array may stand for the list ``node`` of lists to this ``depth`` where it is used."""
        above = self._parents.get(node)
        while isinstance(above, ast.Subscript) and above.value is node and depth:
            if isinstance(above.slice, ast.Slice | ast.Tuple):
                return depth == 1 and _copied(self._parents.get(above)) in self._copies
            node, depth, above = above, depth - 1, self._parents.get(above)
        match above:
            case _ if not depth:
                return True
            case ast.Call(func=ast.Name(name), args=[_], keywords=[]) if above.func is not node:
                return name == "len" or (depth == 1 and name in _OF_ROWS)
            case ast.Call(func=function, args=[first, *_]) if first is node and isinstance(node, ast.Name):
                return is_array_of(function, self._names)
            case ast.For(iter=iterable) if iterable is node:
                return depth == 1
            case ast.Tuple():
                return bool(_swapped(self._parents.get(above)))
        return False


def _copied(node: ast.AST | None) -> tuple[str, str] | None:
    """The two names in ``previous = current[:]``, which copies a list."""
    match node:
        case ast.Assign(
            targets=[ast.Name(target)],
            value=ast.Subscript(value=ast.Name(given), slice=ast.Slice(lower=None, upper=None, step=None)),
        ) if target != given:
            return target, given
    return None


def _are_alike(copied: tuple[str, str], found: Mapping[str, _Repeated]) -> bool:
    """Whether both names have lists of as many numbers by the text, so that one may take the contents of the other."""
    lengths = [found[name].lengths if name in found else () for name in copied]
    texts = [[ast.unparse(one) for one in each] for each in lengths]
    return texts[0] == texts[1] and len(texts[0]) == 1


def _swapped(node: ast.AST | None) -> frozenset[str]:
    """The names that ``a, b = b, a`` exchanges; none for other lines."""
    match node:
        case ast.Assign(targets=[ast.Tuple(elts=targets)], value=ast.Tuple(elts=values)):
            names = [[one.id if isinstance(one, ast.Name) else "" for one in row] for row in (targets, values)]
            is_exchange = sorted(names[0]) == sorted(names[1]) and len(set(names[0])) == len(targets)
            return frozenset(names[0]) if is_exchange and "" not in names[0] else frozenset()
    return frozenset()


class _Writer(ast.NodeTransformer):
    """Puts the arrays in the place of ``lists``."""

    def __init__(self, lists: Mapping[str, _Repeated]) -> None:
        self._lists = lists

    def visit_Assign(self, node: ast.Assign) -> ast.Assign:
        """The line that makes one of the arrays, or ``node`` as it is."""
        if (copied := _copied(node)) and copied[0] in self._lists:
            return located(ast.Assign([ast.Subscript(node.targets[0], ast.Slice(), ast.Store())], node.value), node)
        target = node.targets[0]
        made = self._lists.get(target.id) if isinstance(target, ast.Name) else None
        return node if made is None else located(ast.Assign([target], made.array()), node)
