def f(A, B):
    s = 0.0
    for row in A:
        s += row
    B[0] = s + A[0, 1]
