for i in range(n):
    if i > 1:
        row = A.copy()
        A[i] = row[i - 1]
