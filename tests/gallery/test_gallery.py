"""What holds for every entry of the gallery: look-up, fresh arguments, static control, and equality under numba."""

import ast
import inspect
import pickle
import subprocess
import sys
import textwrap

import numpy as np
import pytest

from polyviz import gallery
from polyviz.gallery import kernel, kernels, polybench
from tests.running import compiled_by_numba, quickly_compiled

EVERY = pytest.mark.parametrize("entry", kernels(), ids=lambda entry: entry.name)

# Bounds, conditions or subscripts of these are read from data, which is what they are there to show.
DATA_DEPENDENT = {entry.name for entry in kernels() if entry.category == "sparse"} | {"tracking-sums"}

# Their results in float32 are amplified rounding, as their notes say.
UNSTABLE_IN_FLOAT32 = {"durbin", "gramschmidt"}


def tree_of(entry):
    return ast.parse(textwrap.dedent(inspect.getsource(entry.function)))


def arrays_of(arguments):
    return [argument for argument in arguments if isinstance(argument, np.ndarray)]


def is_affine(node):
    """Whether an expression is a sum of names, constants and constant multiples of such."""
    match node:
        case ast.Name() | ast.Constant() | ast.UnaryOp(op=ast.USub(), operand=ast.Constant()):
            return True
        case ast.BinOp(op=ast.Add() | ast.Sub(), left=left, right=right):
            return is_affine(left) and is_affine(right)
        case ast.BinOp(op=ast.Mult(), left=ast.Constant(), right=factor):
            return is_affine(factor)
        case ast.Call(func=ast.Name(id="len"), args=[ast.Name()]):
            return True
        case _:
            return False


def test_names_are_unique_and_polybench_comes_first():
    names = [entry.name for entry in kernels()]
    assert len(set(names)) == len(names)
    assert kernels()[:30] == polybench()


def test_an_unknown_name_lists_the_nearest_ones():
    with pytest.raises(LookupError) as raised:
        kernel("jacobi_2d")
    assert str(raised.value) == (
        "The gallery has no kernel 'jacobi_2d'. Near it: jacobi-2d, jacobi-1d, jacobi-2d-alt."
    )


def test_a_name_like_no_other_lists_them_all():
    with pytest.raises(LookupError, match=r"no kernel 'qqq'\. It has: 2mm, 3mm, .*spmv-csr"):
        kernel("qqq")


def test_importing_the_gallery_imports_no_kernel_and_no_numba():
    loaded = "sorted(name for name in sys.modules if name == 'numba' or name.startswith('polyviz.gallery.'))"
    program = f"import sys, polyviz.gallery; print({loaded})"
    output = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    ).stdout
    assert output.strip() == "[]"


@EVERY
def test_entry_describes_its_function(entry):
    parameters = list(inspect.signature(entry.function).parameters)
    assert set(entry.outputs) <= set(parameters)
    assert bool(entry.outputs) == (inspect.signature(entry.function).return_annotation is None)
    assert entry.summary.endswith(".") and "\n" not in entry.summary
    assert {"mini", "small"} <= set(entry.sizes)
    assert entry.source


@EVERY
def test_sizes_grow_and_are_handed_out_fresh(entry):
    volumes = [max(sizes.values()) for sizes in entry.sizes.values()]
    assert volumes == sorted(volumes)
    entry.sizes["mini"].clear()
    assert entry.sizes["mini"]


@EVERY
def test_entry_travels_to_another_process(entry):
    assert pickle.loads(pickle.dumps(entry)) == entry


@EVERY
def test_arguments_are_fresh_equal_and_apart(entry):
    first, second = entry.arguments("mini"), entry.arguments("mini")
    assert len(first) == len(inspect.signature(entry.function).parameters)
    arrays = arrays_of(first) + arrays_of(second)
    for position, array in enumerate(arrays):
        assert array.flags.owndata or array.base.flags.owndata
        assert array.flags.c_contiguous and array.flags.writeable
        assert not any(np.shares_memory(array, other) for other in arrays[:position])
    for one, other in zip(first, second, strict=True):
        np.testing.assert_array_equal(one, other)


@EVERY
def test_arguments_have_the_dtype_asked_for(entry):
    narrow = entry.arguments("mini", np.float32)
    wide = entry.arguments("mini")
    for one, other in zip(arrays_of(narrow), arrays_of(wide), strict=True):
        if other.dtype.kind == "i":
            assert one.dtype == other.dtype
        else:
            assert one.dtype.itemsize * 2 == other.dtype.itemsize
    for one, other in zip(narrow, wide, strict=True):
        if isinstance(one, np.floating):
            assert (one.dtype, other.dtype) == (np.float32, np.float64)


@EVERY
def test_float32_comes_close_to_float64(entry, run):
    if entry.name in UNSTABLE_IN_FLOAT32:
        assert entry.note
        return
    _, narrow, narrow_result = run(entry, dtype="float32")
    _, wide, wide_result = run(entry)
    pairs = [(getattr(narrow, name), getattr(wide, name)) for name in entry.outputs] or [
        (narrow_result, wide_result)
    ]
    for one, other in pairs:
        assert np.isfinite(other).all()
        np.testing.assert_allclose(one, other, rtol=2e-3, atol=2e-4 * np.abs(other).max())


@pytest.mark.parametrize(("name", "dtype"), [("floyd-warshall", "int64"), ("nussinov", "int64")])
def test_integer_kernels_take_wider_integers(name, dtype):
    assert {array.dtype.name for array in arrays_of(kernel(name).arguments("mini", dtype))} == {dtype}


@pytest.mark.parametrize(
    ("size", "dtype", "message"),
    [
        ("tiny", "float64", "gemm has no size 'tiny'; it has mini, small, medium, large, extralarge."),
        ({"n": 3}, "float64", "gemm needs the sizes ni, nj, nk; got n."),
        ("mini", "int32", "gemm cannot be initialised as int32; it takes float64, float32."),
    ],
)
def test_bad_arguments_are_refused_in_one_line(size, dtype, message):
    with pytest.raises(ValueError) as raised:
        kernel("gemm").arguments(size, dtype)
    assert str(raised.value) == message


@EVERY
def test_a_seed_changes_the_data_and_nothing_else(entry):
    official, rough, again = (entry.arguments("mini", seed=seed) for seed in (None, 3, 3))
    for one, other, same in zip(official, rough, again, strict=True):
        np.testing.assert_array_equal(other, same)
        assert np.shape(one) == np.shape(other) and np.asarray(one).dtype == np.asarray(other).dtype
        if isinstance(one, np.ndarray) and one.dtype.kind != "i":
            assert (one != other).any() and np.isfinite(other).all()


def test_a_seed_leaves_indices_alone_and_shuffles_the_data_of_integer_kernels():
    for official, rough in zip(
        *(kernel("csr-rows").arguments("mini", seed=seed) for seed in (None, 3)), strict=True
    ):
        np.testing.assert_array_equal(official, rough)
    official, rough = (kernel("nussinov").arguments("mini", seed=seed)[1] for seed in (None, 3))
    assert (official != rough).any() and sorted(official) == sorted(rough)


def test_extents_may_be_given_by_name():
    C, A = kernel("syrk").arguments({"m": 3, "n": 7})[2:]
    assert (C.shape, A.shape) == ((7, 7), (7, 3))


@EVERY
def test_size_names_are_parameters_or_variables_of_the_kernel(entry):
    if entry.category == "sparse":
        return
    used = {node.id for node in ast.walk(tree_of(entry)) if isinstance(node, ast.Name)}
    used |= set(inspect.signature(entry.function).parameters)
    # The extents that no loop names are read through `len(array)` or through literals.
    unnamed = {"window", "m", "n", "steps", "samples", "voxels"} if entry not in polybench() else set()
    assert set(entry.size_names) - unnamed <= used


@EVERY
def test_kernel_has_loops_over_ranges_and_neither_slices_nor_while(entry):
    loops = 0
    for node in ast.walk(tree_of(entry)):
        assert not isinstance(
            node, ast.While | ast.Slice | ast.ListComp | ast.GeneratorExp | ast.Try | ast.With
        )
        if isinstance(node, ast.For):
            loops += 1
            assert isinstance(node.iter, ast.Call) and node.iter.func.id == "range" and not node.orelse
    assert loops


@EVERY
def test_bounds_and_subscripts_are_affine(entry):
    if entry.name in DATA_DEPENDENT:
        return
    for node in ast.walk(tree_of(entry)):
        if isinstance(node, ast.For):
            assert all(is_affine(bound) for bound in node.iter.args), ast.unparse(node.iter)
        if isinstance(node, ast.Subscript) and not ast.unparse(node.value).endswith(".shape"):
            indices = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
            assert all(is_affine(index) for index in indices), ast.unparse(node)


@pytest.mark.slow
@EVERY
def test_numba_compiles_the_kernel_unchanged_and_computes_the_same(entry, run):
    _, plain, returned = run(entry, seed=5)
    arguments = entry.arguments("mini", seed=5)
    with quickly_compiled():
        compiled_result = compiled_by_numba(entry.function, arguments)(*arguments)
    for expected, value in zip(vars(plain).values(), arguments, strict=True):
        np.testing.assert_allclose(value, expected, rtol=1e-12, atol=1e-13)
    if returned is not None:
        np.testing.assert_allclose(compiled_result, returned, rtol=1e-12)


def test_public_names_are_the_contract():
    assert gallery.__all__ == ["kernel", "kernels", "polybench"]
