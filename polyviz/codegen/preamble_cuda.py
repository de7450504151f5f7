"""What stands before the kernels of a CUDA text, and the words that its variables cannot have."""

from __future__ import annotations

from typing import TYPE_CHECKING

from polyviz.codegen.reserved_c import C_RESERVED
from polyviz.codegen.runtime_c import helper_source

if TYPE_CHECKING:
    from collections.abc import Iterable

_OF_INDICES = ("min_i64", "max_i64", "floor_div_i64", "floor_mod_i64")
_OF_64, _OF_INDEX = "_i64(", "_index("
CUDA_RESERVED = C_RESERVED | {
    *(
        "blockIdx",
        "blockDim",
        "gridDim",
        "threadIdx",
        "warpSize",
        "dim3",
        "class",
        "template",
        "typename",
        "this",
    ),
    *(
        "new",
        "delete",
        "operator",
        "namespace",
        "using",
        "private",
        "public",
        "protected",
        "friend",
        "virtual",
    ),
    *(
        "try",
        "catch",
        "throw",
        "and",
        "or",
        "not",
        "xor",
        "bitand",
        "bitor",
        "compl",
        "export",
        "mutable",
        "explicit",
    ),
    *(
        "failure",
        "Global",
        "Shared",
        "launch",
        "slot",
        "emulate",
        "copy_later",
        "wait_for_copies",
        "is_aligned",
        "take",
        "Index",
        "INDEX_BITS",
    ),
}
PREAMBLE = """\
#ifdef __CUDACC_RTC__
typedef signed char int8_t; typedef short int16_t; typedef int int32_t; typedef long long int64_t;
typedef unsigned char uint8_t; typedef unsigned short uint16_t; typedef unsigned uint32_t;
typedef unsigned long long uint64_t;
#define INT8_MIN (-128)
#define INT16_MIN (-32768)
#define INT32_MIN (-2147483647 - 1)
#define INT64_MIN (-9223372036854775807LL - 1)
#define INFINITY __int_as_float(0x7f800000)
#define NAN __int_as_float(0x7fffffff)
#else
#include <math.h>
#include <stdint.h>
#endif"""

INDEX_WIDTH = """\
// Subscripts have 32 bits; for larger sizes, and grids above a device's, the host compiles 64 of them.
#define INDEX_BITS 32
#if INDEX_BITS == 32
typedef int32_t Index;
#else
typedef int64_t Index;
#endif"""

NEAR_MEMORY = """\
// A copy to shared memory that goes on while the thread does other things; 16, 8 or 4 bytes at once.
template <int CELLS = 1, class T> static __device__ inline void copy_later(T *to, const T *from)
{
    const int bytes = CELLS * sizeof(T);
#if __CUDA_ARCH__ >= 800
    const unsigned place = (unsigned)__cvta_generic_to_shared(to);
    if constexpr (bytes == 16)
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(place), "l"(from) : "memory");
    else if constexpr (bytes == 8 || bytes == 4)
        asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(place), "l"(from), "n"(bytes) : "memory");
    else
#endif
    for (int cell = 0; cell < CELLS; cell++)
        to[cell] = from[cell];
}

static __device__ inline void wait_for_copies()
{
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_all;" ::: "memory");
#endif
}

// Cells beside each other from shared memory to registers; 16 or 8 bytes at once.
template <int CELLS, class T> static __device__ inline void take(T *to, const T *from)
{
    struct __align__(CELLS * sizeof(T)) Piece {
        T cells[CELLS];
    };
    *(Piece *)to = *(const Piece *)from;
}

static __device__ inline bool is_aligned(const void *array)
{
    return (unsigned long long)array % 16 == 0;
}"""


def with_wide_indices(text: str) -> str:
    """A CUDA text whose subscripts have 64 bits.

    >>> with_wide_indices("#define INDEX_BITS 32")
    '#define INDEX_BITS 64'
    """
    return text.replace("#define INDEX_BITS 32", "#define INDEX_BITS 64", 1)


def index_helpers(names: Iterable[str]) -> str:
    """The definitions of those helpers among ``names`` that subscripts need, for their numbers: ``min_index``."""
    whole = helper_source(name for name in names if name in _OF_INDICES)
    return (
        whole.replace(_OF_64, _OF_INDEX).replace("int64_t", "Index").replace("INT64_MIN", "-2147483647 - 1")
    )


def as_index(text: str) -> str:
    """Printed bounds of loops with the helpers for subscripts.

    >>> as_index("min_i64(n, 4)")
    'min_index(n, 4)'
    """
    return text.replace(_OF_64, _OF_INDEX)
