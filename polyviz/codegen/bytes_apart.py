"""Loops over the colours of pixels, and the like: small numbers that lie some bytes apart.

A vector of 64 bytes holds that many of them, and gcc, told to use vectors, picks each out of several vectors and puts
it back among others. That takes longer than to load and store them one by one; left alone it weighs the two.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from polyviz.codegen.bodies import placed_body
from polyviz.codegen.dtypes import type_named
from polyviz.codegen.loops import instances
from polyviz.codegen.versions_c import step_of
from polyviz.model.expression import Element, Name, walk

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from polyviz.codegen.loops import For
    from polyviz.model.expression import Instruction
    from polyviz.model.scop import Scop

SMALL = 16
"""Bits of numbers of which a vector holds so many that to put it together takes long."""


def lanes_of(scop: Scop, loop: For, bodies: Mapping[str, Sequence[Instruction]], dtypes: Mapping[str, str]) -> str:
    """What tells the compiler of the vector ``loop``; empty where it had better find out by itself."""
    if _are_bytes_apart(scop, loop, bodies, dtypes):
        return ""
    return f"#pragma omp simd{f' simdlen({loop.interleave})' if loop.interleave > 1 else ''}"


def _are_bytes_apart(
    scop: Scop, loop: For, bodies: Mapping[str, Sequence[Instruction]], dtypes: Mapping[str, str]
) -> bool:
    """Whether all that moves with ``loop`` are small numbers, none beside the one of the iteration before."""
    moving = list(_moving(scop, loop, bodies))
    small = all(type_named(dtypes[element.array]).bits <= SMALL for element in moving)
    return bool(moving) and small and all(_is_apart(element, loop.iterator) for element in moving)


def _moving(scop: Scop, loop: For, bodies: Mapping[str, Sequence[Instruction]]) -> Iterator[Element]:
    for one in instances(loop):
        for line in placed_body(scop.statement(one.statement), bodies[one.statement], one.arguments):
            for node in walk(line):
                if isinstance(node, Element) and Name(loop.iterator) in (
                    part for subscript in node.subscripts for part in walk(subscript)
                ):
                    yield node


def _is_apart(element: Element, iterator: str) -> bool:
    steps = [step_of(subscript, iterator) for subscript in element.subscripts]
    return any(step != 0 for step in steps[:-1]) or steps[-1] not in (1, -1)
