def f(A, n):
    last = None
    for i in range(n):
        last = A[i]
    return last
