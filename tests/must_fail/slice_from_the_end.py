import numpy as np


def f(x, y):
    for i in range(len(y)):
        y[i] = np.sum(x[: i - 1])
