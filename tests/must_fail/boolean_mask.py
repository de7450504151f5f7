def f(A, B, n):
    for i in range(n):
        A[i] = 1.0
    B = A[A > 0]
    return B
