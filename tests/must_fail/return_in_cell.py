for i in range(n):
    A[i] = 0.0
return A
