def f(A, n):
    for i in range(0, n, 0):
        A[i] = 0.0
