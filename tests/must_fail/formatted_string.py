def f(A, n):
    for i in range(n):
        A[i] = f"{i}"
