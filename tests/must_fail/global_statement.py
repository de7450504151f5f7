def f(A, n):
    global total
    for i in range(n):
        total = A[i]
