def f(A, B, n):
    for t in range(n):
        C = A
        for i in range(n):
            C[i] = B[i]
