"""Bodies compiled by gcc and by numba, run over the same awkward values and compared.

Arrays of ``COUNT`` values stand behind the names in ``TYPES``; a body runs once per position.
"""

from __future__ import annotations

import ctypes
import itertools
import math
import subprocess
import warnings
from typing import TYPE_CHECKING

import numba
import numpy as np

from polyviz.codegen.dtypes import C_TYPE_NAMES
from polyviz.codegen.expressions_c import CExpressionPrinter
from polyviz.codegen.expressions_python import PythonExpressionPrinter
from polyviz.codegen.helpers_python import PYTHON_HELPERS
from polyviz.codegen.runtime_c import helper_source
from polyviz.codegen.scalars_python import numpy_scalars
from polyviz.codegen.typing import infer_scalars
from polyviz.codegen.widths import widened
from tests.running import quickly_compiled

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from polyviz.model.expression import Element, Instruction

TYPES = {
    "p": "bool", "q": "bool", "b1": "int8", "c1": "int8", "b2": "int16", "k": "int32", "m": "int32",
    "i8": "int64", "j8": "int64", "v1": "uint8", "v2": "uint16", "u4": "uint32", "u": "uint64", "w": "uint64",
    "x4": "float32", "y4": "float32", "x": "float64", "y": "float64", "z8": "complex64", "z": "complex128",
    "zz": "complex128",
}  # fmt: skip
COUNT = 97
HEADERS = "#include <complex.h>\n#undef I\n#include <math.h>\n#include <stdint.h>\n#include <stdlib.h>\n"
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


def values(name: str, dtype_name: str, *, extreme: bool = False) -> np.ndarray:
    """The values behind ``name``: special ones in an order of its own, so that pairs of names meet in many pairs."""
    dtype = np.dtype(dtype_name)
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


class Batch:
    """Bodies of one test, compiled together to save time; each writes outputs of its own, of the given dtypes.

    A body is run once for each ``n``, an array reference means its value at ``n``.
    """

    def __init__(
        self, bodies: Sequence[Sequence[Instruction]], outputs: Mapping[str, str], *, extreme: bool = False
    ) -> None:
        self.bodies = bodies
        self.types = {**TYPES, **outputs}
        self.scalars = infer_scalars(bodies, self.types)
        self.arrays = [values(name, TYPES[name], extreme=extreme) for name in TYPES]
        self.before = [values(name, dtype) for name, dtype in outputs.items()]
        self.names = list(outputs)

    def element(self, element: Element, _: object) -> str:
        return f"{element.array}[n]" if element.array in self.types else element.array

    def c_lines(self) -> tuple[list[str], set[str]]:
        printer = CExpressionPrinter({**self.types, **self.scalars}, {}, self.element)
        lines = [line for body in self.bodies for line in printer.instructions(body, 2)]
        return lines, printer.helpers

    def c_source(self) -> str:
        lines, helpers = self.c_lines()
        arguments = ", ".join(f"{C_TYPE_NAMES[dtype]} *restrict {name}" for name, dtype in self.types.items())
        head = [f"void run({arguments})", "{", f"    for (int64_t n = 0; n < {COUNT}; n++) {{"]
        head += [f"        {C_TYPE_NAMES[dtype]} {name};" for name, dtype in self.scalars.items()]
        return HEADERS + helper_source(helpers) + "\n".join([*head, *lines, "    }", "}", ""])

    def run_c(self, folder: Path) -> list[np.ndarray]:
        # The loader would give a library it knows by name a second time.
        source, library = (folder / f"batch{next(SERIAL)}.{suffix}" for suffix in ("c", "so"))
        source.write_text(self.c_source(), encoding="utf-8")
        command = ["gcc", *FLAGS, str(source), "-lm", "-o", str(library)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        after = [array.copy() for array in self.before]
        ctypes.CDLL(str(library)).run(
            *(ctypes.c_void_p(array.ctypes.data) for array in [*self.arrays, *after])
        )
        library.unlink()
        return after

    def run_numba(self) -> list[np.ndarray]:
        printer = PythonExpressionPrinter({}, self.element)
        lines = [line for body in self.bodies for line in printer.instructions(body, 2)]
        text = "\n".join([f"def run({', '.join(self.types)}):", f"    for n in range({COUNT}):", *lines])
        scope: dict[str, object] = {"np": np, "math": math}
        exec(text, scope)
        after = [array.copy() for array in self.before]
        with quickly_compiled():
            numba.njit(scope["run"], error_model="numpy")(*self.arrays, *after)
        return after

    def run_python(self) -> list[np.ndarray]:
        """Each output by CPython, without a single exception."""
        after = [array.copy() for array in self.before]
        scope: dict[str, object] = {"np": np, "math": math}
        exec("\n".join(PYTHON_HELPERS.values()), scope)
        scope |= dict(zip(self.types, [*self.arrays, *after], strict=True))
        for number in range(len(self.bodies)):
            lines = PythonExpressionPrinter({}, self.element).instructions(self.widened(number), 1)
            with warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")
                try:
                    exec("\n".join([f"for n in range({COUNT}):", *lines]), scope)
                except (ArithmeticError, ValueError) as error:
                    raise AssertionError("\n".join(lines)) from error
        return after

    def widened(self, number: int) -> tuple[Instruction, ...]:
        types = {**self.types, **self.scalars}
        body = self.bodies[number]
        return widened(body, types, numpy_scalars([body], types, frozenset()))

    def compare_python(self, units: int = 0) -> None:
        """Assert that CPython agrees with numba."""
        ours, reference = self.run_python(), self.run_numba()
        printer = PythonExpressionPrinter({}, self.element)
        for number, (got, expected) in enumerate(zip(ours, reference, strict=True)):
            # The sign of a zero from np.maximum is NumPy's own business.
            if (same(got, expected, units) | (got == expected)).all():
                continue
            place = int(np.flatnonzero(~same(got, expected, units))[0])
            lines = [*printer.instructions(self.bodies[number], 0), *printer.instructions(self.widened(number), 0)]
            seen = {
                name: array[place]
                for name, array in zip(TYPES, self.arrays, strict=True)
                if f"{name}[n]" in lines[0]
            }
            raise AssertionError(
                "\n".join([*lines, f"gives {got[place]!r}, numba {expected[place]!r}, for {seen}"])
            )

    def compare(self, folder: Path, units: int = 0) -> None:
        """Assert equality: bit for bit but for the payload of NaN, or within ``units`` in the last place."""
        ours, reference = self.run_c(folder), self.run_numba()
        for name, got, expected in zip(self.names, ours, reference, strict=True):
            wrong = ~same(got, expected, units)
            if wrong.any():
                place = int(np.flatnonzero(wrong)[0])
                raise AssertionError(self._explain(name, place, got[place], expected[place]))

    def _explain(self, name: str, place: int, got: object, expected: object) -> str:
        lines = [line.strip() for line in self.c_lines()[0] if f"{name}[n]" in line]
        seen = {
            other: array[place]
            for other, array in zip(TYPES, self.arrays, strict=True)
            if f"{other}[n]" in lines[0]
        }
        return "\n".join([*lines, f"gives {got!r}, numba {expected!r}, for {seen}"])


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
