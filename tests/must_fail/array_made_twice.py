import numpy as np


def f(A, n):
    B = np.zeros(n)
    for i in range(n):
        B[i] = A[i]
        if i > 3:
            B = np.zeros((n, n))
