"""Expressions compiled by gcc (as printed) and by numba (as written), run over the same awkward values and compared.

Arrays ``NAME`` of ``COUNT`` values stand behind the names in ``TYPES``; an expression is evaluated once per position.
"""

from __future__ import annotations

import ctypes
import itertools
import math
import subprocess
from typing import TYPE_CHECKING

import numba
import numpy as np

from polyviz.codegen.dtypes import C_TYPE_NAMES
from polyviz.codegen.expressions_c import CExpressionPrinter
from polyviz.codegen.runtime_c import helper_source
from polyviz.codegen.typing import Environment, infer

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from polyviz.model.expression import Element, Expression

TYPES = {
    "p": "bool", "q": "bool", "b1": "int8", "c1": "int8", "b2": "int16", "k": "int32", "m": "int32",
    "i8": "int64", "j8": "int64", "v1": "uint8", "v2": "uint16", "u4": "uint32", "u": "uint64", "w": "uint64",
    "x4": "float32", "y4": "float32", "x": "float64", "y": "float64", "z8": "complex64", "z": "complex128",
    "zz": "complex128",
}  # fmt: skip
COUNT = 97
SERIAL = itertools.count()
FLAGS = ["-O2", "-fwrapv", "-ffp-contract=off", "-fPIC", "-shared", "-Wparentheses", "-Werror"]
FLOATS = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    -0.5,
    1.5,
    2.5,
    -2.5,
    3.0,
    -3.0,
    7.25,
    1e-3,
    -1e6,
    123.456,
    math.inf,
    -math.inf,
    math.nan,
]
SMALL = [0, 1, -1, 2, -2, 3, -3, 5, 7, -7, 10, 63, 64, 100, -100, 127]


def values(name: str, *, extreme: bool = False) -> np.ndarray:
    """The values behind ``name``: special ones in an order of its own, so that pairs of names meet in many pairs."""
    dtype = np.dtype(TYPES[name])
    generator = np.random.default_rng(sum(map(ord, name)))
    if dtype.kind == "b":
        return generator.integers(0, 2, COUNT).astype(bool)
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        pool = [value for value in SMALL if limits.min <= value]
        pool += [limits.min, limits.max, limits.max - 1] if extreme else []
        return generator.choice(np.array(pool, dtype=dtype), COUNT)
    if dtype.kind == "f":
        return generator.choice(np.array(FLOATS, dtype=dtype), COUNT)
    parts = generator.choice(np.array([0.0, -0.0, 1.0, -2.0, 0.5, 3.25, -0.75]), (2, COUNT))
    return (parts[0] + 1j * parts[1]).astype(dtype)


def printer() -> CExpressionPrinter:
    return CExpressionPrinter(TYPES, {}, lambda element, _: f"{element.array}[n]")


def python_element(element: Element, _: object) -> str:
    return f"{element.array}[n]"


class Batch:
    """Expressions of one test, compiled together to save time."""

    def __init__(self, texts: Sequence[str], nodes: Sequence[Expression], *, extreme: bool = False) -> None:
        self.texts = texts
        self.nodes = nodes
        self.results = [infer(node, Environment(TYPES)).name for node in nodes]
        self.arrays = [values(name, extreme=extreme) for name in TYPES]

    def outputs(self) -> list[np.ndarray]:
        return [np.zeros(COUNT, dtype=result) for result in self.results]

    def c_source(self) -> str:
        shared = printer()
        lines = [f"out{index}[n] = {shared.expression(node)};" for index, node in enumerate(self.nodes)]
        arguments = [f"const {C_TYPE_NAMES[dtype]} *restrict {name}" for name, dtype in TYPES.items()]
        arguments += [
            f"{C_TYPE_NAMES[dtype]} *restrict out{index}" for index, dtype in enumerate(self.results)
        ]
        headers = "#include <complex.h>\n#undef I\n#include <math.h>\n#include <stdint.h>\n"
        head = f"void run({', '.join(arguments)})\n{{\n    for (int64_t n = 0; n < {COUNT}; n++) {{\n"
        body = "".join(f"        {line}\n" for line in lines)
        return f"{headers}{helper_source(shared.helpers)}{head}{body}    }}\n}}\n"

    def run_c(self, folder: Path) -> list[np.ndarray]:
        # The loader would give a library it knows by name a second time.
        source, library = (folder / f"batch{next(SERIAL)}.{suffix}" for suffix in ("c", "so"))
        source.write_text(self.c_source(), encoding="utf-8")
        done = subprocess.run(
            ["gcc", *FLAGS, str(source), "-lm", "-o", str(library)],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        outputs = self.outputs()
        loaded = ctypes.CDLL(str(library))
        loaded.run(*(ctypes.c_void_p(array.ctypes.data) for array in [*self.arrays, *outputs]))
        library.unlink()
        return outputs

    def run_numba(self) -> list[np.ndarray]:
        names = [*TYPES, *(f"out{index}" for index in range(len(self.texts)))]
        lines = "".join(f"        out{index}[n] = {text}\n" for index, text in enumerate(self.texts))
        scope = {"np": np, "math": math}
        exec(f"def run({', '.join(names)}):\n    for n in range({COUNT}):\n{lines}", scope)
        outputs = self.outputs()
        numba.njit(scope["run"], error_model="numpy")(*self.arrays, *outputs)
        return outputs

    def compare(self, folder: Path, units: int = 0) -> None:
        """Assert equality: bit for bit but for the payload of NaN, or within ``units`` in the last place."""
        ours, reference = self.run_c(folder), self.run_numba()
        printed = printer()
        for text, node, got, expected in zip(self.texts, self.nodes, ours, reference, strict=True):
            wrong = ~same(got, expected, units)
            if wrong.any():
                place = int(np.flatnonzero(wrong)[0])
                seen = {
                    name: array[place] for name, array in zip(TYPES, self.arrays, strict=True) if name in text
                }
                raise AssertionError(
                    f"{text}\n  C: {printed.expression(node)}\n  gives {got[place]!r}, numba {expected[place]!r}, for {seen}"
                )


def same(left: np.ndarray, right: np.ndarray, units: int) -> np.ndarray:
    """Where two results agree; the error of a complex number is measured against its magnitude."""
    if left.dtype.kind == "c":
        exact = same(left.real, right.real, 0) & same(left.imag, right.imag, 0)
        return exact | near(left, right, units)
    if left.dtype.kind != "f":
        return left == right
    nan = np.isnan(left) & np.isnan(right)
    return nan | ((left == right) & (np.signbit(left) == np.signbit(right))) | near(left, right, units)


def near(left: np.ndarray, right: np.ndarray, units: int) -> np.ndarray:
    with np.errstate(invalid="ignore", over="ignore"):
        unit = np.spacing(np.maximum(np.abs(left), np.abs(right)))
        return (np.abs(left - right) <= units * unit) & (units > 0)
