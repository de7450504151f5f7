import numpy as np


def f(A, n):
    B = np.zeros(int(A[0]))
    for i in range(n):
        B[i] = A[i]
