def f(A, n):
    for i in range(n):
        yield A[i]
