def f(A, n):
    for i in range(n / 2):
        A[i] = 0.0
