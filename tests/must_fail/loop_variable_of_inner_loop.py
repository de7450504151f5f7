def f(A, n):
    for i in range(n):
        for j in range(i):
            A[j] = 0.0
    A[j] = 1.0
