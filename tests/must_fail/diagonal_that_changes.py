import numpy as np


def f(A):
    n, m = A.shape
    d = np.diag(A)
    for i in range(n):
        A[i, i] = 2.0 * d[0]
