import numpy as np


def f(A, n):
    for i, j in np.ndindex(n, n):
        if A[i, j] > 1.0:
            break
        A[i, j] = 0.0
