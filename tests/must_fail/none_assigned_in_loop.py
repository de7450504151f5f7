def f(A, n, start=None):
    for i in range(n):
        if start is None:
            start = A[i]
        A[i] -= start
