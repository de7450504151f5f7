def f(A, n):
    for i in range(n):
        A[i] = 0.0
        A = 1.0
