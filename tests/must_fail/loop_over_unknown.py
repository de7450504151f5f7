def f(A, n):
    for i in steps(n):
        A[i] = 0.0
