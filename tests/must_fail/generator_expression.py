def f(A, n):
    A[0] = sum(A[i] for i in range(n))
