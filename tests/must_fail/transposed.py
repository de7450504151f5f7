def f(A, B, n):
    for i in range(n):
        for j in range(n):
            B[i, j] = A.T[i, j]
            A[i, j] = 0.0
