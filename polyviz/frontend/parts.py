"""The parts of a text: every pass over it asks for them, so that they are found without a detour.

``ast.walk`` and ``copy.deepcopy`` take three and eight times as long: they also visit what says only how a name is used
or which operator joins two values, and ask each node anew which fields it has.
"""

from __future__ import annotations

import ast
from collections import Counter
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

Copied = TypeVar("Copied", bound=ast.AST)

_WITHOUT_PARTS = frozenset({"ctx", "op", "ops", "id", "attr", "kind", "type_comment"})
"""Fields whose values are no parts: texts, and nodes that have no parts themselves."""


class _Fields(dict[type[ast.AST], tuple[str, ...]]):
    """The fields of each kind of node in which parts may be."""

    def __missing__(self, kind: type[ast.AST]) -> tuple[str, ...]:
        fields = () if issubclass(kind, ast.Constant) else kind._fields
        self[kind] = tuple(one for one in fields if one not in _WITHOUT_PARTS)
        return self[kind]


_FIELDS = _Fields()


def parts_of(*nodes: ast.AST | None) -> list[ast.AST]:
    """Each of ``nodes`` that is not None, followed by all that it is made of, the outer parts before the inner ones.

    Operators and contexts (``ast.Add``, ``ast.Load``) are no parts: who needs one finds it in its node.

    >>> [ast.unparse(one) for one in parts_of(ast.parse("x[i] + 1", mode="eval").body)]
    ['x[i] + 1', 'x[i]', '1', 'x', 'i']
    """
    found: list[ast.AST] = []
    for root in nodes:
        if root is not None:
            found += _within(root)
    return found


def _within(root: ast.AST) -> list[ast.AST]:
    level = [root]
    for node in level:  # It grows meanwhile.
        for field in _FIELDS[type(node)]:
            value = getattr(node, field, None)
            if isinstance(value, ast.AST):
                level.append(value)
            elif isinstance(value, list):
                level += [one for one in value if isinstance(one, ast.AST)]
    return level


def names_of(*nodes: ast.AST | None) -> Iterator[ast.Name]:
    """The parts that are names, in the order of :func:`parts_of`."""
    return (part for part in parts_of(*nodes) if isinstance(part, ast.Name))


def names_in(*nodes: ast.AST | None) -> set[str]:
    """What stands in ``nodes`` as a name, read or stored.

    >>> sorted(names_in(*ast.parse("x[i] = y").body))
    ['i', 'x', 'y']
    """
    return {name.id for name in names_of(*nodes)}


def stored_in(*nodes: ast.AST | None) -> set[str]:
    """The names that ``nodes`` give a value to; an array whose elements are stored is none of them.

    >>> sorted(stored_in(*ast.parse("for i in x: s, x[i] = i, 1").body))
    ['i', 's']
    """
    return {name.id for name in names_of(*nodes) if isinstance(name.ctx, ast.Store)}


def uses_in(*nodes: ast.AST | None) -> Counter[str]:
    """How often each name stands in ``nodes``, read or stored.

    >>> uses_in(*ast.parse("x = x + y").body)
    Counter({'x': 2, 'y': 1})
    """
    return Counter(name.id for name in names_of(*nodes))


def argument_names(*nodes: ast.AST | None) -> set[str]:
    """The names of the arguments that ``nodes`` state.

    >>> sorted(argument_names(*ast.parse("def f(A, *, n=1): return n").body))
    ['A', 'n']
    """
    return {part.arg for part in parts_of(*nodes) if isinstance(part, ast.arg)}


def copy_of(node: Copied) -> Copied:
    """``node`` and all that it is made of once more, for a pass that changes what it finds.

    >>> first = ast.parse("x + 1", mode="eval").body
    >>> second = copy_of(first)
    >>> second.left.id = "y"
    >>> ast.unparse(first), ast.unparse(second)
    ('x + 1', 'y + 1')
    """
    made = type(node).__new__(type(node))
    state = made.__dict__
    state.update(node.__dict__)
    for field in _FIELDS[type(node)]:
        value = state.get(field)
        if isinstance(value, ast.AST):
            state[field] = copy_of(value)
        elif isinstance(value, list):
            state[field] = [_copied(one) for one in value]
    return made


def _copied(value: Any) -> Any:
    return copy_of(value) if isinstance(value, ast.AST) else value


def copies_of(nodes: Iterable[Copied]) -> list[Copied]:
    """Each of ``nodes`` once more, see :func:`copy_of`."""
    return [copy_of(node) for node in nodes]
