def f(A):
    s = 0.0
    for x in A:
        s += x
    A[0] = s
