def f(A, n):
    for a in reversed(A):
        A[0] += a
