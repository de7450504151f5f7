def f(A, B):
    for i in range(A):
        B[i] = A[i]
