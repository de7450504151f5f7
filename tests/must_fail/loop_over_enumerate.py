def f(A, B):
    for i, x in enumerate(A[1:]):
        B[i] = x
