def clear(A, i):
    A[i] = 0.0


def f(A, n):
    for i in range(n):
        A[i] = clear(A, i)
