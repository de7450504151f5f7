def f(A, B):
    s = 0.0
    for row in A:
        s += A[0, 1]
    B[0] = s
