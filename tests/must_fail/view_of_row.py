def f(A, n):
    for i in range(n):
        row = A[i]
        for j in range(n):
            row[j] = A[i, j] + 1.0
