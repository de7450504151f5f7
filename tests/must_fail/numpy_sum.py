import numpy as np


def f(A, s):
    for i in range(len(A)):
        s[i] = np.sum(A)
