"""What is said of a name that stands for one array here and for another one there."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from polyviz.frontend.parts import parts_of
from polyviz.frontend.refuse import Refusal

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

_EXCHANGE = (
    "Use one name per array; in `A, B = B, A` both have no other name and change places with each other only. "
    "Elsewhere copy elements: `A[:] = B`."
)


def renamed(target: str, value: str, arrays: Collection[str], *, is_made: bool = False) -> Refusal:
    """The refusal of ``target = value``, where ``value`` is an array, and ``target`` another one if in ``arrays``.

    ``target`` is empty where there are several; ``is_made``: the loops make ``value`` anew.

    >>> renamed("x", "new", {"x", "new"}).hint
    'Write `x[:] = new` where elements are copied, or `x, new = new, x` where the two change places in every step.'
    """
    construct = f"The array `{value}` gets another name here."
    if target not in arrays:
        own = f"Write `{value}` below, too, or make an array of its own before the loops: `{target} = {value}.copy()`."
        return Refusal(construct, "Which array a name stands for must not change.", own if target else _EXCHANGE)
    both = f" where elements are copied, or `{target}, {value} = {value}, {target}` where the two change places in "
    both += "every step"
    return Refusal(
        construct,
        f"From here on `{target}` and `{value}` are one array: what is stored in one is read from the other.",
        f"Write `{target}[:] = {value}`{'' if is_made else both}.",
    )


def renaming(base: ast.expr, body: Sequence[ast.stmt]) -> tuple[ast.AST, Refusal] | None:
    """The line of the loops ``body`` that gives the name ``base`` to another array, and what is said of it."""
    parts = parts_of(*body)
    arrays = {one.value.id for one in parts if isinstance(one, ast.Subscript) and isinstance(one.value, ast.Name)}
    lines = [one for one in parts if isinstance(one, ast.Assign)]
    made = {part.id for line in lines for part in line.targets if isinstance(part, ast.Name)}
    for line in lines:
        match line:
            case ast.Assign(targets=[ast.Name(id=target)], value=ast.Name(id=value)) if value in arrays - {target}:
                if isinstance(base, ast.Name) and base.id == target:
                    return line, renamed(target, value, {*arrays, target}, is_made=value in made)
    return None


def no_array(base: ast.expr, body: Sequence[ast.stmt]) -> tuple[ast.AST, Refusal]:
    """What to say of ``base``, which has a subscript and is no array in the loops ``body``, and where."""
    name = f"`{base.id}`" if isinstance(base, ast.Name) else "This"
    return renaming(base, body) or (
        base,
        Refusal(
            f"{name} is not an array here.",
            "Subscripts select elements of arrays that are arguments or are made before the loops.",
            "Pass the array as an argument, or make it before the loops.",
        ),
    )
