def f(A, n):
    for i in range(n):
        A[i] = alpha * A[i]
