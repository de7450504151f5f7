def f(A, n):
    B = A.copy()
    for i in range(n):
        A[i] = B[n - 1 - i]
