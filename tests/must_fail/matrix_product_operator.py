def f(A, B, C):
    for i in range(len(A)):
        C[i] = A[i] @ B[i]
