def f(A, n):
    row = [0.0, 1.0]
    for i in range(n):
        A[i] = row[i]
