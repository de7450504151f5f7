"""Kernels as a user meets them: called like the original, remembered by type, shown, passed on; all of PolyBench."""

from __future__ import annotations

import copy
import inspect
import pickle
import warnings
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from IPython.lib.pretty import pretty

import polyviz as pv
from polyviz import gallery
from polyviz.codegen import scan
from polyviz.codegen.scan import EndlessLoopsError
from polyviz.errors import OutOfBoundsError
from polyviz.runtime import specialising
from polyviz.runtime.kernel import BOUNDS_REMEMBERED
from tests.running import TARGETS, function_of, quickly_compiled
from tests.shared import part_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from polyviz.model.plan import Plan
    from polyviz.model.program import Program

SCALE = '''
def scale(A, factor=2, n: int = 3):
    """Scale the first elements.

    All others stay.
    """
    for i in range(n):
        A[i] = factor * A[i]
'''
POLYBENCH = [kernel.name for kernel in gallery.polybench()]


@pytest.fixture
def kernel() -> pv.Kernel:
    return pv.compile(function_of(SCALE), target="c", schedule="original")


def test_signature_and_docstring_are_those_of_the_function(kernel: pv.Kernel) -> None:
    function = function_of(SCALE)
    assert inspect.signature(kernel) == inspect.signature(function)
    assert inspect.getdoc(kernel) == inspect.getdoc(function)
    assert kernel.__name__ == "scale"


def test_a_kernel_from_text_has_the_signature_of_the_text() -> None:
    text = "def f(A, n=3):\n    '''Fill.'''\n    for i in range(n):\n        A[i] = 1\n"
    kernel = pv.compile(text, target="python")
    assert str(inspect.signature(kernel)) == "(A, n=3)"
    assert kernel.__doc__ == "Fill."


def test_one_program_per_types_and_layout(kernel: pv.Kernel) -> None:
    before = kernel.source
    assert "double *" in before
    kernel(np.ones(3))
    kernel(np.ones(4), 2, 4)
    assert len(kernel._compiled) == 1
    kernel(np.ones(3, dtype=np.float32))
    assert "float *" in kernel.source  # the text is that of the latest call
    kernel(np.ones(3), 2.5)
    kernel(np.ones(6)[::2])
    assert "A_stride0" in kernel.source
    assert len(kernel._compiled) == 4
    kernel(np.ones(3), 2)
    assert kernel.source == before.replace("double factor", "int64_t factor")
    assert len(kernel._compiled) == 4


def test_remembered_bounds_are_bounded_and_still_checked(kernel: pv.Kernel) -> None:
    for size in range(2 * BOUNDS_REMEMBERED):
        kernel(np.ones(size + 1), 1, size)
    assert len(kernel._bounds_checked) <= BOUNDS_REMEMBERED
    for _ in range(2):
        with pytest.raises(pv.OutOfBoundsError, match="iteration i=3"):
            kernel(np.ones(3), 1, 4)


def test_kernels_cannot_be_pickled_and_say_so(kernel: pv.Kernel) -> None:
    with pytest.raises(pickle.PicklingError, match="compile the function where it is to run"):
        pickle.dumps(kernel)
    assert copy.deepcopy(kernel) is kernel
    assert copy.copy(kernel) is kernel


def test_another_contract_keeps_the_plan(kernel: pv.Kernel) -> None:
    strict = kernel.with_floating_point("strict")
    assert strict.plan is kernel.plan
    assert (strict.floating_point, kernel.floating_point) == ("strict", "reassociate")
    assert strict.with_floating_point("strict") is strict
    assert inspect.signature(strict) == inspect.signature(kernel)


def test_the_report_says_what_was_decided(golden: Callable[..., None]) -> None:
    function = function_of("""
        def gather(A, J, B):
            for i in range(len(J)):
                for j in range(len(J)):
                    A[i, j] = A[i, j] + B[J[i], j]
    """)
    golden(pv.compile(function, target="numba").report())


@pytest.mark.parametrize("target", ["c", "numba", "python", "emulated"])
@pytest.mark.parametrize(
    "value", ["B[i] * 1j", "A[i] + np.exp(B[i] * 1j)", "s", "C[i]"], ids=["factor", "function", "scalar", "chain"]
)
def test_a_kernel_that_stores_complex_values_shows_itself_before_a_call(value: str, target: str) -> None:
    text = f"""def f(A, B, C, s):
    for i in range(A.shape[0]):
        C[i] = B[i] - 2j
    s = s + 1j
    for i in range(A.shape[0]):
        A[i] = {value}"""
    kernel = pv.compile(text, target=target)
    assert "schedule" in kernel.report()
    assert "f" in repr(kernel)
    assert {kernel.program.types[name].dtype for name in "AC"} == {"complex128"}


def test_kernels_show_themselves(kernel: pv.Kernel) -> None:
    bundle = kernel._repr_mimebundle_()
    assert bundle["text/plain"] == kernel.report() == repr(kernel)


def test_a_report_at_the_end_of_a_cell_is_shown_line_by_line(kernel: pv.Kernel) -> None:
    assert pretty(kernel.report()) == str(kernel.report())


def run(function: Callable[..., Any], arguments: tuple[Any, ...]) -> list[Any]:
    """Everything a call leaves behind."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # NumPy warns where numba is silent
        result = function(*arguments)
    results = result if isinstance(result, tuple) else (result,)
    return [value for value in (*arguments, *results) if isinstance(value, np.ndarray | np.number | float | int)]


@cache
def computed_by_python(name: str) -> list[Any]:
    entry = gallery.kernel(name)
    return run(entry.function, entry.arguments("mini", seed=2))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "target"),
    [
        (name, target)
        for place, name in enumerate(POLYBENCH)
        for target in TARGETS
        # Python runs for every kernel the text that numba takes seconds to compile.
        if target != "numba" or place % 2 == 0
    ],
)
def test_polybench_under_every_scheduler(name: str, target: str) -> None:
    entry, expected = gallery.kernel(name), computed_by_python(name)
    scop = part_of(name)
    # The texts differ in their syntax only.
    for schedule in {"c": ("original", "isl", "pluto"), "python": ("original", "pluto"), "numba": ("pluto",)}[target]:
        kernel = pv.compile(scop, schedule=schedule, target=target, tile=(7,) if schedule == "pluto" else None)
        with quickly_compiled():
            actual = run(kernel, entry.arguments("mini", seed=2))
            if not close(expected, actual):
                # A matrix without full rank turns rounding into columns; only the strict order computes the same ones.
                strict = kernel.with_floating_point("strict")
                assert close(expected, run(strict, entry.arguments("mini", seed=2))), schedule


def close(expected: list[Any], actual: list[Any]) -> bool:
    return all(
        np.allclose(other, one, rtol=1e-7, atol=1e-9 * (1 + np.abs(one).max()), equal_nan=True)
        for one, other in zip(expected, actual, strict=True)
    )


def test_tiles_whose_loops_isl_cannot_write_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    function = function_of("""
        def running(A, T, n):
            for t in range(T):
                for i in range(1, n - 1):
                    for j in range(1, n - 1):
                        A[i, j] = A[i - 1, j] + A[i, j] + A[i, j - 1] + A[i + 1, j + 1]
    """)
    expected, actual = np.ones((9, 9)), np.ones((9, 9))
    function(expected, 3, 9)
    monkeypatch.setattr(scan, "_OPERATIONS", 20_000)
    kernel = pv.compile(function, target="python")
    assert any(decision.step == "tile" for decision in kernel.plan.decisions)
    kernel(actual, 3, 9)
    np.testing.assert_allclose(actual, expected)
    assert not any(decision.step == "tile" for decision in kernel.plan.decisions)
    assert "fallback: the loops run without tiles, in the same order" in kernel.report()
    monkeypatch.setattr(scan, "_OPERATIONS", 1)
    with pytest.raises(pv.CodegenError, match=r"isl could not generate loops") as caught:
        _ = pv.compile(function, target="python").source
    assert caught.value.reason == "It needs more steps than it may take."


def test_without_tiles_a_skewed_order_gives_way_to_one_with_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    function = function_of("""
        def coupled(E, H, T, n):
            for t in range(T):
                for i in range(n - 1):
                    for j in range(n - 1):
                        H[i, j] -= E[i + 1, j + 1] - E[i, j]
                for i in range(1, n - 1):
                    for j in range(1, n - 1):
                        E[i, j] += H[i, j] - H[i - 1, j - 1]
                E[n // 2, n // 2] = 1.0 * t
    """)
    given = np.random.default_rng(1).random((2, 9, 9))
    expected, actual = given.copy(), given.copy()
    function(*expected, 4, 9)
    kernel = pv.compile(function, target="c")
    assert any(decision.step == "tile" for decision in kernel.plan.decisions)
    monkeypatch.setattr(scan, "_OPERATIONS", 20_000)
    kernel(*actual, 4, 9)
    np.testing.assert_allclose(actual, expected)
    assert "fallback: the loops run without tiles, in the order of the source" in kernel.report()
    assert kernel.source.count("#pragma omp parallel for") == 2


def test_an_order_whose_loops_isl_cannot_write_gives_way_to_that_of_the_source(monkeypatch: pytest.MonkeyPatch) -> None:
    function = function_of("""
        def seidel(A, T, n):
            for t in range(T):
                for i in range(1, n - 1):
                    A[i] = A[i - 1] + A[i + 1]
    """)
    given = np.random.default_rng(1).random(9)
    expected, actual = given.copy(), given.copy()
    function(expected, 3, 9)
    kernel = pv.compile(function, schedule="pluto", target="c")
    plain, tried = specialising.generate, []

    def generate(scop: pv.Scop, plan: Plan, *rest: Any) -> Program:
        tried.append(plan)
        if not plan.schedule.tree.get_map().is_equal(scop.schedule.get_map()):
            raise EndlessLoopsError("isl could not generate loops for this schedule.")
        return plain(scop, plan, *rest)

    monkeypatch.setattr(specialising, "generate", generate)
    kernel(actual, 3, 9)
    np.testing.assert_array_equal(actual, expected)
    assert len(tried) == 3
    assert "fallback: the loops run in the order of the source: isl would need too long" in kernel.report()


@pytest.mark.parametrize("target", ["c", "python"])
@pytest.mark.parametrize("scheduler", ["original", "isl", "pluto"])
def test_a_temporary_that_is_read_in_the_last_iteration_only(scheduler: str, target: str) -> None:
    function = function_of("""
        def ends(x, y):
            for i in range(len(x)):
                for j in range(i + 1):
                    s = x[j] * 2.0
                    if i == j:
                        y[i] = s + 1.0
                    else:
                        y[j] = y[j] + s
    """)
    x, y, expected = np.arange(6.0), np.zeros(6), np.zeros(6)
    function(x, expected)
    pv.compile(function, schedule=scheduler, target=target)(x, y)
    np.testing.assert_allclose(y, expected)


def test_a_kernel_in_a_class_is_a_method() -> None:
    function = function_of("""
        def double(self, A):
            for i in range(len(A)):
                A[i] = 2.0 * A[i]
    """)

    class Model:
        double = pv.compile(function, target="python")

    array = np.ones(3)
    Model().double(array)
    np.testing.assert_array_equal(array, 2.0)
    assert Model.double.target == "python"


@pytest.mark.parametrize("target", ["c", "python"])
def test_arrays_that_the_loops_create_are_bounded_by_their_extents(target):
    kernel = pv.compile(
        "def f(n, m):\n    A = np.zeros(n)\n    for i in range(m):\n        A[i] = 1.0\n    return A", target=target
    )
    assert kernel(3, 2).tolist() == [1.0, 1.0, 0.0]
    with pytest.raises(OutOfBoundsError, match="axis 0 of `A` has 3 elements"):
        kernel(3, 4)


@pytest.mark.parametrize("target", ["c", "python"])
def test_a_kernel_may_be_called_by_other_loops(target: str) -> None:
    """As what numba compiled may: its loops as written are looked at, defaults and all."""
    halved = pv.compile("def halved(v, by=-2.0):\n    return v / by\n", target="python")
    scale = pv.compile(function_of("def scale(a, k=3.0):\n    for i in range(len(a)):\n        a[i] *= k\n"))
    outer = function_of(
        """
        def outer(a):
            scale(a)
            for i in range(len(a)):
                a[i] = halved(a[i]) + halved(a[i], 4.0)
        """,
        scale=scale,
        halved=halved,
    )
    found, expected = np.arange(1.0, 5.0), np.arange(1.0, 5.0)
    pv.compile(outer, target=target)(found)
    outer(expected)
    np.testing.assert_array_equal(found, expected)
    assert halved.py_func(3.0) == -1.5
