def f(A, n):
    for i in reversed(range(n)):
        A[i] = i
