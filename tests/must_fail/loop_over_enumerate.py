def f(A, B):
    for i, x in enumerate(A[::2]):
        B[i] = x
