def f(A, n):
    assert n > 0
    for i in range(n):
        A[i] = 0.0
