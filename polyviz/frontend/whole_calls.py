"""Functions of whole arrays that stay refused: why each of them is, and what to do instead."""

from __future__ import annotations

_BY_VALUE = (
    "Which elements it compares and moves follows from their values, not from their places: there are no loops whose "
    "order could be chosen."
)
_COUNTED_LATER = "How many elements it gives is known only when it has run."
_LIBRARY = "It is work of a library, whose loops nobody sees here."
_PUT_TOGETHER = "Arrays are read one by one, and this puts several of them, or copies of one, into another."

_TABLE: tuple[tuple[str, str, str], ...] = (
    (
        "sort argsort lexsort partition argpartition",
        _BY_VALUE,
        "Sort outside of the function and pass the result, `f(np.sort(x))`; the loops behind it are compiled as ever.",
    ),
    (
        "median percentile quantile nanmedian",
        _BY_VALUE,
        "Work it out outside of the function and pass the number, `f(x, np.median(x))`.",
    ),
    (
        "searchsorted digitize",
        _BY_VALUE,
        "Look up the places outside of the function and pass them, or count in a loop: `if x[i] < v: k += 1`.",
    ),
    (
        "unique nonzero flatnonzero argwhere extract compress setdiff1d intersect1d union1d",
        _COUNTED_LATER,
        "Find them outside of the function and pass them, `f(x, np.unique(x))`. To add up or count what is chosen, use "
        "a mask: `np.sum(x[x > 3])`, `np.count_nonzero(x > 3)`.",
    ),
    (
        "bincount histogram",
        _COUNTED_LATER,
        "Make the array of counts, `counts = np.zeros(n, np.int64)`, and count in a loop: `counts[x[i]] += 1`.",
    ),
    (
        "concatenate stack vstack hstack column_stack append tile repeat pad block",
        _PUT_TOGETHER,
        "Make the array, `z = np.empty(n + m)`, and store each part in it: `z[:n] = x`, `z[n:] = y`.",
    ),
    (
        "linalg.solve linalg.inv linalg.det linalg.eig linalg.eigh linalg.svd linalg.cholesky linalg.qr linalg.lstsq "
        "linalg.pinv fft.fft fft.ifft fft.rfft convolve correlate interp",
        _LIBRARY,
        "Call it outside of the function and pass the result, or write it as loops over elements.",
    ),
)

WHOLE_REASONS = {f"numpy.{name}": reason for names, reason, _ in _TABLE for name in names.split()}
WHOLE_HINTS = {f"numpy.{name}": hint for names, _, hint in _TABLE for name in names.split()}
