def f(A, n, k):
    for i in reversed(range(0, n, k)):
        A[i] = i
