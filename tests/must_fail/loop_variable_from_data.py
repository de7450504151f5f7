def f(A, n):
    for i in range(n):
        i = int(A[i])
        A[i] = 0.0
