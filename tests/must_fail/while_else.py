def f(A, n):
    i = 0
    while A[i] > 0.0:
        i += 1
    else:
        A[0] = 1.0
