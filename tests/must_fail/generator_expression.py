def f(A, n):
    A[0] = max(A[i] for i in range(n))
