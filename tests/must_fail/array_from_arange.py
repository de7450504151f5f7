import numpy as np


def f(A, n):
    B = np.arange(n)
    for i in range(n):
        A[i] = B[i]
