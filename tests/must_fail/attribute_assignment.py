def f(A, n):
    for i in range(n):
        A.flat = 0.0
        A[i] = 1.0
