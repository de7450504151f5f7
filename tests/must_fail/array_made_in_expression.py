import numpy as np


def f(A, n):
    for i in range(n):
        A[i] = np.zeros(n)[i] if A[i] > 1.0 else 0.0
