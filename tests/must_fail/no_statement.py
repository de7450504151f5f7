def f(A, n):
    for i in range(n):
        pass
