def f(A, n):
    counts = {}
    for i in range(n):
        counts[i] = A[i]
