def f(A, n):
    for A[0] in range(n):
        A[1] = 0.0
