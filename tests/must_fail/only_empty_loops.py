def f(A):
    for i in range(5, 3):
        A[i] = 0.0
