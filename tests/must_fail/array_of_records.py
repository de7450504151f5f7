import numpy as np


def f(A, n):
    B = np.zeros(n, dtype="i4,f8")
    for i in range(n):
        A[i] = B[i]
