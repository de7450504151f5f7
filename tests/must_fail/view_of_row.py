def f(A, n):
    row = A[0]
    for i in range(n):
        row[i] = A[i, 0] + 1.0
        row = A[i]
