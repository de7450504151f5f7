import math


def f(A, n):
    for i in range(n):
        A[i] = math.sqrt(A[i], 2.0)
