def f(A):
    n, m = A.shape
    for i in range(n):
        A[i, 0, 0] = 0.0
