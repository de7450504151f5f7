def f(A, B):
    for i, x in enumerate(A):
        B[i] = x
