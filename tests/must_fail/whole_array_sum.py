def f(A, B, C):
    for i in range(len(A)):
        C[i] = A[i]
    for i in range(len(B)):
        C[i] = A + B
