"""Sums over several loops whose cells can stay in registers, for the tests of held tiles."""

from __future__ import annotations

import numpy as np

PROGRAMS = {
    "channels": """
        def channels(out, image, weights):
            for b in range(out.shape[0]):
                for o in range(out.shape[1]):
                    for i in range(out.shape[2]):
                        for j in range(out.shape[3]):
                            for c in range(image.shape[1]):
                                for p in range(weights.shape[2]):
                                    for q in range(weights.shape[3]):
                                        out[b, o, i, j] += image[b, c, i + p, j + q] * weights[o, c, p, q]
        """,
    "channels last": """
        def last(out, image, weights):
            for b in range(out.shape[0]):
                for i in range(out.shape[1]):
                    for j in range(out.shape[2]):
                        for o in range(out.shape[3]):
                            for p in range(weights.shape[0]):
                                for q in range(weights.shape[1]):
                                    for c in range(image.shape[3]):
                                        out[b, i, j, o] += image[b, i + p, j + q, c] * weights[p, q, c, o]
        """,
    "every second": """
        def second(out, image, weights):
            for b in range(out.shape[0]):
                for o in range(out.shape[1]):
                    for i in range(out.shape[2]):
                        for j in range(out.shape[3]):
                            for c in range(image.shape[1]):
                                for p in range(weights.shape[2]):
                                    for q in range(weights.shape[3]):
                                        out[b, o, i, j] += image[b, c, 2 * i + p, 2 * j + q] * weights[o, c, p, q]
        """,
    "in a variable": """
        def variable(out, image, weights):
            for b in range(out.shape[0]):
                for o in range(out.shape[1]):
                    for i in range(out.shape[2]):
                        for j in range(out.shape[3]):
                            total = 0.0
                            for c in range(image.shape[1]):
                                for p in range(weights.shape[2]):
                                    for q in range(weights.shape[3]):
                                        total += image[b, c, i + p, j + q] * weights[o, c, p, q]
                            out[b, o, i, j] = total
        """,
    "window": """
        def window(out, image, weights):
            for i in range(out.shape[0]):
                for j in range(out.shape[1]):
                    out[i, j] = 0.5
                    for p in range(3):
                        for q in range(5):
                            out[i, j] -= image[i + p, j + q] * weights[p, q]
        """,
    "window by columns": """
        def columns(out, image, weights):
            for q in range(5):
                for i in range(out.shape[0]):
                    for p in range(3):
                        for j in range(out.shape[1]):
                            out[i, j] -= image[i + p, j + q] * weights[p, q]
        """,
    "filter": """
        def filter(out, signal, weights):
            for i in range(out.shape[0]):
                for k in range(weights.shape[0]):
                    out[i] += signal[i + k] * weights[k]
        """,
    "lines": """
        def lines(out, signal, weights):
            for b in range(out.shape[0]):
                for o in range(out.shape[1]):
                    for j in range(out.shape[2]):
                        for c in range(signal.shape[1]):
                            for q in range(weights.shape[2]):
                                out[b, o, j] += signal[b, c, j + q] * weights[o, c, q]
        """,
}

ALONE = {
    "each element of the matrix is read once": """
        def columns(out, matrix, factors):
            for j in range(out.shape[0]):
                for k in range(matrix.shape[0]):
                    out[j] += matrix[k, j] * factors[k]
        """,
    "no image lies along memory": """
        def across(out, image, weights):
            for j in range(out.shape[0]):
                for p in range(weights.shape[0]):
                    for q in range(weights.shape[1]):
                        out[j] += image[j + p, q] * weights[p, q]
        """,
    "three places apart": """
        def third(out, signal, weights):
            for i in range(out.shape[0]):
                for k in range(weights.shape[0]):
                    out[i] += signal[3 * i + k] * weights[k]
        """,
    "cells have different steps": """
        def causal(out, signal, weights):
            for i in range(out.shape[0]):
                for k in range(i + 1):
                    out[i] += signal[i - k] * weights[k]
        """,
    "rows shorter than a vector": """
        def short(out, image, weights):
            for i in range(out.shape[0]):
                for j in range(4):
                    for k in range(weights.shape[0]):
                        out[i, j] += image[i, j + k] * weights[k]
        """,
    "a maximum": """
        def largest(out, signal, weights):
            for i in range(out.shape[0]):
                for k in range(weights.shape[0]):
                    out[i] = max(out[i], signal[i + k] * weights[k])
        """,
    "the last product": """
        def last(out, signal, weights):
            for i in range(out.shape[0]):
                for k in range(weights.shape[0]):
                    out[i] = signal[i + k] * weights[k]
        """,
    "cells wait for others": """
        def recurrence(out, signal, weights):
            for i in range(weights.shape[0], out.shape[0]):
                for k in range(weights.shape[0]):
                    out[i] += out[i - k - 1] * weights[k]
        """,
}


def arguments(name: str, rows: int, columns: int, dtype: str = "float64") -> tuple[np.ndarray, ...]:
    """The arrays of a program with so many channels, or rows, and so many columns."""
    shapes = {
        "channels": ((2, rows, 3, columns), (2, 2, 5, columns + 3), (rows, 2, 3, 4)),
        "channels last": ((2, 2, rows, columns), (2, 4, rows + 1, 3), (3, 2, 3, columns)),
        "every second": ((1, rows, 2, columns), (1, 2, 5, 2 * columns + 1), (rows, 2, 3, 3)),
        "in a variable": ((1, rows, 3, columns), (1, 2, 5, columns + 3), (rows, 2, 3, 4)),
        "window": ((rows, columns), (rows + 2, columns + 4), (3, 5)),
        "window by columns": ((rows, columns), (rows + 2, columns + 4), (3, 5)),
        "filter": ((rows * columns,), (rows * columns + 6,), (7,)),
        "lines": ((1, rows, columns), (1, 3, columns + 3), (rows, 3, 4)),
    }
    random = np.random.default_rng(rows * 1000 + columns)
    return tuple(random.random(shape).astype(dtype) for shape in shapes[name])
