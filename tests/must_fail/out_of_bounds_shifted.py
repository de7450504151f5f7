import numpy as np


def f(A, n):
    B = np.zeros(n)
    for i in range(n):
        B[i + 1] = A[i]
    return B
