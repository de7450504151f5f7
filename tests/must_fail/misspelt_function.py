import numpy as np


def f(A, n):
    for i in range(n):
        A[i] = np.sqtr(A[i])
