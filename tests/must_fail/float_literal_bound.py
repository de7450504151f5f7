def f(A):
    for i in range(10.0):
        A[i] = 0.0
