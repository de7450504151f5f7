def f(A, n):
    for i in range(n):
        if A[i] > 0.0:
            return A
        A[i] = 1.0
    return A
