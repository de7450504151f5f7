def f(A, n):
    for i in range(n):
        A[i] = total
    total = 1.0
