def f(A, B, n):
    for s in range(n):
        for t in range(n):
            for i in range(1, n):
                B[i] = A[i - 1]
            A, B = B, A
