"""Each teaching example against an independent formulation in NumPy or SciPy."""

import numpy as np
import pytest
from scipy import linalg, ndimage, signal, sparse, special

from polyviz.gallery import kernel, kernels, polybench

INNER = slice(1, -1)


def tracking_sums(b):
    J, error = b.J[b.code == 1], b.error[b.code == 1]
    counts = np.bincount(b.code, minlength=4)
    return {
        "energy": b.energy + error @ error,
        "gradient": b.gradient + J.T @ error,
        "hessian": b.hessian + np.triu(J.T @ J),
        "counts": counts,
    }


def convolution_layer(b):
    windows = np.lib.stride_tricks.sliding_window_view(b.inputs, b.W.shape[2:], axis=(2, 3))[:, :, ::2, ::2]
    linear = np.einsum("zkxyij,ukij->zuxy", windows, b.W) + b.bias[:, None, None]
    assert (linear < 0).any() and (linear > 0).any()
    return {"result": np.maximum(linear, 0.0)}


def integrate_depth(b):
    z = np.arange(len(b.volume))[:, None, None]
    return {"volume": (1 - b.weight) * b.volume + b.weight * (b.depth - b.voxel * z)}


def reference_patterns(b):
    A, C = b.A.copy(), b.C.copy()
    A[1:] += b.B[1:] + b.B[:-1]
    C[1:] += b.D.sum(axis=1, keepdims=True)[1:] * b.D[1:]
    return {"A": A, "C": C}


def jacobi_2d_alt(b):
    A = b.A
    for _ in range(b.tsteps):
        A[INNER, INNER] = b.factor * (A[INNER, :-2] + A[INNER, INNER] + A[INNER, 2:])
    return {"A": A}


def symm_expanded(b):
    lower = np.tril(b.A)
    return {"C": b.alpha * (lower + np.tril(lower, -1).T) @ b.B + b.beta * b.C}


def mri_q(b):
    phase = (
        np.exp(2j * np.pi * (np.outer(b.x, b.kx) + np.outer(b.y, b.ky) + np.outer(b.z, b.kz))) @ b.magnitude
    )
    return {"real": b.real + phase.real, "imaginary": b.imaginary + phase.imag}


def three_neighbours(b):
    A = b.A
    for i in range(1, len(A)):
        known = 0.25 * A[i - 1, :-1] + 0.25 * A[i - 1, 1:]
        A[i, 1:] = signal.lfilter([1.0], [1.0, -0.5], known, zi=[0.5 * A[i, 0]])[0]
    return {"A": A}


def two_neighbours_above(b):
    A = b.A
    for i in range(1, len(A)):
        A[i, 1:] = 0.5 * (A[i - 1, :-1] + A[i - 1, 1:])
    return {"A": A}


def opposite_diagonal(b):
    A = b.A
    for i in range(1, len(A)):
        A[i, :-1] += 0.5 * A[i - 1, 1:]
    return {"A": A}


def row_accumulation(b):
    return {"C": b.A[:, :-1].sum(axis=1) + b.B[1:].sum(axis=0)}


def reuse_chain(b):
    first = b.A[0]
    return {"A": [first] * 10, "B": [b.B[0], *[first + 1] * 9], "C": [b.C[0], *[first * 2] * 9]}


def parallel_regions(b):
    A, s = b.A, b.s
    for i in range(1, len(A)):
        A = 0.5 * A + s[i - 1]
        s[i] = 0.5 * s[i - 1] + A[i]
    return {"A": A, "s": s, "B": 2 * b.B}


def diagonal_shift(b):
    n, m = b.a.shape
    i, j = np.indices((n, m))
    steps = np.minimum(i, m - 1 - j)
    return {"a": b.a[i - steps, j + steps]}


def time_line(b):
    A = b.A
    for t in range(1, len(A)):
        A[t, 2:-2] = np.convolve(A[t - 1], [0.1, 0.2, 0.4, 0.2, 0.1], "valid")
    return {"A": A}


def box_stencil(b, *weights):
    """The stencil at interior points, with weights by how many coordinates of an offset are not zero."""
    inner = tuple(INNER for _ in b.source.shape)
    box = np.array(weights)[np.abs(np.indices((3,) * b.source.ndim) - 1).sum(axis=0)]
    b.target[inner] = ndimage.correlate(b.source, box)[inner]
    return {"target": b.target}


def stencil_3d_125(b):
    return {"target": ndimage.correlate(b.source, b.weights)[2:-2, 2:-2, 2:-2]}


def red_black_smoother(b):
    phi, (k, j, i) = b.phi, np.indices(b.phi.shape)
    for t in range(b.sweeps):
        box = np.zeros(phi.shape, bool)
        box[t + 1 : -1 - t, t + 1 : -1 - t, t + 1 : -1 - t] = True
        flux = np.zeros_like(phi)
        for axis, beta in enumerate((b.beta_k, b.beta_j, b.beta_i)):
            faces = np.zeros_like(phi)
            faces[(slice(None),) * axis + (slice(1, None),)] = np.diff(phi, axis=axis)
            faces = faces * beta
            flux += np.roll(faces, -1, axis) - faces
        new = phi - b.relaxation * (b.shift * b.alpha * phi - flux - b.rhs)
        phi = np.where(box & ((i + j + k + t) % 2 == 0), new, phi)
    return {"phi": phi}


def ell_matrix(b):
    rows = np.repeat(np.arange(len(b.y)), b.values.shape[1])
    return sparse.coo_array((b.values.ravel(), (rows, b.column.ravel())), (len(b.y), len(b.x)))


def dia_matrix(b):
    # SciPy keeps diagonals by column, the kernel by row.
    shape = (len(b.x), len(b.y))
    transposed = sparse.dia_array((b.diagonals, -b.offset), shape)
    return transposed.T


SPARSE_MATRICES = {
    "spmv-csr": lambda b: sparse.csr_array((b.values, b.column, b.row_start), (len(b.y), len(b.x))),
    "spmv-coo": lambda b: sparse.coo_array((b.values, (b.row, b.column)), (len(b.y), len(b.x))),
    "spmv-guarded": lambda b: sparse.csr_array((b.values, b.column, b.row_start), (len(b.y), len(b.x))),
    "spmv-bcsr": lambda b: sparse.bsr_array((b.blocks, b.block_column, b.block_start), (len(b.y), len(b.x))),
    "spmv-ell": ell_matrix,
    "spmv-dia": dia_matrix,
}


def product_with(matrix):
    return lambda b: {"y": b.y + matrix(b) @ b.x}


REFERENCES = {
    "matmul": lambda b: {"C": b.A @ b.B},
    "transposed-matmul": lambda b: {"C": b.A @ b.B.T},
    "complex-product": lambda b: {"returned": np.prod(b.values)},
    "speckle-statistics": lambda b: {"spread": np.full_like(b.spread, b.image.var() / b.image.mean() ** 2)},
    "column-mean": lambda b: {"mean": b.data.mean(axis=0)},
    "reference-patterns": reference_patterns,
    "outer-sum": lambda b: {"A": np.add.outer(b.B, b.C)},
    "convolution-2d": lambda b: {"filtered": signal.correlate2d(b.image, b.weights, "valid")},
    "depth-to-metres": lambda b: {"metres": b.millimetres[::2, ::2] / 1000},
    "integrate-depth": integrate_depth,
    "convolution-layer": convolution_layer,
    "extremes": lambda b: {"found": [b.values.min(), b.values.max()]},
    "tracking-sums": tracking_sums,
    "flattened-sum": lambda b: {"out": b.out + np.maximum(b.source, 0).sum(axis=(0, 2, 3))},
    "sum-all": lambda b: {"returned": b.A.sum()},
    "sum-inner": lambda b: {"out": b.out + b.A.sum(axis=2)},
    "sum-outer": lambda b: {"out": b.out + b.A.sum(axis=(0, 1))},
    "diagonal-sums": lambda b: {"out": b.out + np.convolve(b.a, b.b)},
    "sum-and-peak": lambda b: {"out": [(b.a + b.b).sum(), b.c.max()]},
    "elementwise-chain": lambda b: {"out": b.out + ((2 * b.source + 1) ** 2).sum(axis=0)},
    "normalisation-gradients": lambda b: {
        "scale": b.scale + ((b.a + b.b) * b.c).sum(axis=(0, 1)),
        "shift": b.shift + ((b.d + b.e) * b.f).sum(axis=(0, 1)),
    },
    "long-inner-product": lambda b: {"C": b.C + b.A @ b.B},
    "softmax-rows": lambda b: {"out": special.softmax(b.x, axis=1)},
    "divide-by-mean": lambda b: {"x": b.x / b.x.mean(axis=1, keepdims=True)},
    "jacobi-2d-alt": jacobi_2d_alt,
    "doitgen-expanded": lambda b: {"A": b.A @ b.C4},
    "symm-expanded": symm_expanded,
    "mri-q": mri_q,
    "three-neighbours": three_neighbours,
    "two-neighbours-above": two_neighbours_above,
    "column-recurrence": lambda b: {"A": signal.lfilter([1.0], [1.0, -0.5], b.A, axis=0)},
    "opposite-diagonal": opposite_diagonal,
    "row-accumulation": row_accumulation,
    "fused-pair": lambda b: {"B": 2 * b.A, "C": 2 * b.A + 1},
    "reuse-chain": reuse_chain,
    "parallel-regions": parallel_regions,
    "uneven-pair": lambda b: {"A": b.A + 1, "B": b.B + 1},
    "prefix-count": lambda b: {"A": b.A[0] + np.arange(len(b.A))},
    "increment": lambda b: {"A": b.A + 1},
    "recurrence": lambda b: {"a": np.full_like(b.a, b.a[0])},
    "diagonal-shift": diagonal_shift,
    "time-line": time_line,
    "transposed-accumulation": lambda b: {"c": b.c + b.b @ b.a},
    "stencil-1d-3": lambda b: box_stencil(b, b.w1, b.w2),
    "stencil-2d-9": lambda b: box_stencil(b, b.w1, b.w2, b.w3),
    "stencil-3d-27": lambda b: box_stencil(b, b.w1, b.w2, b.w3, b.w4),
    "stencil-3d-125": stencil_3d_125,
    "red-black-smoother": red_black_smoother,
    "csr-rows": lambda b: {"row": np.repeat(np.arange(len(b.row_start) - 1), np.diff(b.row_start))},
    **{name: product_with(matrix) for name, matrix in SPARSE_MATRICES.items()},
}

TESTED_TOGETHER = {"sp-xsolve-1", "sp-xsolve-3"}


@pytest.mark.parametrize("seed", [None, 7], ids=["regular", "rough"])
@pytest.mark.parametrize("name", REFERENCES)
def test_example_computes_what_its_definition_says(name, seed, run):
    before, after, returned = run(kernel(name), seed=seed)
    expected = REFERENCES[name](before)
    assert set(kernel(name).outputs) <= set(expected)
    after.returned = returned
    for array, value in expected.items():
        np.testing.assert_allclose(getattr(after, array), value, rtol=1e-10, atol=1e-12, err_msg=array)


@pytest.mark.parametrize("name", SPARSE_MATRICES)
def test_every_sparse_format_holds_the_same_matrix(name, run):
    before = run(kernel(name))[0]
    n, m = kernel(name).sizes["mini"].values()
    matrix = SPARSE_MATRICES[name](before).toarray()
    reference = SPARSE_MATRICES["spmv-csr"](run(kernel("spmv-csr"))[0]).toarray()
    assert 0.15 < np.mean(reference != 0) < 0.35 and not reference[n // 2].any()
    np.testing.assert_array_equal(matrix[:n, :m], reference)
    assert not matrix[n:].any() and not matrix[:, m:].any()


def test_elimination_and_substitution_solve_the_penta_diagonal_systems():
    lhs, rhs = kernel("sp-xsolve-1").arguments("mini", seed=7)
    bands, right = lhs.copy(), rhs.copy()
    kernel("sp-xsolve-1").function(lhs, rhs)
    kernel("sp-xsolve-3").function(lhs, rhs)
    nk, nj, ni = bands.shape[1:]
    for k, j in np.ndindex(nk, nj):
        matrix = sum(
            np.diag(np.diagonal(np.diag(bands[d, k, j]), 0)[max(0, 2 - d) : ni - max(0, d - 2)], d - 2)
            for d in range(5)
        )
        np.testing.assert_allclose(rhs[:, k, j], linalg.solve(matrix, right[:, k, j].T).T, rtol=1e-10)


def test_every_example_has_a_reference():
    examples = {entry.name for entry in kernels()} - {entry.name for entry in polybench()}
    assert examples == set(REFERENCES) | TESTED_TOGETHER
