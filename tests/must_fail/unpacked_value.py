def f(A, n):
    for i in range(n):
        q, r = divmod(i, 3)
        A[i] = q
