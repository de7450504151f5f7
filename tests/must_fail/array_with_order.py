import numpy as np


def f(A, n):
    B = np.zeros((n, n), order="F")
    for i in range(n):
        B[i, i] = A[i]
    return B
