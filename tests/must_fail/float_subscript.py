def f(A, n):
    for i in range(n):
        A[1.5] = i
