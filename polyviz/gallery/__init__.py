"""Benchmark and teaching kernels as plain Python functions, with their sizes and initial data.

`polybench` gives the thirty kernels of PolyBench 4.2.1, `kernels` those and the teaching examples, `kernel` one by
name. Nothing but this file is imported before one of them is called.

>>> gemm = kernel("gemm")
>>> gemm.sizes["mini"]
{'ni': 20, 'nj': 25, 'nk': 30}
>>> alpha, beta, C, A, B = gemm.arguments("mini")
>>> gemm.function(alpha, beta, C, A, B)
>>> C.shape
(20, 25)
"""

import difflib
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from polyviz.gallery.entry import GalleryKernel

__all__ = ["kernel", "kernels", "polybench"]

_POLYBENCH_MODULES = ("blas", "linear_algebra", "solvers", "data_mining", "medley", "stencils")
_EXAMPLE_MODULES = (
    "examples_locality",
    "examples_reductions",
    "examples_accelerators",
    "examples_schedules",
    "examples_recipes",
    "examples_sparse",
)


@cache
def polybench() -> "tuple[GalleryKernel, ...]":
    """The thirty kernels of PolyBench 4.2.1, in alphabetical order.

    >>> len(polybench())
    30
    >>> polybench()[0].name
    '2mm'
    """
    return tuple(sorted(_collect(_POLYBENCH_MODULES), key=lambda entry: entry.name))


@cache
def kernels() -> "tuple[GalleryKernel, ...]":
    """Every kernel of the gallery: PolyBench first, then the teaching examples, topic by topic.

    >>> sorted({entry.category for entry in polybench()})
    ['blas', 'data mining', 'linear algebra', 'medley', 'solver', 'stencil']
    >>> kernels()[:30] == polybench()
    True
    """
    return polybench() + _collect(_EXAMPLE_MODULES)


def kernel(name: str) -> "GalleryKernel":
    """The kernel of that name; raises `LookupError` that lists the nearest names when there is none.

    >>> kernel("jacobi-2d").outputs
    ('A',)
    >>> kernel("jacobi")
    Traceback (most recent call last):
    LookupError: The gallery has no kernel 'jacobi'. Near it: jacobi-2d, jacobi-1d, jacobi-2d-alt.
    """
    by_name = {entry.name: entry for entry in kernels()}
    if name in by_name:
        return by_name[name]
    # A Python-style spelling is the likeliest slip: `jacobi_2d` for `jacobi-2d`.
    near = difflib.get_close_matches(name.replace("_", "-"), by_name, n=3, cutoff=0.5)
    listed = f"Near it: {', '.join(near)}." if near else f"It has: {', '.join(by_name)}."
    raise LookupError(f"The gallery has no kernel {name!r}. {listed}")


def _collect(modules: tuple[str, ...]) -> "tuple[GalleryKernel, ...]":
    found: list[GalleryKernel] = []
    for module in modules:
        found.extend(import_module(f"polyviz.gallery.{module}").KERNELS)
    return tuple(found)
