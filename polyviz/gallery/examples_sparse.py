"""Teaching examples on sparse matrices: y += A·x in the formats that an inspector derives from compressed rows.

They follow the article on polyhedral and syntax-tree transformations in CHiLL (2016). All formats hold the same matrix.
Their loop bounds, conditions or subscripts are read from index arrays, so an analysis over-approximates them.
"""

from functools import partial

import numpy as np

from polyviz.gallery.entry import Arguments, Array, DType, GalleryKernel, grid

# The executor of blocked rows writes these two numbers out, so that its inner bounds are constants.
BLOCK_ROWS = 2
BLOCK_COLUMNS = 3


def spmv_csr(row_start: Array, column: Array, values: Array, x: Array, y: Array) -> None:
    """y += A·x with A in compressed rows: the bounds of the inner loop are data."""
    for i in range(len(row_start) - 1):
        for p in range(row_start[i], row_start[i + 1]):
            y[i] += values[p] * x[column[p]]


def csr_rows(row_start: Array, row: Array) -> None:
    """row[p] := the row of stored value p, the inspector that turns compressed rows into coordinates."""
    for i in range(len(row_start) - 1):
        for p in range(row_start[i], row_start[i + 1]):
            row[p] = i


def spmv_coo(row: Array, column: Array, values: Array, x: Array, y: Array) -> None:
    """y += A·x with A in coordinates: one loop over the stored values."""
    for p in range(len(values)):
        y[row[p]] += values[p] * x[column[p]]


def spmv_guarded(row_start: Array, column: Array, values: Array, x: Array, y: Array) -> None:
    """y += A·x with a dense loop over columns and a guard that finds the stored value of each."""
    m = len(x)
    for i in range(len(row_start) - 1):
        for k in range(m):
            for p in range(row_start[i], row_start[i + 1]):
                if column[p] == k:
                    y[i] += values[p] * x[k]


def spmv_bcsr(block_start: Array, block_column: Array, blocks: Array, x: Array, y: Array) -> None:
    """y += A·x with A in compressed rows of dense blocks of two rows and three columns."""
    for i in range(len(block_start) - 1):
        for b in range(block_start[i], block_start[i + 1]):
            for p in range(2):
                for q in range(3):
                    y[2 * i + p] += blocks[b, p, q] * x[3 * block_column[b] + q]


def spmv_ell(column: Array, values: Array, x: Array, y: Array) -> None:
    """y += A·x with every row padded to the longest: regular loops, and subscripts from data."""
    n, width = values.shape
    for i in range(n):
        for s in range(width):
            y[i] += values[i, s] * x[column[i, s]]


def spmv_dia(offset: Array, diagonals: Array, x: Array, y: Array) -> None:
    """y += A·x with A by diagonals: the range of rows of a diagonal follows from its offset."""
    n = len(y)
    m = len(x)
    for d in range(len(offset)):
        for i in range(max(0, -offset[d]), min(n, m - offset[d])):
            y[i] += diagonals[d, i] * x[i + offset[d]]


def _dense(dtype: DType, n: int, m: int) -> Array:
    """The matrix that all formats store: about a quarter filled, with one empty row."""
    i, j = grid(n, m)
    stored = ((3 * i + 5 * j) % 7 < 2) & ((i * j) % 5 != 1) & (i != n // 2)
    return np.where(stored, 1.0 + (i + 2 * j) % 5 / 5, 0.0).astype(dtype)


def _vectors(dtype: DType, n: int, m: int) -> tuple[Array, Array]:
    return np.cos(np.arange(m)).astype(dtype), np.ones(n, dtype)


def _stored(dense: Array) -> tuple[Array, Array, Array]:
    """Row, column and value of each non-zero, row by row, in arrays of their own."""
    row, column = np.nonzero(dense)
    return row.copy(), column.copy(), dense[row, column]


def _csr_data(dtype: DType, n: int, m: int) -> Arguments:
    row, column, values = _stored(_dense(dtype, n, m))
    row_start = np.concatenate(([0], np.cumsum(np.bincount(row, minlength=n))))
    return row_start, column, values, *_vectors(dtype, n, m)


def _csr_rows_data(dtype: DType, n: int, m: int) -> Arguments:
    row_start = _csr_data(dtype, n, m)[0]
    return row_start, np.full(row_start[-1], -1)


def _coo_data(dtype: DType, n: int, m: int) -> Arguments:
    return *_stored(_dense(dtype, n, m)), *_vectors(dtype, n, m)


def _bcsr_data(dtype: DType, n: int, m: int) -> Arguments:
    # The matrix and both vectors are padded to whole blocks, the matrix with zeros.
    rows, columns = -(-n // BLOCK_ROWS), -(-m // BLOCK_COLUMNS)
    padded = np.zeros((rows * BLOCK_ROWS, columns * BLOCK_COLUMNS), dtype)
    padded[:n, :m] = _dense(dtype, n, m)
    tiles = padded.reshape(rows, BLOCK_ROWS, columns, BLOCK_COLUMNS).swapaxes(1, 2)
    block_row, block_column = np.nonzero(tiles.any(axis=(2, 3)))
    block_start = np.concatenate(([0], np.cumsum(np.bincount(block_row, minlength=rows))))
    blocks = tiles[block_row, block_column]
    return block_start, block_column.copy(), blocks, *_vectors(dtype, *padded.shape)


def _ell_data(dtype: DType, n: int, m: int) -> Arguments:
    dense = _dense(dtype, n, m)
    width = int((dense != 0).sum(axis=1).max())
    # A stable sort on "is zero" moves the stored columns of each row to its front, in order.
    column = np.argsort(dense == 0, axis=1, kind="stable")[:, :width]
    return np.ascontiguousarray(column), np.take_along_axis(dense, column, axis=1), *_vectors(dtype, n, m)


def _dia_data(dtype: DType, n: int, m: int) -> Arguments:
    row, column, values = _stored(_dense(dtype, n, m))
    offset = np.unique(column - row)
    diagonals = np.zeros((len(offset), n), dtype)
    diagonals[np.searchsorted(offset, column - row), row] = values
    return offset, diagonals, *_vectors(dtype, n, m)


_kernel = partial(
    GalleryKernel,
    category="sparse",
    source="CHiLL 2016, sparse codes",
    size_names=("n", "m"),
    size_values=((13, 11), (60, 70), (1000, 900)),
    note="Its bounds, conditions or subscripts depend on data, so its accesses are over-approximated.",
)

KERNELS = (
    _kernel(name="spmv-csr", function=spmv_csr, initialise=_csr_data, outputs=("y",)),
    _kernel(name="csr-rows", function=csr_rows, initialise=_csr_rows_data, outputs=("row",)),
    _kernel(name="spmv-coo", function=spmv_coo, initialise=_coo_data, outputs=("y",)),
    _kernel(name="spmv-guarded", function=spmv_guarded, initialise=_csr_data, outputs=("y",)),
    _kernel(name="spmv-bcsr", function=spmv_bcsr, initialise=_bcsr_data, outputs=("y",)),
    _kernel(name="spmv-ell", function=spmv_ell, initialise=_ell_data, outputs=("y",)),
    _kernel(name="spmv-dia", function=spmv_dia, initialise=_dia_data, outputs=("y",)),
)
