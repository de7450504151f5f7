def f(A, n):
    for i in range(n):
        A[i] = divmod(i, 3)
