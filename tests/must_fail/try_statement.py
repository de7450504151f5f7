def f(A, n):
    for i in range(n):
        try:
            A[i] = 1.0 / A[i]
        except ZeroDivisionError:
            A[i] = 0.0
