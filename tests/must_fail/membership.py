def f(A, n):
    for i in range(n):
        if i in (1, 2):
            A[i] = 0.0
