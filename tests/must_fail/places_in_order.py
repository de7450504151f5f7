def f(A, B, n):
    order = A.argsort()
    for i in range(n):
        B[i] = A[order[i]]
