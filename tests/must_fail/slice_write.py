def f(A, n):
    for i in range(n):
        A[i, 1:n] = 0.0
