def f(A, B, n):
    for i in range(n):
        B[i] = A[i, ...]
