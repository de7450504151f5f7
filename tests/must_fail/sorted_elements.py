import numpy as np


def f(A, B, n):
    B[:] = np.sort(A)
    for i in range(n):
        B[i] += A[i]
