def f(A):
    for i in range(100000000000000000000):
        A[i % 2] = i
