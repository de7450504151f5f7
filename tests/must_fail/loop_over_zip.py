def f(A, B):
    for x in zip(A, B):
        A[0] = 1.0
