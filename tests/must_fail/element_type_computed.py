import numpy as np


def f(A, i, j):
    B = np.zeros(4, dtype=abs(i, j))
    for k in range(4):
        A[k] = B[k]
