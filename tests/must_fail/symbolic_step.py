def f(A, n, step):
    for i in range(0, n, step):
        A[i] = 0.0
