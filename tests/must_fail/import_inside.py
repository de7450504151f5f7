def f(A, n):
    import math

    for i in range(n):
        A[i] = math.sqrt(A[i])
