def f(A, n):
    for i in range(n):
        A[i] = 10 ** 10 ** 10
