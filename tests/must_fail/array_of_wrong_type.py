import numpy as np


def f(A, n):
    B = np.zeros(n, dtype="number")
    for i in range(n):
        B[i] = A[i]
    return B
