def f(A, n):
    for i in range(n):
        A[i] = f(A, n - 1)
