def f(A, B):
    for i in range(A.shape[2]):
        B[i] = A[i, 0]
