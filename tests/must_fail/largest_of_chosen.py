def f(A, n):
    best = 0.0
    for i in range(n):
        best += A[A > 1].max()
    return best
