"""Vector types and functions in C that printers of vector loops share: shifted registers, loads of every second
element, sums over lanes, and loops that begin between two vectors of memory."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from polyviz.codegen.dtypes import C_TYPE_NAMES
from polyviz.codegen.register_tile_c import vector_types

if TYPE_CHECKING:
    from collections.abc import Iterable

    from polyviz.codegen.text import TextBuilder
    from polyviz.model.processor import Processor


@dataclass
class VectorFunctions:
    """What the text of one function has used so far, by type, for the vector registers of ``processor``."""

    processor: Processor | None
    shifts: dict[str, set[int]] = field(default_factory=dict)
    totals: set[str] = field(default_factory=set)
    seconds: set[str] = field(default_factory=set)
    turns: set[str] = field(default_factory=set)

    def lanes(self, dtype: str) -> int:
        """How many numbers a vector holds."""
        assert self.processor is not None
        return self.processor.lanes(8 if dtype == "float64" else 4)

    def use(self, dtype: str) -> None:
        """Let there be vectors of ``dtype``."""
        self.shifts.setdefault(dtype, set())

    def shift(self, dtype: str, distance: int) -> str:
        """The function that takes a vector out of two, from the place ``distance`` of the first one on."""
        self.use(dtype)
        self.shifts[dtype].add(distance)
        return f"shifted_{distance}_{dtype}"

    def total(self, dtype: str) -> str:
        """The function that adds up the lanes of a vector."""
        self.totals.add(dtype)
        for half in _halves(self.lanes(dtype)):
            self.shift(dtype, half)
        return f"total_{dtype}"

    def every_second(self, dtype: str) -> str:
        """The function that loads every second element, from an address on."""
        self.use(dtype)
        self.seconds.add(dtype)
        return f"every_second_{dtype}"

    def turning(self, dtype: str) -> None:
        """Let there be what sums need whose first lane may be any."""
        self.turns.add(dtype)
        self.total(dtype)

    def write(self, text: TextBuilder) -> None:
        """The types and functions that stand before the kernel, added to those that are there."""
        for dtype, distances in sorted(self.shifts.items()):
            assert self.processor is not None
            for line in vector_types(dtype, self.processor):
                if line not in text.lines:
                    text.add(0, line)
            lanes = self.lanes(dtype)
            if distances or dtype in self.seconds:
                size = self.processor.vector_bytes
                text.add(0, f"typedef {_WHOLE[dtype]} places_{dtype} __attribute__((vector_size({size})));")
            for distance in sorted(distances):
                _print_shift(dtype, distance, lanes, text)
            if dtype in self.totals:
                _print_total(dtype, lanes, text)
            if dtype in self.seconds:
                _print_every_second(dtype, lanes, text)
            if dtype in self.turns:
                _print_turns(dtype, lanes, self.processor.vector_bytes, text)


_WHOLE = {"float64": "int64_t", "float32": "int32_t"}
"""Whole numbers of the same size."""

_TURNS = """
/* How many elements lie before the next place in memory where a whole vector begins. */
static inline int64_t before_vector_{dtype}(const {kind} *start)
{{
    return (int64_t)(-(uintptr_t)start % {size} / sizeof({kind}));
}}

/* Zeros that the compiler does not look through: it rounds the first addition to them as all others. */
static inline vector_{dtype} nothing_{dtype}(void)
{{
    vector_{dtype} zeros = {{0}};
    __asm__("" : "+m"(zeros));
    return zeros;
}}

/* The lanes of a vector, all moved so many places to the front, and those that were there to the end. */
static inline vector_{dtype} turned_{dtype}(vector_{dtype} lanes, {whole} by)
{{
#ifdef __clang__
    vector_{dtype} result;
    for (int lane = 0; lane < {lanes}; lane++)
        result[lane] = lanes[(lane + by) % {lanes}];
    return result;
#else
    return __builtin_shuffle(lanes, (places_{dtype}){{{places}}} + by);
#endif
}}

/* The lanes of changed from first on, before stop; all others as they are. */
static inline vector_{dtype} merged_{dtype}(vector_{dtype} kept, vector_{dtype} changed, {whole} first, {whole} stop)
{{
    const places_{dtype} lane = {{{places}}}, inside = (lane >= first) & (lane < stop);
    return (vector_{dtype})(((places_{dtype})changed & inside) | ((places_{dtype})kept & ~inside));
}}

/* A sum that the compiler rounds before it is added to others. */
static inline vector_{dtype} rounded_{dtype}(vector_{dtype} sum)
{{
#if __GNUC__ >= 12  // clang says 4
    return __builtin_assoc_barrier(sum);
#else
    __asm__("" : "+m"(sum));
    return sum;
#endif
}}"""


def _print_turns(dtype: str, lanes: int, size: int, text: TextBuilder) -> None:
    """The functions of sums over ``lanes`` of vectors of ``size`` bytes, whose first lane may be any."""
    places = ", ".join(map(str, range(lanes)))
    words = {"dtype": dtype, "kind": C_TYPE_NAMES[dtype], "whole": _WHOLE[dtype], "places": places}
    for line in _TURNS.format(lanes=lanes, size=size, **words).splitlines():
        text.add(0, line)


def _halves(lanes: int) -> list[int]:
    """Half as many lanes, half of these, and so on."""
    return [lanes >> step for step in range(1, lanes.bit_length())]


def _print_shift(dtype: str, distance: int, lanes: int, text: TextBuilder) -> None:
    """The function that takes ``lanes`` elements out of two vectors, from ``distance`` on."""
    kind = f"vector_{dtype}"
    text.add(0, "")
    text.add(0, f"/* The {lanes} elements that begin at place {distance} of the first vector. */")
    text.add(0, f"static inline {kind} shifted_{distance}_{dtype}({kind} first, {kind} next)")
    text.add(0, "{")
    _print_shuffle(dtype, range(distance, distance + lanes), text)


def _print_shuffle(dtype: str, chosen: Iterable[int], text: TextBuilder) -> None:
    """The end of a function: the elements at the ``chosen`` places of the vectors ``first`` and ``next``."""
    places = ", ".join(map(str, chosen))
    text.add(0, "#ifdef __clang__")
    text.add(1, f"return __builtin_shufflevector(first, next, {places});")
    text.add(0, "#else")
    text.add(1, f"return __builtin_shuffle(first, next, (places_{dtype}){{{places}}});")
    text.add(0, "#endif")
    text.add(0, "}")


def _print_every_second(dtype: str, lanes: int, text: TextBuilder) -> None:
    """The function that loads every second element, and nothing behind the last one."""
    kind, loose = f"vector_{dtype}", f"const loose_{dtype} *"
    text.add(0, "")
    text.add(0, f"/* {lanes} elements, each two places behind the one before it. */")
    text.add(0, f"static inline {kind} every_second_{dtype}(const {C_TYPE_NAMES[dtype]} *start)")
    text.add(0, "{")
    text.add(1, f"const {kind} first = *({loose})start, next = *({loose})(start + {lanes - 1});")
    _print_shuffle(dtype, [*range(0, lanes, 2), *range(lanes + 1, 2 * lanes, 2)], text)


def _print_total(dtype: str, lanes: int, text: TextBuilder) -> None:
    """The function that adds up the lanes of a vector, half of them onto the other half again and again."""
    text.add(0, "")
    text.add(0, "/* The sum of all lanes. */")
    text.add(0, f"static inline {C_TYPE_NAMES[dtype]} total_{dtype}(vector_{dtype} lanes)")
    text.add(0, "{")
    for half in _halves(lanes):
        text.add(1, f"lanes += shifted_{half}_{dtype}(lanes, lanes);")
    text.add(1, "return lanes[0];")
    text.add(0, "}")
