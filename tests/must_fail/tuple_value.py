def f(A, n):
    pair = (1.0, 2.0)
    for i in range(n):
        A[i] = pair[0]
