def f(A, B, n):
    C = A
    for i in range(n):
        C[0] = B[i]
        A = A + B
    return A
