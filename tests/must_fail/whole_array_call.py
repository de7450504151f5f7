import numpy as np


def f(A, B):
    for i in range(len(A)):
        B[i] = np.sqrt(A)
