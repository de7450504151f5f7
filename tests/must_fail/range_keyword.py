def f(A, n):
    for i in range(stop=n):
        A[i] = 0.0
