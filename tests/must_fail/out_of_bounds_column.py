def f(A):
    n, m = A.shape
    for i in range(n):
        for j in range(m):
            A[i, j + i] = 0.0
