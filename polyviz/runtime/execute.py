"""Running a generated program on the values of one call.

Everything here needs only a ``Program`` and plain values, so the worker process runs exactly what the notebook runs.
"""

from __future__ import annotations

import contextlib
import ctypes
import hashlib
import linecache
import os
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from polyviz.errors import CodegenError, ToolchainError
from polyviz.model.program import NO_MEMORY
from polyviz.runtime.arguments import getter, native_type
from polyviz.runtime.cache import BuildCache
from polyviz.runtime.callee import Callee
from polyviz.runtime.complex_numba import settle_complex_division
from polyviz.runtime.effort import LESS_EFFORT, LESS_EFFORT_NOTE, effort_flags
from polyviz.runtime.evaluate import evaluate, with_made_sizes
from polyviz.runtime.failures import explained, failed_test
from polyviz.runtime.machine import thread_limit
from polyviz.runtime.native import NativeFunction
from polyviz.runtime.packed import entry_name, with_entry
from polyviz.runtime.placement import Placement
from polyviz.runtime.repeated import RepeatedCall, is_repeatable
from polyviz.runtime.rows import as_handed_over
from polyviz.runtime.stages import told
from polyviz.runtime.threads import NativeThreads, numba_threads
from polyviz.runtime.toolchain import INSTALL_HINT, Toolchain, find_toolchain
from polyviz.runtime.unfused import without_vectors
from polyviz.runtime.waiting import short_spinning

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from polyviz.model.program import ArrayType, LocalArray, Program

Values = Mapping[str, Any]
WRAPPING_FLAGS = ("-fwrapv",)
"""Signed integers wrap around, as they do in NumPy and numba. Loop counters pay for it, so only integer data ask."""
COMPLEX_FLAGS = ("-fno-tree-slp-vectorize",)
"""gcc 12 computes products of single-precision complex numbers wrongly when it vectorises straight-line code."""
FLAGS_OF_GCC = ("-fno-tree-loop-distribution",)
"""gcc 12 also tears loops apart whose statements need each other's values: over complex numbers (``A[0, j] -=
A[j, k + 1]`` beside ``A[j, k - 1] += A[j, k + 3]``), and over real ones where it first makes versions of the loop for
conditions inside. What may be torn apart is apart in the text. clang does not know the option."""
BRANCHING_FLAGS = ("-fno-tree-loop-if-convert",)
"""gcc 12 runs a sum under a condition in vectors as one that adds 0.0 where the condition does not hold, also where the
text adds -0.0 there: a sum of -0.0 becomes 0.0. clang does not, nor does it know the option."""
BRANCHING_NOTE = (
    "Compiled without choices in the place of branches: gcc would make 0.0 of a sum of -0.0 under a condition, which "
    "the strict contract forbids."
)
ONE_THREAD_FLAGS = ("-fno-openmp", "-fopenmp-simd")
"""For one thread nothing becomes a function of its own that threads are handed, in which gcc no longer knows that
arrays lie apart, nor are two loops made one; vector loops stay what they are."""

_PARALLEL_NUMBA = threading.Lock()
"""numba's own thread pool, in use where neither OpenMP nor TBB is found, ends the process when two threads enter it."""


class Runner(Protocol):
    """A program made ready to run; calling it changes arrays in place and gives the function's result."""

    compile_seconds: float
    notes: tuple[str, ...]

    def __call__(self, given: Values, parameters: Mapping[str, int]) -> Any:
        """Run on the arguments ``given`` by name with the sizes ``parameters``."""


def make_runner(program: Program) -> Runner:
    """The runner for the program's target. Raises ToolchainError or CodegenError when it cannot be built."""
    if program.target == "c":
        return NativeRunner(program)
    if program.target in ("numba", "python"):
        return PythonRunner(program)
    if program.target == "emulated":
        from polyviz.runtime.emulator import EmulatedRunner

        return EmulatedRunner(program)
    if program.target == "cuda":
        from polyviz.runtime.cuda import CudaRunner

        return CudaRunner(program)
    raise CodegenError(f"There is no way to run a program for the target {program.target!r} here.")


class NativeRunner:
    """A C program, compiled through the build cache; a ``toolchain`` of the caller's own is used as it is."""

    def __init__(self, program: Program, toolchain: Toolchain | None = None) -> None:
        chosen = toolchain or find_toolchain()
        if chosen is None:
            raise ToolchainError("No C compiler was found.", hint=INSTALL_HINT)
        flags = _extra_flags(program, chosen) if toolchain is None else ()
        with told(f"compiling {program.name.removeprefix('kernel_')} with {chosen.name}"):
            built = BuildCache().library(with_entry(program), chosen, program.compiled_as, extra_flags=flags)
        self.program = program
        self.compile_seconds = built.compile_seconds
        branches = BRANCHING_NOTE if set(BRANCHING_FLAGS) <= set(flags) else ""
        effort = LESS_EFFORT_NOTE if set(LESS_EFFORT) <= set(flags) else ""
        self.notes: tuple[str, ...] = tuple(note for note in (built.note, branches, effort) if note)
        self._function = NativeFunction(built.path, program.name, [*map(native_type, program.arguments)])
        self._packed = NativeFunction(built.path, entry_name(program), [ctypes.c_void_p])
        self._most_threads = thread_limit(program.threads)
        self._threads = NativeThreads(built.path, self._most_threads)
        self._placement = Placement(built.path) if "#pragma omp parallel" in program.text else None
        self.callee = Callee(self._packed, self._threads, self._placement)
        self._getters = [*map(getter, program.arguments)]
        self._gives = bool(program.results) or program.result_is_tuple
        self._cells = [argument for argument in program.arguments if argument.kind == "cell"]
        self._owner = os.getpid()
        self._latest: RepeatedCall | None = None

    def __call__(self, given: Values, parameters: Mapping[str, int]) -> Any:
        """Run in place.

        Raises OutOfBoundsError for a subscript out of range and EvaluationError for a step of 0, with all arrays
        restored.
        """
        if self._latest is not None and self._latest.run(self, given, parameters):
            return None
        known = parameters
        parameters = with_made_sizes(self.program, parameters)
        made = make_locals(self.program.locals, {**given, **parameters}) if self.program.locals else {}
        arrays, copied = plain_arrays(as_handed_over(self.program, {**given, **made}, parameters))
        values = {**given, **arrays}
        cells = {
            argument.name: np.array([given.get(argument.name, 0)]).astype(argument.dtype) for argument in self._cells
        }
        backups = _backups(self.program, values)
        native = [get(values, cells, parameters) for get in self._getters]
        if not self.is_at_home:
            _use_one_thread(self._function.path)
        status = self._run(self._function, native)
        if status:
            _restore(values, backups)
            raise failed_test(self.program.failures[status - 1])
        write_back(self.program, values, copied)
        if not copied and is_repeatable(self.program, given):
            self._latest = RepeatedCall(self.program, given, known, native)
        scalars = {name: cell[0].item() for name, cell in cells.items()}
        return result_of(self.program, {**values, **given, **made, **scalars}) if self._gives else None

    @property
    def is_at_home(self) -> bool:
        """Whether this is the process whose threads it has: a forked one has only the thread that forked."""
        return os.getpid() == self._owner

    def run_packed(self, place: int) -> int:
        """Call the function with the values that lie one behind the other at ``place`` (``polyviz.runtime.packed``); 0,
        or the 1-based number of the test that failed. Raises MemoryError."""
        return self._run(self._packed, (place,))

    def _run(self, function: NativeFunction, values: Sequence[int | float]) -> int:
        before = self._threads.lowered()
        try:
            if self._placement is not None and self.is_at_home:
                self._placement.before_call(self._most_threads)
            status = function(*values)
        finally:
            self._threads.restore(before)
        return self.checked(status)

    def checked(self, status: int) -> int:
        """What the function returned; raises MemoryError where it says that there was none."""
        if status == NO_MEMORY:
            raise MemoryError(f"{self.program.name} found no memory for the copies of its temporaries.")
        return status


class PythonRunner:
    """A Python program: for the ``python`` target as it is, for ``numba`` compiled by its decorator on first use."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.compile_seconds = 0.0
        self.notes: tuple[str, ...] = ()
        self._function = _load_program(program, program.text)
        parallel = "parallel=True" in program.text
        self._turn: AbstractContextManager[object] = _PARALLEL_NUMBA if parallel else contextlib.nullcontext()
        self._owner = os.getpid()
        self._is_compiled = program.target != "numba"

    def __call__(self, given: Values, parameters: Mapping[str, int]) -> Any:
        """Run in place.

        Raises OutOfBoundsError when a subscript is out of range, EvaluationError when something else has no result,
        with all arrays restored, and CodegenError when numba refuses the text.
        """
        arrays, copied = plain_arrays(as_handed_over(self.program, given, parameters))
        arguments = {name: arrays.get(name, value) for name, value in given.items()}
        backups = _backups(self.program, arguments)
        if os.getpid() != self._owner:
            self._start_over()
        try:
            with self._turn, self._without_warnings(), self._threads():
                self._compile(arguments)
                result = self._function(*arguments.values())
        except BaseException as error:
            _restore(arguments, backups)
            told = explained(error, self.program, _filename(self.program))
            if told is error:
                raise
            raise told from error
        write_back(self.program, arguments, copied)
        own = {id(arguments[name]): given[name] for name in (*copied, *self.program.looked_at) if name in given}
        return _handed_back(self.program, result, own)

    def _compile(self, arguments: Values) -> None:
        """Let numba compile for the types of ``arguments``, ahead of the first call, which would do it unseen."""
        if self._is_compiled:
            return
        started = time.perf_counter()
        function: Any = self._function
        types = tuple(map(function.typeof_pyval, arguments.values()))
        if types in function.overloads:
            self._is_compiled = True  # for another kernel with this text
            return
        with told(f"compiling {self.program.name} with numba"), short_spinning():
            if any(kind.dtype.startswith("complex") for kind in self.program.types.values()):
                settle_complex_division()
            function.compile(types)
        self.compile_seconds = time.perf_counter() - started
        self._is_compiled = True

    def _without_warnings(self) -> AbstractContextManager[object]:
        """Numba does not warn of overflow and the like; NumPy has to be told not to."""
        return np.errstate(all="ignore") if self.program.target == "python" else contextlib.nullcontext()

    def _threads(self) -> AbstractContextManager[object]:
        parallel = "parallel=True" in self.program.text and os.getpid() == self._owner
        return numba_threads(thread_limit(self.program.threads)) if parallel else contextlib.nullcontext()

    def _start_over(self) -> None:
        """In a forked child: numba would end the process where its threads are asked for, so none are."""
        self._function = _load_program(self.program, self.program.text.replace("parallel=True, ", ""))
        self._turn = contextlib.nullcontext()  # the parent's lock may have been held when it forked
        self._is_compiled = self.program.target != "numba"
        self._owner = os.getpid()


def _use_one_thread(library: Path) -> None:
    """In a forked child: the threads of the parent are gone, and libgomp would wait for them forever."""
    handle = ctypes.CDLL(str(library))
    if hasattr(handle, "omp_set_num_threads"):  # found in the OpenMP library that this one depends on
        handle.omp_set_num_threads(ctypes.c_int(1))


def _load_program(program: Program, text: str) -> Callable[..., Any]:
    if program.target == "numba":
        return _load_once(text, program.name, _filename(program), frozenset(program.types.items()))
    return load_function(text, program.name, _filename(program))


def _filename(program: Program) -> str:
    """What tracebacks call the text; those of two programs keep apart."""
    mark = hashlib.sha256(program.text.encode()).hexdigest()[:8]
    return f"<polyviz {program.target} {program.name} {mark}>"


def load_function(text: str, name: str, filename: str, known: Mapping[str, Any] | None = None) -> Callable[..., Any]:
    """The function ``name`` of the Python ``text``, which may use the names in ``known``; tracebacks show its lines."""
    # No module name: numba imports the module a function says it is from, which would be a file of the user's.
    names = dict(known or {})
    linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    exec(compile(text, filename, "exec"), names)
    function: Callable[..., Any] = names[name]
    return function


@lru_cache(maxsize=128)
def _load_once(
    text: str, name: str, filename: str, types: frozenset[tuple[str, ArrayType]]
) -> Callable[..., Any]:
    """The same function for the same text: what numba has compiled serves a cell that is run again.

    Other ``types`` get another one, since a function that was compiled for int64 refuses larger integers.
    """
    return load_function(text, name, filename)


def _extra_flags(program: Program, toolchain: Toolchain) -> tuple[str, ...]:
    dtypes = [kind.dtype for kind in program.types.values()]
    wrapping = WRAPPING_FLAGS if any(dtype.startswith(("int", "uint")) for dtype in dtypes) else ()
    lanes = without_vectors(toolchain) if program.scalar else ()
    numbers = COMPLEX_FLAGS if any(dtype.startswith("complex") for dtype in dtypes) else ()
    alone = ONE_THREAD_FLAGS if program.threads == 1 and toolchain.openmp else ()
    branches = BRANCHING_FLAGS if program.branching else ()
    own = () if toolchain.is_clang else (*FLAGS_OF_GCC, *branches, *effort_flags(program))
    return (*wrapping, *lanes, *numbers, *alone, *own)


def plain_arrays(given: Values) -> tuple[dict[str, Any], dict[str, Any]]:
    """Arrays that generated code can address, and the originals of those that had to be copied or shaped for it."""
    arrays: dict[str, Any] = {}
    copied: dict[str, Any] = {}
    for name, value in given.items():
        if not isinstance(value, np.ndarray):
            continue
        if (_is_usual(value) or is_addressable(value)) and value.ndim:
            arrays[name] = value
            continue
        fresh = (
            value if is_addressable(value) else np.array(value, dtype=value.dtype.newbyteorder("="), order="C")
        )
        arrays[name] = fresh.reshape(value.shape or (1,))
        copied[name] = value
    return arrays, copied


def _is_usual(array: NDArray[Any]) -> bool:
    """Whether generated code can certainly address the array: the quick answer for nearly all of them."""
    return bool(array.flags.carray and array.dtype.isnative)


def is_addressable(array: NDArray[Any]) -> bool:
    """Whether generated code can walk through the array as it is: native bytes, aligned, whole steps."""
    whole = all(step % array.itemsize == 0 for step in array.strides)
    return bool(array.dtype.isnative and array.flags.aligned and whole)


def make_locals(locals_: tuple[LocalArray, ...], values: Values) -> dict[str, NDArray[Any]]:
    """The arrays that the source creates itself, with what they hold at first."""
    return {local.name: maker_of(local, values)() for local in locals_}


def maker_of(local: LocalArray, values: Values) -> Callable[[], NDArray[Any]]:
    """What makes such an array again and again, for one call with ``values`` or others that mean the same to it."""
    shape = tuple(int(evaluate(extent, values)) for extent in local.extents)
    if local.values is not None:
        return partial(np.array, local.values, dtype=local.dtype)
    if local.function == "full" and local.fill is not None:
        return partial(np.full, shape, evaluate(local.fill, values), dtype=local.dtype)
    return partial(getattr(np, local.function), shape, dtype=local.dtype)


def _backups(program: Program, values: Values) -> dict[str, NDArray[Any]]:
    """Copies of what a program that may stop half-way could leave half-written; under Python any operation may, and
    under numba a division of complex numbers."""
    divides = program.target == "numba" and any(kind.dtype.startswith("complex") for kind in program.types.values())
    may_stop = program.checked or divides or program.target == "python"
    return {name: values[name].copy() for name in program.written} if may_stop else {}


def _restore(values: Values, backups: Mapping[str, NDArray[Any]]) -> None:
    for name, backup in backups.items():
        values[name][...] = backup


def write_back(program: Program, values: Values, copied: Mapping[str, Any]) -> None:
    """The results that stand in copies, into the arrays the caller gave."""
    for name in program.written:
        if name in copied:
            copied[name][...] = values[name]


def _handed_back(program: Program, result: Any, originals: Mapping[int, Any]) -> Any:
    """``result`` with Python's numbers for scalars, as numba hands them back, and with the caller's own arrays where
    it holds their copies."""
    values = result if isinstance(result, tuple) else (result,)
    handed = tuple(
        originals.get(id(value), value) if isinstance(value, np.ndarray) else _number(program.types[name], value)
        for name, value in zip(program.results, values, strict=False)
    )
    if isinstance(result, tuple):
        return handed if program.cut is None else program.cut.applied(handed)
    return handed[0] if handed else None


def _number(kind: ArrayType, value: Any) -> Any:
    """A scalar as the number of Python that has its type."""
    return np.dtype(kind.dtype).type(value).item()


def result_of(program: Program, values: Values) -> Any:
    """What a call hands back: the named results among ``values``."""
    results = tuple(values[name] for name in program.results)
    if program.cut is not None:
        return program.cut.applied(results)
    if program.result_is_tuple:
        return results
    return results[0] if results else None
