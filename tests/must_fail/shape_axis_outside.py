def f(A):
    for i in range(A.shape[2]):
        A[i, 0] = 0.0
