"""A superposition of the user's own, typed in the notation of the article."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import islpy as isl

from polyviz.analysis import dependences as find_dependences
from polyviz.analysis.carried import constraints_of
from polyviz.analysis.superposed import check_scatterings
from polyviz.analysis.superposed_rows import SuperposedRows
from polyviz.errors import OptionError
from polyviz.model.exclusion import exclusive
from polyviz.model.superposition import Axis, Dimension, Scattering, Superposition, affine_map
from polyviz.scheduling.superposed.trees import tree_of
from polyviz.scheduling.superposed.typed import NoKernelsError, typed_kernels
from polyviz.transform.tile import is_tile_size

if TYPE_CHECKING:
    from collections.abc import Sequence

    from polyviz.model.dependences import Dependences
    from polyviz.model.scop import Scop, Statement

_AXIS = re.compile(r"(.+)_([xyz])")
_TILE = re.compile(r"floor\((.+)/\s*0*([1-9]\d*)\)")
_BRACKETS = re.compile(r"\(([^()]+)\)")
_AXES: Mapping[str, Axis] = {"x": "x", "y": "y", "z": "z"}


@exclusive
def superpose(
    scop: Scop,
    outer: Mapping[str, str],
    regular: Mapping[str, str],
    *,
    threads: Sequence[int] = (),
    known: Dependences | None = None,
) -> Superposition:
    """The superposition with the scattering functions ``outer`` and ``regular`` per statement, checked but not refused.

    A function is written ``(0, floor(i/32)_x, t, j_y)``: whole numbers order statements, ``_x``, ``_y``, ``_z`` make an
    affine function of the iterators a coordinate, ``floor(…/size)`` makes tiles. What the check found is in
    ``legality``. A legal one gets the kernels and barriers that it needs, with ``threads`` along the axes of a block;
    where the functions say too little for that, ``unmapped`` tells why, and it runs on a processor, and on a device as
    its ``tree``. Raises ``OptionError`` where the text cannot be read or a statement is missing.

    >>> from polyviz.frontend import extract
    >>> part = extract('''
    ... def double(A):
    ...     for i in range(A.shape[0]):
    ...         A[i] = 2 * A[i]
    ... ''')
    >>> made = superpose(part, {"S0": "(0, floor(i/4)_x)"}, {"S0": "(0, i_x, 0)"})
    >>> print(made.notation(), bool(made.legality))
    S0: (0, floor(i/4)_x, 0, i_x, 0) True
    >>> made.kernels[0].threads
    {'x': 4}
    """
    outer_functions, regular_functions = _scatterings(scop, outer), _scatterings(scop, regular)
    domain = scop.domain.intersect_params(scop.context)
    both = {name: (*outer_functions[name], *regular_functions[name]) for name in outer_functions}
    dependences = known if known is not None else find_dependences(scop)
    made = Superposition(
        outer=outer_functions,
        regular=regular_functions,
        outer_tree=tree_of(domain, outer_functions),
        regular_tree=tree_of(domain, regular_functions),
        tree=tree_of(domain, both),
        legality=check_scatterings(scop, outer_functions, regular_functions, known=dependences),
    )
    return _with_kernels(scop, made, dependences, _thread_counts(threads))


def _with_kernels(
    scop: Scop, made: Superposition, known: Dependences, threads: tuple[int, ...]
) -> Superposition:
    if not made.legality:
        return replace(made, unmapped="it is not legal")
    rows = SuperposedRows(scop, made.outer, made.regular)
    constraints = tuple(found for found in constraints_of(scop, known) if not found.pairs.is_empty())
    try:
        return replace(made, kernels=typed_kernels(rows, constraints, threads))
    except NoKernelsError as why:
        return replace(made, unmapped=str(why))


def _thread_counts(threads: object) -> tuple[int, ...]:
    counts = tuple(threads) if isinstance(threads, list | tuple) else (threads,)
    if len(counts) > len(_AXES) or not all(is_tile_size(count) for count in counts):
        raise OptionError(f"threads are at most three positive whole numbers, x first, not {threads!r}.")
    return counts


def _scatterings(scop: Scop, texts: Mapping[str, str]) -> dict[str, Scattering]:
    if not isinstance(texts, Mapping) or not all(isinstance(text, str) for text in texts.values()):
        raise OptionError(
            f"Scattering functions are texts by statement, such as {{'S0': '(0, i_x)'}}, not {texts!r}."
        )
    names = [statement.name for statement in scop.statements]
    wrong = [name for name in texts if name not in names] or [name for name in names if name not in texts]
    if wrong:
        problem = "is no statement of this part" if wrong[0] in texts else "has no scattering function"
        raise OptionError(f"`{wrong[0]}` {problem}; the statements are {', '.join(names)}.")
    return {statement.name: _scattering(statement, texts[statement.name]) for statement in scop.statements}


def _scattering(statement: Statement, text: str) -> Scattering:
    if text.count("(") != text.count(")"):
        raise OptionError(f"`{text}`, the scattering function of {statement.name}, lacks a bracket.")
    inner = text.strip().removeprefix("(").removesuffix(")")
    return tuple(_dimension(statement, part.strip()) for part in inner.split(",") if part.strip())


def _dimension(statement: Statement, text: str) -> Dimension:
    expression, axis, tile = text, None, None
    if found := _AXIS.fullmatch(expression):
        expression, axis = found[1], _AXES[found[2]]
    if found := _TILE.fullmatch(expression):
        expression, tile = found[1], int(found[2])
    if found := _BRACKETS.fullmatch(expression):
        expression = found[1]
    try:
        affine_map(statement.domain, expression)
    except isl.Error:
        known = ", ".join(statement.iterators) or "none"
        raise OptionError(
            f"`{text}` is no dimension of a scattering function of {statement.name}, whose iterators are: {known}."
        ) from None
    scalar = re.fullmatch(r"\d+", expression) is not None and axis is None
    return Dimension("scalar" if scalar else "loop", expression, axis, tile)
