def f(A, n):
    for i in range(n):
        if A:
            A[i] = 0.0
