def f(A, n):
    for i in range(n):
        if i in A:
            A[i] = 0.0
