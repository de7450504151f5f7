for i in range(n):
    A[i] = 0.0
    i = i + 1
