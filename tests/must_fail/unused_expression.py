def f(A, n):
    for i in range(n):
        A[i] + 1.0
