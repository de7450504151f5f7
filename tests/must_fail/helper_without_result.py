def clear(A, i):
    A[i] = 0.0


def f(A, n):
    for i in range(n):
        clear(A, i)
