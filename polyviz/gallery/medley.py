"""The three kernels of PolyBench 4.2.1 that belong to no family: an image filter and two dynamic programs."""

import math
from functools import partial

import numpy as np

from polyviz.gallery.entry import INTEGER, POLYBENCH, Arguments, Array, DType, GalleryKernel, grid


def deriche(alpha: float, imgIn: Array, imgOut: Array, y1: Array, y2: Array) -> None:
    """imgOut := the recursive smoothing of imgIn by Deriche, forwards and backwards along rows, then columns."""
    w, h = imgIn.shape
    decay = math.exp(-alpha)
    gain = (1.0 - decay) * (1.0 - decay) / (1.0 + 2.0 * alpha * decay - math.exp(2.0 * alpha))
    a1 = gain
    a2 = gain * decay * (alpha - 1.0)
    a3 = gain * decay * (alpha + 1.0)
    a4 = -gain * math.exp(-2.0 * alpha)
    b1 = 2.0 ** (-alpha)
    b2 = -math.exp(-2.0 * alpha)
    for i in range(w):
        ym1 = 0.0
        ym2 = 0.0
        xm1 = 0.0
        for j in range(h):
            y1[i, j] = a1 * imgIn[i, j] + a2 * xm1 + b1 * ym1 + b2 * ym2
            xm1 = imgIn[i, j]
            ym2 = ym1
            ym1 = y1[i, j]
    for i in range(w):
        yp1 = 0.0
        yp2 = 0.0
        xp1 = 0.0
        xp2 = 0.0
        for j in range(h - 1, -1, -1):
            y2[i, j] = a3 * xp1 + a4 * xp2 + b1 * yp1 + b2 * yp2
            xp2 = xp1
            xp1 = imgIn[i, j]
            yp2 = yp1
            yp1 = y2[i, j]
    for i in range(w):
        for j in range(h):
            imgOut[i, j] = y1[i, j] + y2[i, j]
    for j in range(h):
        tm1 = 0.0
        ym1 = 0.0
        ym2 = 0.0
        for i in range(w):
            y1[i, j] = a1 * imgOut[i, j] + a2 * tm1 + b1 * ym1 + b2 * ym2
            tm1 = imgOut[i, j]
            ym2 = ym1
            ym1 = y1[i, j]
    for j in range(h):
        tp1 = 0.0
        tp2 = 0.0
        yp1 = 0.0
        yp2 = 0.0
        for i in range(w - 1, -1, -1):
            y2[i, j] = a3 * tp1 + a4 * tp2 + b1 * yp1 + b2 * yp2
            tp2 = tp1
            tp1 = imgOut[i, j]
            yp2 = yp1
            yp1 = y2[i, j]
    for i in range(w):
        for j in range(h):
            imgOut[i, j] = y1[i, j] + y2[i, j]


def _deriche_data(dtype: DType, w: int, h: int) -> Arguments:
    i, j = grid(w, h)
    image = ((313 * i + 991 * j) % 65536 / 65535.0).astype(dtype)
    return dtype.type(0.25), image, *(np.zeros((w, h), dtype) for _ in range(3))


def floyd_warshall(n: int, path: Array) -> None:
    """path := the length of the shortest path between every pair of vertices."""
    for k in range(n):
        for i in range(n):
            for j in range(n):
                path[i, j] = min(path[i, j], path[i, k] + path[k, j])


def _floyd_warshall_data(dtype: DType, n: int) -> Arguments:
    i, j = grid(n, n)
    total = i + j
    far = (total % 13 == 0) | (total % 7 == 0) | (total % 11 == 0)
    return n, np.where(far, 999, i * j % 7 + 1).astype(dtype)


def nussinov(n: int, seq: Array, table: Array) -> None:
    """table[i, j] := the largest number of base pairs in a folding of seq[i…j]; bases that add up to 3 pair."""
    for i in range(n - 1, -1, -1):
        for j in range(i + 1, n):
            if j - 1 >= 0:
                table[i, j] = max(table[i, j], table[i, j - 1])
            if i + 1 < n:
                table[i, j] = max(table[i, j], table[i + 1, j])
            if j - 1 >= 0 and i + 1 < n:
                if i < j - 1:
                    table[i, j] = max(table[i, j], table[i + 1, j - 1] + (1 if seq[i] + seq[j] == 3 else 0))
                else:
                    table[i, j] = max(table[i, j], table[i + 1, j - 1])
            for k in range(i + 1, j):
                table[i, j] = max(table[i, j], table[i, k] + table[k + 1, j])


def _nussinov_data(dtype: DType, n: int) -> Arguments:
    return n, ((np.arange(n) + 1) % 4).astype(dtype), np.zeros((n, n), dtype)


_kernel = partial(GalleryKernel, category="medley", source=f"{POLYBENCH}, medley")

KERNELS = (
    _kernel(
        name="deriche",
        function=deriche,
        initialise=_deriche_data,
        size_names=("w", "h"),
        size_values=((64, 64), (192, 128), (720, 480), (4096, 2160), (7680, 4320)),
        outputs=("imgOut",),
        note="PolyBench computes it in float32; here float64 is the default, as for the others.",
    ),
    _kernel(
        name="floyd-warshall",
        function=floyd_warshall,
        initialise=_floyd_warshall_data,
        size_names=("n",),
        size_values=((60,), (180,), (500,), (2800,), (5600,)),
        outputs=("path",),
        dtypes=INTEGER,
    ),
    _kernel(
        name="nussinov",
        function=nussinov,
        initialise=_nussinov_data,
        size_names=("n",),
        size_values=((60,), (180,), (500,), (2500,), (5500,)),
        outputs=("table",),
        dtypes=INTEGER,
    ),
)
