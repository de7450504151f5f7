import numpy as np


def f(A, n):
    B = np.zeros(4)
    for i in range(n):
        B[i - 8] = A[i]
    return B
