def f(A, n):
    for i in range(n):
        assert A[i] > 0
        A[i] = 0.0
