def f(A, n):
    for i in range(n):
        for j in range(n):
            A[i, j] = A[i]
