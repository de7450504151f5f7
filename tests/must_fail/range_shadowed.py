def f(A, n):
    range = n
    for i in range(n):
        A[i] = 0.0
