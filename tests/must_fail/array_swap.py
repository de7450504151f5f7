def f(A, B, C, n):
    for s in range(n):
        for t in range(n):
            for i in range(1, n):
                B[i] = A[i - 1] + C[i]
            A, B = B, A
        A, C = C, A
