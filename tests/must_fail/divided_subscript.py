def f(A, n):
    for i in range(n):
        A[i / 2] = i
