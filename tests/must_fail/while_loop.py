def f(A, n):
    i = 0
    while i < n:
        A[i] = 0.0
        i += 1
