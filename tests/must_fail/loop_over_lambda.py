def f(A, n):
    for i in lambda k: k:
        A[i] = 0.0
