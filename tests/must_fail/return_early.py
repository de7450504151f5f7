def f(A, n):
    if n == 0:
        return
    for i in range(n):
        A[i] = 0.0
