def f(A, n):
    n, m = A.shape
    for i in range(n):
        for j in range(m):
            for k in range(m):
                A[i, j, k] = 0.0
