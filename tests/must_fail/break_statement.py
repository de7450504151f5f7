def f(A, n):
    for i in range(n):
        if A[i] > 1.0:
            break
        A[i] = 0.0
