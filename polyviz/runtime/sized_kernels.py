"""The kernels of one function for short sizes of its calls: three colours, four states, a filter of five by five.

Which loops are short only a call tells. A program that knows it writes such loops out, keeps what they work on in
registers and runs the loops around them in vector lanes; one for any sizes prepares for long loops, and tests, copies
and cuts into tiles what is three iterations long. Of steps over time, which tiles are cut from, it matters whether
there are enough for all threads (`polyviz.runtime.few_steps`).
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from polyviz.analysis.known_sizes import short_sizes
from polyviz.errors import PolyvizError
from polyviz.model.exclusion import exclusive

if TYPE_CHECKING:
    from collections.abc import Callable

    from polyviz.model.program import FloatingPoint, Program
    from polyviz.model.scop import Scop
    from polyviz.runtime.bound import Bound
    from polyviz.runtime.kernel import Kernel
    from polyviz.runtime.specialising import OtherPlans

    Sizes = tuple[tuple[str, int], ...]
    Special = Sizes | int

MOST_KERNELS = 4
"""Combinations of short sizes, and heights of rows, that are compiled for; further calls run the program for any."""
SIZES_REMEMBERED = 64


class SizedKernels:
    """The kernels for short sizes of calls of ``scop``, or for few steps over time, made when a call asks for one,
    under a contract of ``floating_point``; and the one for arrays that hold no whole number of the rows in which the
    loops look at them."""

    def __init__(self, scop: Scop, others: OtherPlans | None, floating_point: FloatingPoint) -> None:
        self.scop = scop
        self.floating_point = floating_point
        self._make = None if others is None else others.for_sizes
        self._in_one_dimension = None if others is None else others.in_one_dimension
        self._few_steps = None if others is None else others.few_steps
        self._flat: Kernel | None = None
        self._kernels: dict[Special, Kernel | None] = {}
        self._special: dict[Sizes, Special] = {}

    def for_call(self, bound: Bound) -> Kernel | None:
        """The kernel for a call like ``bound``; None for the one for any sizes."""
        if not bound.has_whole_rows and self._in_one_dimension is not None:
            return self._flat_kernel(self._in_one_dimension)
        if self._make is None and self._few_steps is None:
            return None
        values = tuple(bound.parameters.items())
        if values not in self._special:
            self._remember(values)
        special = self._special[values]
        if special and special not in self._kernels and len(self._kernels) < MOST_KERNELS:
            self._kernels[special] = None
            with suppress(PolyvizError):  # The kernel for any sizes is there, and says what is wrong where it is, too.
                self._kernels[special] = self._made(special).with_floating_point(self.floating_point)
        return self._kernels.get(special)

    def _made(self, special: Special) -> Kernel:
        """The kernel for rows of a height, or for short sizes."""
        if isinstance(special, int):
            assert self._few_steps is not None
            return self._few_steps.make(special)
        assert self._make is not None
        return self._make(dict(special))

    def of(self, program: Program | None) -> Kernel | None:
        """The kernel among these that ``program`` is of."""
        kernels = (kernel for kernel in (*self._kernels.values(), self._flat) if kernel is not None)
        return next((kernel for kernel in kernels if program is not None and kernel.has(program)), None)

    @exclusive
    def _flat_kernel(self, make: Callable[[], Kernel]) -> Kernel:
        if self._flat is None:
            self._flat = make().with_floating_point(self.floating_point)
        return self._flat

    @exclusive
    def _remember(self, values: Sizes) -> None:
        if len(self._special) >= SIZES_REMEMBERED:
            self._special.clear()
        special: Special = () if self._make is None else tuple(short_sizes(self.scop, dict(values)).items())
        if not special and self._few_steps is not None:
            special = self._few_steps.height(dict(values)) or ()
        self._special[values] = special
