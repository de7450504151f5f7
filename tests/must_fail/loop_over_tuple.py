def f(A, B):
    for i in range(1, len(A) - 1):
        for d in (-1, 0, 1):
            B[i] += A[i + d]
