def f(A, n):
    for i in range(n):
        if A[i] < 0:
            raise ValueError
