def f(A, B, n):
    A[A > 0] = 0.0
    for i in range(n):
        A[i] = 1.0
