def f(A):
    for i in range(len(A) + 1):
        A[i] = 0.0
