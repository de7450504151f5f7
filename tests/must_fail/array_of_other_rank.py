def f(A, n):
    for i in range(n):
        A = A[0, :] + A[:, i]
    return A
