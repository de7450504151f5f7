def f(A, B, n):
    for i, x in enumerate(A[::n]):
        B[i] = x
