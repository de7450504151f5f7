import numpy as np


def f(A, x):
    B = np.arange(0.0, x, 0.1)
    for i in range(len(A)):
        A[i] = B[i]
