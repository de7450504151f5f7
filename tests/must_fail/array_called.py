def f(A, B, n):
    for i in range(n):
        A[i] = B(i) + B[0]
