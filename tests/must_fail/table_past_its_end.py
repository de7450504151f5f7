def f(A, n):
    weights = (0.25, 0.5, 0.25)
    for i in range(n):
        for d in range(4):
            A[i] += weights[d]
