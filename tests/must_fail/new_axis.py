def f(A, B, n):
    for i in range(n):
        A[i, 0] = B[i, None]
