def f(A, n):
    if n == 0:
        return None
    for i in range(n):
        A[i] = 0.0
    return n
