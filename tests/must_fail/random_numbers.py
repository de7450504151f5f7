import numpy as np


def f(A):
    for i in range(len(A)):
        A[i] = np.random.random()
