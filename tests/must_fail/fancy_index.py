def f(A, idx, n):
    for i in range(n):
        A[i] = A[idx]
        idx[i] = 0
