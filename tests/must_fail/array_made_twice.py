import numpy as np


def f(A, n):
    B = np.zeros(n)
    for i in range(n):
        B[i] = A[i]
    B = np.zeros(n)
    for i in range(n):
        A[i] = B[i]
